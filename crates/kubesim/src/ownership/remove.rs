//! Taking fields out of a value. Containers that end up empty become null and are dropped by their parent.

use serde_json::{Map, Value};

use super::fieldset::Set;
use super::walk::is_leaf;
use crate::schema::Shape;

pub(super) fn remove(shape: &Shape, value: &Value, gone: &Set) -> Value {
    remove_below(shape, value, gone).unwrap_or_else(|| Value::Object(Map::new()))
}

fn remove_below(shape: &Shape, value: &Value, gone: &Set) -> Option<Value> {
    if gone.is_empty() {
        return Some(value.clone());
    }
    match value {
        Value::Object(map) if !is_leaf(shape, value) => {
            let mut kept = Map::new();
            for (key, inner) in map {
                let element = format!("f:{key}");
                if gone.has(&element) {
                    continue;
                }
                match gone.below(&element) {
                    Some(below) => {
                        let (inner_shape, _) = shape.below(key);
                        kept.insert(
                            key.clone(),
                            remove_below(inner_shape, inner, below).unwrap_or(Value::Null),
                        );
                    }
                    None => {
                        kept.insert(key.clone(), inner.clone());
                    }
                }
            }
            kept.retain(|_, v| !v.is_null());
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) if !is_leaf(shape, value) => {
            let list = shape.list()?;
            let mut kept = Vec::new();
            for item in items {
                let element = list.element(item).unwrap_or_default();
                if gone.has(&element) {
                    continue;
                }
                match gone.below(&element) {
                    Some(below) => kept.extend(remove_below(&list.item, item, below)),
                    None => kept.push(item.clone()),
                }
            }
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        _ => Some(value.clone()),
    }
}
