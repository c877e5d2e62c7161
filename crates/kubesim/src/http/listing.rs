//! The body of a list, written from the shared objects without copying them.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::catalog::Resource;
use crate::events;

pub(super) fn write(shown: &Resource, metadata: &Value, items: &[Arc<Value>]) -> String {
    let api_version = Value::String(shown.api_version());
    let kind = json!(shown.list_kind);
    let mut out = format!(
        "{{\"kind\":{kind},\"apiVersion\":{api_version},\"metadata\":{metadata},\"items\":["
    );
    for (index, object) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if events::is_new_form(shown) {
            write_object(&mut out, &events::outgoing(shown, object), None);
        } else {
            write_object(
                &mut out,
                object,
                shown.custom.is_some().then_some(&api_version),
            );
        }
    }
    out.push_str("]}");
    out
}

/// Items of a built-in list do not repeat their kind; those of a custom list do, in the version that was asked for.
fn write_object(out: &mut String, object: &Value, api_version: Option<&Value>) {
    out.push('{');
    let mut first = true;
    for (key, value) in object.as_object().into_iter().flatten() {
        let value = match (key.as_str(), api_version) {
            ("apiVersion" | "kind", None) => continue,
            ("apiVersion", Some(version)) => version,
            _ => value,
        };
        let comma = if first { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(out, "{comma}{}:{value}", json!(key));
        first = false;
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn a_written_list_is_the_list() {
        let catalog = Catalog::builtin();
        let maps = catalog.find("", "v1", "configmaps").unwrap();
        let item = Arc::new(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a\"b": "c\n"}, "metadata": {}}),
        );
        let written = write(
            &maps,
            &json!({"resourceVersion": "7"}),
            &[Arc::clone(&item), item],
        );
        let stripped = json!({"data": {"a\"b": "c\n"}, "metadata": {}});
        assert_eq!(
            serde_json::from_str::<Value>(&written).unwrap(),
            json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [stripped, stripped]})
        );
    }
}
