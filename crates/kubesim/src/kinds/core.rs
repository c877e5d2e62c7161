//! Namespaces, config maps, secrets, services and claims.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::catalog::Resource;
use crate::cluster::State;
use crate::failure::Cause;
use crate::meta::{self, fill};

/// Total size of the values of one config map or secret.
const DATA_LIMIT: usize = 1024 * 1024;

pub(super) fn default_namespace(object: &mut Value) {
    let name = meta::name(object).to_owned();
    if name.is_empty() {
        return;
    }
    let labels = meta::metadata_mut(object)
        .entry("labels")
        .or_insert_with(|| json!({}));
    if labels.is_object() {
        labels["kubernetes.io/metadata.name"] = name.into();
    }
}

pub(super) fn prepare_namespace(object: &mut Value) {
    object["spec"] = json!({ "finalizers": ["kubernetes"] });
    object["status"] = json!({ "phase": "Active" });
    default_namespace(object);
}

/// `stringData` is write-only: it ends up in `data`.
pub(super) fn default_secret(object: &mut Value) {
    fill(object, "type", "Opaque");
    let Some(Value::Object(plain)) = object.as_object_mut().and_then(|o| o.remove("stringData"))
    else {
        return;
    };
    let data = meta::object_at(object, "data");
    for (key, value) in plain {
        data.insert(
            key,
            STANDARD.encode(value.as_str().unwrap_or_default()).into(),
        );
    }
    if data.is_empty()
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("data");
    }
}

pub(super) fn base64_problem(data: &Value) -> Option<String> {
    data.as_object()?
        .values()
        .filter_map(Value::as_str)
        .find_map(|text| match STANDARD.decode(text) {
            Ok(_) => None,
            Err(
                base64::DecodeError::InvalidByte(at, _)
                | base64::DecodeError::InvalidLastSymbol(at, _),
            ) => Some(format!("illegal base64 data at input byte {at}")),
            Err(_) => Some(format!(
                "illegal base64 data at input byte {}",
                text.len() / 4 * 4
            )),
        })
}

pub(super) fn default_service(object: &mut Value) {
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return;
    }
    fill(spec, "type", "ClusterIP");
    fill(spec, "sessionAffinity", "None");
    if spec["type"] != "ExternalName" {
        fill(spec, "internalTrafficPolicy", "Cluster");
        fill(spec, "ipFamilies", json!(["IPv4"]));
        fill(spec, "ipFamilyPolicy", "SingleStack");
    }
    for port in spec
        .get_mut("ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        fill(port, "protocol", "TCP");
        if let Some(number) = port.get("port").cloned() {
            fill(port, "targetPort", number);
        }
    }
}

/// Gives a service the next unused cluster address.
pub(super) fn allocate_address(state: &State, object: &mut Value) {
    object["status"] = json!({ "loadBalancer": {} });
    let spec = &mut object["spec"];
    if !spec.is_object() || spec["type"] == "ExternalName" {
        return;
    }
    if spec.get("clusterIP").is_none() {
        let used: Vec<&str> = state
            .store
            .range("services", "", None)
            .map(|(_, s)| meta::text(s, "/spec/clusterIP"))
            .collect();
        let free = (1..=u16::MAX)
            .map(|n| format!("10.96.{}.{}", n >> 8, n & 255))
            .find(|address| !used.contains(&address.as_str()));
        if let Some(address) = free {
            spec["clusterIP"] = address.into();
        }
    }
    let address = spec["clusterIP"].clone();
    fill(spec, "clusterIPs", json!([address]));
}

pub(super) fn default_claim(object: &mut Value) {
    fill(&mut object["spec"], "volumeMode", "Filesystem");
}

pub(super) fn check_config_map(object: &Value, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for field in ["data", "binaryData"] {
        for (key, value) in object[field].as_object().into_iter().flatten() {
            check_key(field, key, causes);
            if field == "binaryData" && object["data"].get(key).is_some() {
                causes.push(Cause::invalid(
                    format!("data[{key}]"),
                    &key.as_str().into(),
                    "duplicate of key present in binaryData",
                ));
            }
            size += value.as_str().unwrap_or_default().len();
        }
    }
    if size > DATA_LIMIT {
        causes.push(Cause::too_long("", DATA_LIMIT));
    }
}

pub(super) fn check_secret(object: &Value, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for (key, value) in object["data"].as_object().into_iter().flatten() {
        check_key("data", key, causes);
        size += value.as_str().unwrap_or_default().len() / 4 * 3;
    }
    if size > DATA_LIMIT {
        causes.push(Cause::too_long("data", DATA_LIMIT));
    }
}

fn check_key(field: &str, key: &str, causes: &mut Vec<Cause>) {
    let at = format!("{field}[{key}]");
    let valid = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if key.len() > 253 {
        causes.push(Cause::invalid(
            at,
            &key.into(),
            "must be no more than 253 characters",
        ));
    } else if !valid {
        causes.push(Cause::invalid(at, &key.into(), "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"));
    } else if key == "." || key == ".." || key.starts_with("..") {
        causes.push(Cause::invalid(at, &key.into(), "must not start with '..'"));
    }
}

pub(super) fn check_service(object: &Value, causes: &mut Vec<Cause>) {
    let spec = &object["spec"];
    let kind = meta::text(spec, "/type");
    let supported = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    if !supported.contains(&kind) {
        causes.push(Cause::unsupported("spec.type", &kind.into(), &supported));
    }
    if meta::list(spec, "/ports").is_empty()
        && kind != "ExternalName"
        && spec["clusterIP"] != "None"
    {
        causes.push(Cause::required("spec.ports", ""));
    }
}

pub(super) fn check_immutable(
    resource: &Resource,
    old: &Value,
    new: &Value,
    causes: &mut Vec<Cause>,
) {
    if resource.is("secrets") && old["type"] != new["type"] {
        causes.push(Cause::invalid("type", &new["type"], "field is immutable"));
    }
    if old["immutable"] != true {
        return;
    }
    if new["immutable"] != true {
        causes.push(Cause::forbidden(
            "immutable",
            "field is immutable when `immutable` is set",
        ));
    }
    for field in ["data", "binaryData"] {
        if old[field] != new[field] {
            causes.push(Cause::forbidden(
                field,
                "field is immutable when `immutable` is set",
            ));
        }
    }
}
