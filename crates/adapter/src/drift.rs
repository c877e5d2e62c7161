//! Whether an object still looks as we applied it.
//!
//! A server adds to what was applied: defaults, status, other people's fields. So an object has
//! drifted where something we say is not what it says; what we do not mention is not ours.

use serde_json::Value as Json;

/// Paths that differ and are named; more are only counted by nobody.
const MOST: usize = 5;

/// The fields of `wanted` that `live` does not have alike, as paths. Nothing found means no drift;
/// something found may still be the same in other words (`1000m` and `1`), which only the server
/// can tell.
pub fn differences(wanted: &Json, live: &Json) -> Vec<String> {
    let mut found = Vec::new();
    compare(wanted, live, &mut String::new(), &mut found);
    found
}

fn compare(wanted: &Json, live: &Json, path: &mut String, found: &mut Vec<String>) {
    if found.len() >= MOST {
        return;
    }
    match (wanted, live) {
        // A server drops nulls and keeps nothing of an empty mapping or list.
        (Json::Null, Json::Null) => {}
        (Json::Object(wanted), Json::Object(live)) => {
            for (key, wanted) in wanted {
                let length = path.len();
                path.push('.');
                path.push_str(key);
                match live.get(key) {
                    Some(live) => compare(wanted, live, path, found),
                    None if is_empty(wanted) => {}
                    None => found.push(path.clone()),
                }
                path.truncate(length);
            }
        }
        (Json::Array(wanted), Json::Array(live)) => compare_lists(wanted, live, path, found),
        (Json::Number(wanted), Json::Number(live)) => {
            if wanted.as_f64() != live.as_f64() {
                found.push(path.clone());
            }
        }
        (wanted, live) => {
            if wanted != live {
                found.push(path.clone());
            }
        }
    }
}

/// Lists of named things are compared by name, because others may add things; other lists are
/// ours as a whole.
fn compare_lists(wanted: &[Json], live: &[Json], path: &mut String, found: &mut Vec<String>) {
    let length = path.len();
    for (index, item) in wanted.iter().enumerate() {
        path.push_str(&format!("[{index}]"));
        let other = match item.get("name") {
            Some(name) => live.iter().find(|other| other.get("name") == Some(name)),
            None => live.get(index),
        };
        match other {
            Some(other) => compare(item, other, path, found),
            None => found.push(path.clone()),
        }
        path.truncate(length);
    }
    let named = wanted.iter().any(|item| item.get("name").is_some());
    if !named && live.len() > wanted.len() {
        found.push(path.clone());
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Object(map) => map.values().all(is_empty),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// What a dry run would change, leaving out what every write changes and what no apply of ours can: a controller may
/// have written the status between the two looks.
pub fn changes(live: &Json, dry_run: &Json) -> Vec<String> {
    let (mut live, mut after) = (live.clone(), dry_run.clone());
    for object in [&mut live, &mut after] {
        if let Some(object) = object.as_object_mut() {
            object.remove("status");
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            for field in ["managedFields", "resourceVersion", "generation"] {
                metadata.remove(field);
            }
        }
    }
    let mut found = differences(&after, &live);
    found.extend(differences(&live, &after));
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_server_or_others_added_is_no_drift() {
        let wanted = json!({"spec": {"template": {"spec": {
            "containers": [{"name": "check", "image": "busybox:1.37"}]}}}});
        let live = json!({"spec": {"parallelism": 1, "template": {"spec": {
            "containers": [
                {"name": "proxy", "image": "envoy"},
                {"name": "check", "image": "busybox:1.37", "imagePullPolicy": "Always"}],
            "dnsPolicy": "ClusterFirst"}}}, "status": {"active": 1}});
        assert_eq!(differences(&wanted, &live), Vec::<String>::new());
    }

    #[test]
    fn a_changed_or_missing_field_of_ours_is_named() {
        let wanted = json!({"metadata": {"labels": {"a": "1"}}, "data": {"x": "1", "y": "2"}});
        let live = json!({"metadata": {"labels": {}}, "data": {"x": "9", "y": "2", "z": "3"}});
        assert_eq!(
            differences(&wanted, &live),
            [".data.x", ".metadata.labels.a"]
        );
    }

    #[test]
    fn an_unnamed_list_is_ours_as_a_whole() {
        let wanted = json!({"command": ["sh", "-c"]});
        assert_eq!(
            differences(&wanted, &json!({"command": ["sh"]})),
            [".command[1]"]
        );
        assert_eq!(
            differences(&wanted, &json!({"command": ["sh", "-c", "x"]})),
            [".command"]
        );
        assert!(differences(&json!({"a": {}, "b": null}), &json!({})).is_empty());
    }

    #[test]
    fn bookkeeping_is_no_change() {
        let live = json!({"metadata": {"name": "a", "resourceVersion": "1"}, "data": {"x": "1"}});
        let same = json!({"metadata": {"name": "a", "resourceVersion": "2"}, "data": {"x": "1"}});
        assert!(changes(&live, &same).is_empty());
        let other = json!({"metadata": {"name": "a"}, "data": {}});
        assert_eq!(changes(&live, &other), [".data.x"]);
        let started =
            json!({"metadata": {"name": "a"}, "data": {"x": "1"}, "status": {"active": 1}});
        assert!(
            changes(&live, &started).is_empty(),
            "a controller was at work in between"
        );
    }
}
