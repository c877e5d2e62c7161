//! Strategic merge patch: a merge patch that merges lists by key and understands `$patch` directives.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::schema::{ListShape, Shape};

pub(crate) fn strategic(shape: &Shape, object: &mut Value, patch: &Value) -> Result<(), Failure> {
    let Value::Object(patch) = patch else {
        return Err(Failure::bad_request(
            "error decoding patch: a strategic merge patch must be an object",
        ));
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    if let Value::Object(object) = object {
        merge_map(shape, object, patch)?;
    }
    Ok(())
}

fn merge_map(
    shape: &Shape,
    object: &mut Map<String, Value>,
    patch: &Map<String, Value>,
) -> Result<(), Failure> {
    match patch.get("$patch").and_then(Value::as_str) {
        Some("replace") => {
            *object = patch
                .iter()
                .filter(|(k, _)| *k != "$patch")
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            return Ok(());
        }
        Some("delete") => {
            object.clear();
            return Ok(());
        }
        Some("merge") | None => {}
        Some(other) => return Err(bad(&format!("Unknown patch type found: {other}"))),
    }
    if let Some(Value::Array(keys)) = patch.get("$retainKeys") {
        object.retain(|key, _| keys.iter().any(|k| k == key));
    }
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix("$deleteFromPrimitiveList/") {
            if let (Some(Value::Array(items)), Some(gone)) =
                (object.get_mut(field), value.as_array())
            {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if let Some(field) = key.strip_prefix("$setElementOrder/") {
            if let (Some(order), Some(list)) = (value.as_array(), shape.below(field).0.list()) {
                let before = object
                    .get(field)
                    .and_then(Value::as_array)
                    .cloned()
                    .unwrap_or_default();
                let pending = patch.get(field).cloned();
                if let Some(pending) = pending {
                    merge_field(shape, object, field, &pending)?;
                }
                if let Some(Value::Array(items)) = object.get_mut(field) {
                    reorder(list, items, &before, order);
                }
            }
            continue;
        }
        if key.starts_with('$') || patch.contains_key(&format!("$setElementOrder/{key}")) {
            continue;
        }
        merge_field(shape, object, key, value)?;
    }
    Ok(())
}

fn merge_field(
    shape: &Shape,
    object: &mut Map<String, Value>,
    key: &str,
    value: &Value,
) -> Result<(), Failure> {
    let (below, _) = shape.below(key);
    match value {
        Value::Null => {
            object.remove(key);
        }
        Value::Object(inner) => {
            let slot = object
                .entry(key.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            if let Value::Object(target) = slot {
                merge_map(below, target, inner)?;
            }
            if shape.retains_keys(key) && inner.get("$patch").is_some_and(|p| p == "delete") {
                object.remove(key);
            }
        }
        Value::Array(items) => {
            let merges = below.list().filter(|list| list.patch_key.is_some());
            match (merges, object.get_mut(key)) {
                (Some(list), Some(Value::Array(target))) => merge_list(list, target, items)?,
                (Some(list), _) => {
                    let mut target = Vec::new();
                    merge_list(list, &mut target, items)?;
                    object.insert(key.to_owned(), Value::Array(target));
                }
                (None, _) => {
                    object.insert(key.to_owned(), value.clone());
                }
            }
        }
        scalar => {
            object.insert(key.to_owned(), scalar.clone());
        }
    }
    Ok(())
}

fn merge_list(list: &ListShape, target: &mut Vec<Value>, patch: &[Value]) -> Result<(), Failure> {
    let key = list.patch_key.as_deref().unwrap_or_default();
    if key.is_empty() {
        for item in patch {
            if !target.contains(item) {
                target.push(item.clone());
            }
        }
        return Ok(());
    }
    if patch.iter().any(|item| item["$patch"] == "replace") {
        *target = patch
            .iter()
            .filter(|item| item["$patch"] != "replace")
            .cloned()
            .collect();
        return Ok(());
    }
    let before = target.clone();
    for item in patch {
        let Some(id) = item.get(key) else {
            return Err(bad(&format!(
                "map: {item} does not contain declared merge key: {key}"
            )));
        };
        let at = target.iter().position(|t| t.get(key) == Some(id));
        match item["$patch"].as_str() {
            Some("delete") => target.retain(|t| t.get(key) != Some(id)),
            _ => match (at, item) {
                (Some(at), Value::Object(inner)) => {
                    if let Value::Object(existing) = &mut target[at] {
                        merge_map(&list.item, existing, inner)?;
                    }
                }
                (None, Value::Object(inner)) => {
                    let mut fresh = Map::new();
                    merge_map(&list.item, &mut fresh, inner)?;
                    target.push(Value::Object(fresh));
                }
                _ => return Err(bad("a list item must be an object")),
            },
        }
    }
    reorder(list, target, &before, patch);
    Ok(())
}

/// Items named in `order` follow it; the others keep their place relative to them as it was `before`.
fn reorder(list: &ListShape, items: &mut Vec<Value>, before: &[Value], order: &[Value]) {
    let key = list.patch_key.as_deref().unwrap_or_default();
    let place = |among: &[Value], item: &Value| {
        among.iter().position(|o| {
            if key.is_empty() {
                o == item
            } else {
                o.get(key) == item.get(key)
            }
        })
    };
    let (mut named, others): (Vec<Value>, Vec<Value>) =
        items.drain(..).partition(|i| place(order, i).is_some());
    named.sort_by_key(|item| place(order, item));
    let mut others = others.into_iter().peekable();
    let mut named = named.into_iter().peekable();
    loop {
        let other_first = match (others.peek(), named.peek()) {
            (Some(other), Some(next)) => match (place(before, other), place(before, next)) {
                (Some(other), Some(next)) => other < next,
                _ => false,
            },
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return,
        };
        items.extend(if other_first {
            others.next()
        } else {
            named.next()
        });
    }
}

fn bad(why: &str) -> Failure {
    Failure::bad_request(format!("error applying strategic merge patch: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin;

    fn patched(object: Value, patch: Value) -> Value {
        let mut object = object;
        strategic(builtin("core.v1.PodSpec").unwrap(), &mut object, &patch).unwrap();
        object
    }

    #[test]
    fn containers_merge_by_name_and_directives_delete_or_replace() {
        let pod = json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]});
        assert_eq!(
            patched(
                pod.clone(),
                json!({"containers": [{"name": "b", "image": "2"}, {"name": "c"}]})
            ),
            json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c"}]})
        );
        assert_eq!(
            patched(
                pod.clone(),
                json!({"containers": [{"name": "a", "$patch": "delete"}]})
            ),
            json!({"containers": [{"name": "b", "image": "1"}]})
        );
        assert_eq!(
            patched(
                pod,
                json!({"containers": [{"$patch": "replace"}, {"name": "z"}]})
            ),
            json!({"containers": [{"name": "z"}]})
        );
    }

    #[test]
    fn atomic_lists_are_replaced() {
        let pod = json!({"tolerations": [{"key": "a"}]});
        assert_eq!(
            patched(pod, json!({"tolerations": [{"key": "b"}]})),
            json!({"tolerations": [{"key": "b"}]})
        );
    }
}
