#!/usr/bin/env python3
"""Writes protobuf.txt beside this script from the generated.proto files of the Go modules
k8s.io/api and k8s.io/apimachinery:

    crates/kubesim/tables/generate_protobuf.py $(go list -m -f '{{.Dir}}' k8s.io/api k8s.io/apimachinery)

src/protobuf/table.rs explains the notation. Messages that types.txt does not lead to are left out.
"""
import pathlib, re, sys

SCALARS = {"string": "s", "bytes": "y", "bool": "b", "double": "d", "int32": "i", "int64": "i", "uint32": "i"}
here = pathlib.Path(__file__).parent
shapes = {}
for line in (here / "types.txt").read_text().splitlines():
    if line.startswith(" "):
        shapes[current].add(line.split()[0])
    else:
        current = line.split()[0]
        shapes[current] = set()


def short(name):
    name = name.removeprefix("k8s.io.").removeprefix("kubernetes.")
    for prefix, replacement in (
        ("apimachinery.pkg.apis.meta.", "meta."), ("apiextensions_apiserver.pkg.apis.", ""),
        ("apimachinery.pkg.", ""), ("api.", ""),
    ):
        if name.startswith(prefix):
            return replacement + name[len(prefix):]
    return name


messages = {}
for root in sys.argv[1:]:
    for path in pathlib.Path(root).rglob("generated.proto"):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        package = re.search(r"^package ([\w.]+);", text, re.M).group(1)
        for name, body in re.findall(r"^message (\w+) \{(.*?)^\}", text, re.M | re.S):
            full = short(f"{package}.{name}")
            fields = []
            for label, kind, field, number in re.findall(
                r"(optional|repeated|map)\s*(<[^>]*>|[.\w]+)\s+(\w+)\s*=\s*(\d+)", body
            ):
                def form(kind):
                    if kind in SCALARS:
                        return SCALARS[kind]
                    kind = kind.lstrip(".")
                    return "@" + (short(kind) if "." in kind else short(f"{package}.{kind}"))
                if label == "map":
                    shape = "<" + form(kind.strip("<>").split(",")[1].strip())
                else:
                    shape = ("[" if label == "repeated" else "") + form(kind)
                # A message the JSON form does not know by name is spread into its parent; a scalar is a leftover.
                if full in shapes and field not in shapes[full]:
                    if not shape.startswith("@"):
                        continue
                    shape = "+" + shape
                fields.append((field, number, shape))
            messages[full] = fields

wanted, kept = [name for name in shapes if name in messages] + ["meta.v1.DeleteOptions", "policy.v1.Eviction"], {}
while wanted:
    name = wanted.pop()
    # Definitions nest schemas whose JSON form is not that of their messages.
    if name in kept or name not in messages or name.startswith("apiextensions."):
        continue
    kept[name] = messages[name]
    wanted += [shape.split("@")[1] for _, _, shape in messages[name] if "@" in shape]
(here / "protobuf.txt").write_text("".join(
    name + "\n" + "".join(f" {number} {field} {shape}\n" for field, number, shape in fields)
    for name, fields in sorted(kept.items())
))
