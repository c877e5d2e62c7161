//! Which fields differ between two states of an object.

use serde_json::Value;

use super::fieldset::Set;
use crate::schema::{Identity, Shape};

#[derive(Debug, Default)]
pub(super) struct Changes {
    pub added: Set,
    pub modified: Set,
    pub removed: Set,
}

impl Changes {
    pub(super) fn without(&self, ignored: &Set) -> Changes {
        Changes {
            added: self.added.difference(ignored),
            modified: self.modified.difference(ignored),
            removed: self.removed.difference(ignored),
        }
    }
}

pub(super) fn compare(shape: &Shape, old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    let mut path = Vec::new();
    walk(shape, Some(old), Some(new), &mut path, &mut changes);
    changes
}

fn walk(
    shape: &Shape,
    old: Option<&Value>,
    new: Option<&Value>,
    path: &mut Vec<String>,
    changes: &mut Changes,
) {
    let leaf = match new.filter(|v| !v.is_null()).or(old) {
        Some(Value::Object(_)) => {
            shape.is_atomic_map()
                || (entries(old).is_none_or(|m| m.is_empty())
                    && entries(new).is_none_or(|m| m.is_empty()))
        }
        Some(Value::Array(_)) => {
            shape
                .list()
                .is_none_or(|list| list.identity == Identity::Atomic)
                || (items(old).is_empty() && items(new).is_empty())
        }
        _ => true,
    };
    if leaf || mixed(old, new) {
        match (old, new) {
            (None, _) => changes.added.insert(path),
            (_, None) => changes.removed.insert(path),
            (Some(old), Some(new)) if old != new => changes.modified.insert(path),
            _ => {}
        }
        return;
    }
    if entries(old).is_some() || entries(new).is_some() {
        let mut keys: Vec<&String> = entries(old)
            .into_iter()
            .chain(entries(new))
            .flat_map(|m| m.keys())
            .collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            path.push(format!("f:{key}"));
            let (below, _) = shape.below(key);
            walk(
                below,
                entries(old).and_then(|m| m.get(key)),
                entries(new).and_then(|m| m.get(key)),
                path,
                changes,
            );
            path.pop();
        }
    } else if let Some(list) = shape.list() {
        let find = |side: Option<&'_ Value>, wanted: &str| -> Option<Value> {
            items(side)
                .iter()
                .find(|i| list.element(i).as_deref() == Some(wanted))
                .cloned()
        };
        let mut elements: Vec<String> = items(old)
            .iter()
            .chain(items(new))
            .filter_map(|item| list.element(item))
            .collect();
        elements.sort();
        elements.dedup();
        for element in elements {
            let (before, after) = (find(old, &element), find(new, &element));
            path.push(element);
            walk(&list.item, before.as_ref(), after.as_ref(), path, changes);
            path.pop();
        }
    }
    match (old, new) {
        (None, _) => changes.added.insert(path),
        (_, None) => changes.removed.insert(path),
        _ => {}
    }
}

/// Both sides there, of different JSON types: nothing to descend into.
fn mixed(old: Option<&Value>, new: Option<&Value>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => {
            (old.is_object() != new.is_object() || old.is_array() != new.is_array())
                && !old.is_null()
                && !new.is_null()
        }
        _ => false,
    }
}

fn entries(side: Option<&Value>) -> Option<&serde_json::Map<String, Value>> {
    side.and_then(Value::as_object)
}

fn items(side: Option<&Value>) -> &[Value] {
    side.and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}
