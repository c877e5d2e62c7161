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

/// Shared items follow the configuration's order; items only the live object has stay in front of what they preceded.
fn merge_lists(list: &ListShape, live: &[Value], config: &[Value]) -> Vec<Value> {
    let key = |item: &Value| list.element(item).unwrap_or_default();
    let live_keys: Vec<String> = live.iter().map(key).collect();
    let config_keys: Vec<String> = config.iter().map(key).collect();
    let mut shared = config_keys
        .iter()
        .filter(|k| live_keys.contains(k))
        .peekable();
    let mut taken: Vec<&String> = Vec::new();
    let mut merged = Vec::with_capacity(live.len().max(config.len()));
    let (mut l, mut r) = (0, 0);
    while l < live.len() || r < config.len() {
        if l < live.len() && r < config.len() {
            if live_keys[l] == config_keys[r] {
                taken.push(&config_keys[r]);
                merged.push(merge(&list.item, &live[l], &config[r]));
                shared.next();
                l += 1;
                r += 1;
                continue;
            }
            if config_keys.contains(&live_keys[l])
                && shared.peek().is_some_and(|next| **next != live_keys[l])
            {
                l += 1;
                continue;
            }
        }
        if l < live.len() {
            if !config_keys.contains(&live_keys[l]) {
                merged.push(live[l].clone());
                l += 1;
                continue;
            }
            if taken.contains(&&live_keys[l]) {
                l += 1;
            }
        }
        if r < config.len() {
            let before = live_keys.iter().position(|k| *k == config_keys[r]);
            merged.push(match before {
                Some(at) => merge(&list.item, &live[at], &config[r]),
                None => config[r].clone(),
            });
            if before.is_some() && shared.peek().is_some_and(|next| **next == config_keys[r]) {
                shared.next();
            }
            taken.push(&config_keys[r]);
            r += 1;
        }
    }
    merged
}
