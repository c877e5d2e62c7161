//! Request bodies in Kubernetes' protobuf form, which Go clients send for built-in kinds. In goes the message, out comes
//! the JSON object; answers are always JSON.
//!
//! The wire does not tell an unset number or flag from a zero one: Go writes every field that is not a pointer. Zeros are
//! kept only for fields that are pointers and where zero means something.

mod table;
mod wire;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};

use table::{Form, message};
use wire::{Field, fields};

/// What every protobuf body starts with.
const MAGIC: &[u8] = b"k8s\0";

/// Fields where zero or false is a choice, not an absence.
const MEANINGFUL: &[&str] = &[
    "activeDeadlineSeconds",
    "allowPrivilegeEscalation",
    "automountServiceAccountToken",
    "backoffLimit",
    "blockOwnerDeletion",
    "completions",
    "controller",
    "enableServiceLinks",
    "fsGroup",
    "gracePeriodSeconds",
    "immutable",
    "leaseTransitions",
    "optional",
    "orphanDependents",
    "parallelism",
    "partition",
    "privileged",
    "readOnlyRootFilesystem",
    "replicas",
    "revisionHistoryLimit",
    "runAsGroup",
    "runAsNonRoot",
    "runAsUser",
    "suspend",
    "terminationGracePeriodSeconds",
    "tolerationSeconds",
    "ttlSecondsAfterFinished",
];

/// The object in a protobuf body; the error says what is wrong with it.
pub(crate) fn decode(body: &[u8]) -> Result<Value, String> {
    let envelope = body
        .strip_prefix(MAGIC)
        .ok_or("provided data does not appear to be a protobuf message")?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for (number, field) in fields(envelope)? {
        match (number, field) {
            (1, Field::Bytes(type_meta)) => {
                for (number, field) in fields(type_meta)? {
                    match (number, field) {
                        (1, Field::Bytes(text)) => api_version = utf8(text)?,
                        (2, Field::Bytes(text)) => kind = utf8(text)?,
                        _ => {}
                    }
                }
            }
            (2, Field::Bytes(object)) => raw = object,
            _ => {}
        }
    }
    let group = match api_version.split_once('/') {
        Some((group, version)) => {
            format!("{}.{version}", group.split('.').next().unwrap_or_default())
        }
        None => format!("core.{api_version}"),
    };
    let name = if kind == "DeleteOptions" {
        "meta.v1.DeleteOptions".into()
    } else {
        format!("{group}.{kind}")
    };
    let mut object = convert(&name, raw)?;
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    Ok(object)
}

fn utf8(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

fn convert(name: &str, bytes: &[u8]) -> Result<Value, String> {
    if let Some(special) = special(name, bytes)? {
        return Ok(special);
    }
    let known = message(name).ok_or_else(|| format!("no protobuf message is known for {name}"))?;
    let mut object = Map::new();
    for (number, field) in fields(bytes)? {
        let Some((json_name, form)) = known.get(&number) else {
            continue;
        };
        match form {
            Form::Inline(inner) => {
                if let Value::Object(inner) = convert_field(inner, field)? {
                    object.extend(inner);
                }
            }
            Form::List(item) => {
                let list = object.entry(json_name.clone()).or_insert_with(|| json!([]));
                if let Value::Array(list) = list {
                    list.push(convert_field(item, field)?);
                }
            }
            Form::Map(item) => {
                let map = object.entry(json_name.clone()).or_insert_with(|| json!({}));
                let (key, value) = entry(item, field)?;
                map[key] = value;
            }
            single => {
                let value = convert_field(single, field)?;
                let zero = value == "" || value == 0 || value == false || value.is_null();
                if !zero || (MEANINGFUL.contains(&json_name.as_str()) && value != "") {
                    object.insert(json_name.clone(), value);
                }
            }
        }
    }
    Ok(Value::Object(object))
}

fn entry(item: &Form, field: Field<'_>) -> Result<(String, Value), String> {
    let Field::Bytes(bytes) = field else {
        return Err("a map entry must be a message".into());
    };
    let (mut key, mut value) = (String::new(), convert_field(item, Field::Bytes(&[]))?);
    for (number, field) in fields(bytes)? {
        match (number, field) {
            (1, Field::Bytes(text)) => key = utf8(text)?,
            (2, field) => value = convert_field(item, field)?,
            _ => {}
        }
    }
    Ok((key, value))
}

fn convert_field(form: &Form, field: Field<'_>) -> Result<Value, String> {
    match (form, field) {
        (Form::Text, Field::Bytes(bytes)) => utf8(bytes).map(Value::String),
        (Form::Bytes, Field::Bytes(bytes)) => Ok(STANDARD.encode(bytes).into()),
        (Form::Integer, Field::Number(number)) => Ok(json!(number as i64)),
        (Form::Boolean, Field::Number(number)) => Ok(json!(number != 0)),
        (Form::Double, Field::Fixed(bits)) => Ok(json!(f64::from_bits(bits))),
        (Form::Message(name), Field::Bytes(bytes)) => convert(name, bytes),
        _ => Err("a field has the wrong wire type".into()),
    }
}

/// Messages whose JSON form is not an object of their fields.
fn special(name: &str, bytes: &[u8]) -> Result<Option<Value>, String> {
    let (mut numbers, mut text) = ([0_i64; 4], &[][..]);
    if !matches!(
        name,
        "meta.v1.Time"
            | "meta.v1.MicroTime"
            | "api.resource.Quantity"
            | "util.intstr.IntOrString"
            | "runtime.RawExtension"
            | "meta.v1.FieldsV1"
            | "meta.v1.Duration"
    ) {
        return Ok(None);
    }
    for (number, field) in fields(bytes)? {
        match field {
            Field::Number(value) => {
                if let Some(slot) = numbers.get_mut(number as usize) {
                    *slot = value as i64;
                }
            }
            Field::Bytes(bytes) => text = bytes,
            Field::Fixed(_) => {}
        }
    }
    let value = match name {
        "meta.v1.Time" | "meta.v1.MicroTime" => {
            // Go's zero time: not set.
            if bytes.is_empty() || numbers[1] == -62_135_596_800 {
                Value::Null
            } else {
                let nanos = u32::try_from(numbers[2]).unwrap_or(0);
                let time =
                    DateTime::from_timestamp(numbers[1], nanos).ok_or("a time is out of range")?;
                let precision = if name == "meta.v1.Time" {
                    SecondsFormat::Secs
                } else {
                    SecondsFormat::Micros
                };
                time.to_rfc3339_opts(precision, true).into()
            }
        }
        "util.intstr.IntOrString" if numbers[1] == 0 => numbers[2].into(),
        "runtime.RawExtension" | "meta.v1.FieldsV1" => {
            serde_json::from_slice(text).unwrap_or(Value::Null)
        }
        "meta.v1.Duration" => format!("{}ns", numbers[1]).into(),
        _ => utf8(text)?.into(),
    };
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, bytes.len() as u8];
        out.extend(bytes);
        out
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &type_meta), field(2, raw)].concat()
    }

    #[test]
    fn a_config_map_message_becomes_its_json() {
        let metadata = [field(1, b"a"), field(2, b""), field(8, b"")].concat();
        let entry = [field(1, b"k"), field(2, b"v")].concat();
        let raw = [field(1, &metadata), field(2, &entry)].concat();
        assert_eq!(
            decode(&body("v1", "ConfigMap", &raw)).unwrap(),
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "k": "v" } })
        );
    }

    #[test]
    fn spread_messages_end_up_in_their_parent() {
        let volume = [field(1, b"v"), field(2, &field(2, b""))].concat();
        assert_eq!(
            convert("core.v1.Volume", &volume).unwrap(),
            json!({ "name": "v", "emptyDir": {} })
        );
    }

    #[test]
    fn broken_bodies_are_refused() {
        for bad in [
            &b"{}"[..],
            b"k8s",
            b"k8s\0\x0a\xff",
            &body("v1", "Nothing", b""),
        ] {
            assert!(decode(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_message_the_table_names_is_known() {
        for name in table::referenced() {
            assert!(
                special(name, b"").unwrap().is_some() || message(name).is_some(),
                "{name}"
            );
        }
    }
}
