//! Laying an applied configuration over the live object.

use serde_json::Value;

use super::walk::is_leaf;
use crate::schema::{ListShape, Shape};

pub(super) fn merge(shape: &Shape, live: &Value, config: &Value) -> Value {
    if is_leaf(shape, config) {
        return config.clone();
    }
    match (live, config) {
        (Value::Object(live), Value::Object(config)) => {
            let mut merged = live.clone();
            for (key, value) in config {
                let (below, _) = shape.below(key);
                let value = match live.get(key) {
                    Some(before) => merge(below, before, value),
                    None => value.clone(),
                };
                merged.insert(key.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(live), Value::Array(config)) => match shape.list() {
            Some(list) => Value::Array(merge_lists(list, live, config)),
            None => Value::Array(config.clone()),
        },
        _ => config.clone(),
    }
}

/// Items of both sides follow the configuration's order; items only the live object has keep their place between them.
fn merge_lists(list: &ListShape, live: &[Value], config: &[Value]) -> Vec<Value> {
    let live_keys: Vec<Option<String>> = live.iter().map(|item| list.element(item)).collect();
    let config_keys: Vec<Option<String>> = config.iter().map(|item| list.element(item)).collect();
    let in_config = |key: &Option<String>| key.is_some() && config_keys.contains(key);
    let live_index = |key: &Option<String>| live_keys.iter().position(|k| k == key && k.is_some());

    let mut merged = Vec::with_capacity(live.len().max(config.len()));
    let mut next_live = 0;
    for (item, key) in config.iter().zip(&config_keys) {
        if let Some(at) = live_index(key) {
            while next_live < at {
                if !in_config(&live_keys[next_live]) {
                    merged.push(live[next_live].clone());
                }
                next_live += 1;
            }
            next_live = next_live.max(at + 1);
            merged.push(merge(&list.item, &live[at], item));
        } else {
            merged.push(item.clone());
        }
    }
    for (item, key) in live.iter().zip(&live_keys).skip(next_live) {
        if !in_config(key) {
            merged.push(item.clone());
        }
    }
    merged
}
