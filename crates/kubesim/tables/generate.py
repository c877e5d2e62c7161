#!/usr/bin/env python3
"""Writes resources.txt and types.txt beside this script from a running kube-apiserver.

    dev/kubernetes run --dir /tmp/kube        # in another terminal; prints the kubeconfig
    crates/kubesim/tables/generate.py https://127.0.0.1:PORT TOKEN /tmp/kube/certs/apiserver.crt

src/schema/table.rs and src/catalog/builtin.rs explain the notation.
"""
import json, pathlib, ssl, sys, urllib.request

server, token, ca = sys.argv[1:4]
context = ssl.create_default_context(cafile=ca)
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
PREFIXES = {
    "io.k8s.apimachinery.pkg.apis.meta.": "meta.",
    "io.k8s.api.": "",
    "io.k8s.apiextensions-apiserver.pkg.apis.": "",
    "io.k8s.kube-aggregator.pkg.apis.": "",
    "io.k8s.apimachinery.pkg.": "",
}


def fetch(path, accept="application/json"):
    headers = {"Authorization": f"Bearer {token}", "Accept": accept}
    with urllib.request.urlopen(urllib.request.Request(server + path, headers=headers), context=context) as answer:
        return json.load(answer)


types = fetch("/openapi/v2")["definitions"]


def short(name):
    for prefix, replacement in PREFIXES.items():
        if name.startswith(prefix):
            return replacement + name[len(prefix):]
    return name


def target(schema):
    return schema["$ref"].split("/")[-1]


def form(schema):
    if "$ref" in schema:
        name = target(schema)
        found = types[name]
        if name.endswith((".IntOrString", ".Quantity")):
            return "x"
        if name.endswith((".RawExtension", ".JSON", ".FieldsV1")) or "type" not in found:
            return "*"
        return "@" + short(name) if found["type"] == "object" else form(found)
    kind = schema.get("type")
    if kind == "string":
        return "x" if schema.get("format") == "int-or-string" else "s"
    if kind in ("integer", "number", "boolean"):
        return {"integer": "i", "number": "n", "boolean": "b"}[kind]
    if kind == "array":
        return list_form(schema)
    if "additionalProperties" in schema:
        return ("<!" if schema.get("x-kubernetes-map-type") == "atomic" else "<") + form(schema["additionalProperties"])
    return "*"


def list_form(schema):
    merge_key = schema.get("x-kubernetes-patch-merge-key", "")
    merges = "merge" in schema.get("x-kubernetes-patch-strategy", "").split(",")
    item = (f"~{merge_key}~" if merges else "") + form(schema["items"])
    kind = schema.get("x-kubernetes-list-type")
    if kind == "map":
        # The only list key with a default that the document does not state.
        keys = ["protocol=TCP" if k == "protocol" else k for k in schema["x-kubernetes-list-map-keys"]]
        return "{" + ",".join(keys) + "}" + item
    if kind == "set" or (kind is None and merges and not merge_key):
        return "{}" + item
    # As the server does: a merging patch strategy without a list type makes the list associative.
    if kind is None and merges:
        return "{" + merge_key + "}" + item
    return "[" + item


def field(name, schema):
    text = form(schema)
    if text.startswith("@") and schema.get("x-kubernetes-map-type") == "atomic":
        text = "!" + text
    if "retainKeys" in schema.get("x-kubernetes-patch-strategy", ""):
        text = "^" + text
    return f" {name} {text}\n"


def references(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield target(schema)
        for value in schema.values():
            yield from references(value)


def names(values):
    return ",".join(values) or "-"


kinds = {}
for name, schema in types.items():
    for kind in schema.get("x-kubernetes-group-version-kind", []):
        kinds.setdefault((kind["group"], kind["version"], kind["kind"]), name)

lines, wanted = [], ["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
for path in ("/api", "/apis"):
    for group in fetch(path, AGGREGATED)["items"]:
        group_name = group["metadata"].get("name", "")
        for version in group["versions"]:
            for resource in version["resources"]:
                kind = resource["responseKind"]["kind"]
                definition = kinds[(group_name, version["version"], kind)]
                wanted.append(definition)
                verbs = sorted(resource["verbs"])
                lines.append(" ".join([
                    f"{group_name}/{version['version']}".lstrip("/"), resource["resource"], kind,
                    "namespaced" if resource["scope"] == "Namespaced" else "cluster", resource["singularResource"],
                    names(resource.get("shortNames", [])), names(resource.get("categories", [])),
                    names(s["subresource"] for s in resource.get("subresources", [])),
                    "all" if verbs == VERBS else names(verbs), short(definition),
                ]) + "\n")

blocks = {}
while wanted:
    name = wanted.pop()
    schema = types[name]
    if name in blocks or schema.get("type") != "object":
        continue
    atomic = " atomic" if schema.get("x-kubernetes-map-type") == "atomic" else ""
    properties = schema.get("properties", {})
    blocks[name] = short(name) + atomic + "\n" + "".join(field(n, properties[n]) for n in sorted(properties))
    wanted.extend(references(properties))

here = pathlib.Path(__file__).parent
(here / "resources.txt").write_text("".join(lines))
(here / "types.txt").write_text("".join(sorted(blocks.values())))
