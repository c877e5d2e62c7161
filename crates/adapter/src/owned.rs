//! Fields that are recorded as ours and that we no longer mention.
//!
//! Server-side apply keeps, per manager, the set of fields it applied. A field in that set that the
//! manifest does not have any more goes away only when the manifest is applied again.

use serde_json::Value as Json;

/// Paths of fields `manager` owns in `live` that `wanted` does not have.
pub fn abandoned(manager: &str, wanted: &Json, live: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let entries = live["metadata"]["managedFields"].as_array();
    for entry in entries.into_iter().flatten() {
        let ours = entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry["subresource"].as_str().unwrap_or_default().is_empty();
        if ours {
            walk(
                &entry["fieldsV1"],
                Some(wanted),
                &mut String::new(),
                &mut found,
            );
        }
    }
    found
}

fn walk(owned: &Json, wanted: Option<&Json>, path: &mut String, found: &mut Vec<String>) {
    let Some(fields) = owned.as_object() else {
        return;
    };
    for (key, inner) in fields {
        let length = path.len();
        let here = if let Some(name) = key.strip_prefix("f:") {
            path.push('.');
            path.push_str(name);
            wanted.and_then(|wanted| wanted.get(name))
        } else if let Some(keys) = key.strip_prefix("k:") {
            path.push_str(keys);
            wanted.and_then(|wanted| item(wanted, keys))
        } else {
            // `.` is the container itself; `v:` and `i:` are values and positions of lists that
            // are compared as a whole elsewhere.
            continue;
        };
        match here {
            // Stamps that only we make are in the manifest too, so this is really gone.
            None => found.push(path.clone()),
            Some(here) => walk(inner, Some(here), path, found),
        }
        path.truncate(length);
    }
}

/// The item of a list that has these keys. Keys the manifest leaves to defaults (a port's
/// `protocol`) match anything.
fn item<'w>(list: &'w Json, keys: &str) -> Option<&'w Json> {
    let keys: Json = serde_json::from_str(keys).ok()?;
    let keys = keys.as_object()?;
    list.as_array()?.iter().find(|item| {
        keys.iter()
            .all(|(name, value)| item.get(name).is_none_or(|written| written == value))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(fields: Json) -> Json {
        json!({"metadata": {"managedFields": [
            {"manager": "other", "operation": "Apply", "fieldsV1": {"f:data": {"f:theirs": {}}}},
            {"manager": "us", "operation": "Apply", "fieldsV1": fields},
        ]}})
    }

    #[test]
    fn a_field_we_own_and_no_longer_mention_is_named() {
        let live = live(json!({
            "f:data": {"f:a": {}, "f:b": {}},
            "f:metadata": {"f:labels": {"f:x": {}}},
            "f:spec": {"f:containers": {
                "k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}},
                "k:{\"name\":\"gone\"}": {".": {}, "f:name": {}}}},
        }));
        let wanted = json!({"data": {"a": "1"}, "metadata": {"labels": {"x": "1"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}});
        assert_eq!(
            abandoned("us", &wanted, &live),
            [".data.b", ".spec.containers{\"name\":\"gone\"}"]
        );
    }

    #[test]
    fn keys_left_to_defaults_match() {
        let live = live(json!({"f:ports": {
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}}}));
        assert!(abandoned("us", &json!({"ports": [{"port": 80}]}), &live).is_empty());
    }
}
