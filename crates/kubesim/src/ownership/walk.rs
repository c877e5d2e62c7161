//! Which fields a value has, and whether it can be applied at all.

use serde_json::Value;

use super::fieldset::Set;
use crate::schema::Shape;

/// The fields a configuration speaks about.
pub(super) fn to_set(shape: &Shape, value: &Value) -> Set {
    match value {
        Value::Object(map) if !shape.is_atomic_map() => {
            let mut set = Set::default();
            for (key, inner) in map {
                let (below, declared) = shape.below(key);
                let empty = inner.is_null() || inner.as_object().is_some_and(|m| m.is_empty());
                let member = empty || !declared || is_leaf(below, inner);
                let inner = if is_leaf(below, inner) {
                    Set::default()
                } else {
                    to_set(below, inner)
                };
                set.put(&format!("f:{key}"), member, inner);
            }
            set
        }
        Value::Array(items) => match shape.list() {
            Some(list) => {
                let mut set = Set::default();
                for item in items {
                    if let Some(element) = list.element(item) {
                        let inner = if is_leaf(&list.item, item) {
                            Set::default()
                        } else {
                            to_set(&list.item, item)
                        };
                        set.put(&element, true, inner);
                    }
                }
                set
            }
            None => Set::default(),
        },
        _ => Set::default(),
    }
}

/// Whether a value has one owner: scalars, atomic maps and lists, and whatever does not fit its shape.
pub(super) fn is_leaf(shape: &Shape, value: &Value) -> bool {
    match value {
        Value::Object(_) => shape.is_atomic_map(),
        Value::Array(_) => shape
            .list()
            .is_none_or(|list| list.identity == crate::schema::Identity::Atomic),
        _ => true,
    }
}

/// Adds the declared fields on the way to each member: removing a field's last content removes the field.
pub(super) fn name_fields(shape: &Shape, set: &Set) -> Set {
    let mut result = Set::default();
    for (element, member, below) in set.elements() {
        let (inner, declared) = match element.strip_prefix("f:") {
            Some(key) => shape.below(key),
            None => (shape.list().map_or(&Shape::Text, |list| &list.item), false),
        };
        let has_below = !below.is_empty();
        result.put(
            element,
            member || (declared && has_below),
            name_fields(inner, below),
        );
    }
    result
}

/// Refuses configurations that cannot be owned field by field: unknown fields and repeated list keys.
pub(crate) fn check(shape: &Shape, value: &Value) -> Result<(), String> {
    check_at(shape, value, "")
}

fn check_at(shape: &Shape, value: &Value, path: &str) -> Result<(), String> {
    let wanted = match shape.resolve() {
        Shape::Text if !value.is_string() => "string",
        Shape::Boolean if !value.is_boolean() => "boolean",
        Shape::Integer | Shape::Number if !value.is_number() => "numeric (int or float)",
        Shape::List(_) if !value.is_array() => "list",
        Shape::Map { .. } | Shape::Struct(_) if !value.is_object() => "map",
        _ => "",
    };
    if !wanted.is_empty() && !value.is_null() {
        return Err(format!(
            "{path}: expected {wanted}, got &value.valueUnstructured{{Value:{value}}}"
        ));
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let here = format!("{path}.{key}");
                let (below, declared) = shape.below(key);
                if !declared
                    && let Shape::Struct(fields) = shape.resolve()
                    && fields.rest.is_none()
                    && !fields.fields.is_empty()
                {
                    return Err(format!("{here}: field not declared in schema"));
                }
                check_at(below, inner, &here)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            let Some(list) = shape.list() else {
                return Ok(());
            };
            let mut seen = std::collections::BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                let Some(element) = list.element(item) else {
                    if list.identity == crate::schema::Identity::Atomic {
                        check_at(&list.item, item, &format!("{path}[{index}]"))?;
                        continue;
                    }
                    return Err(format!(
                        "{path}: element {index}: associative list with keys has an element that omits key field"
                    ));
                };
                let mut single = Set::default();
                single.insert(&[&element]);
                let printed = single.paths().concat();
                if !seen.insert(element) {
                    return Err(format!("{path}: duplicate entries for key {printed}"));
                }
                check_at(&list.item, item, &format!("{path}{printed}"))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
