//! Conditions as CEL text.

use serde_json::Value as Json;

use super::Operator;
use crate::path::Path;

/// How the programs that all conditions share call the wanted value.
pub(super) const VARIABLE: &str = "value";

/// An operator over two pieces of CEL; `field` gives null where it is missing.
pub(super) fn operator(operator: Operator, field: &str, value: &str) -> String {
    let exists = format!("!({field} in [null, '', [], {{}}])");
    match operator {
        Operator::Equals => format!("{field} == {value}"),
        Operator::NotEquals => format!("{field} != {value}"),
        Operator::In => format!("{field} in {value}"),
        Operator::NotIn => format!("!({field} in {value})"),
        // Only a text can be part of a text.
        Operator::Contains if !value.starts_with('"') && value != VARIABLE => {
            format!("type({field}) != string && {value} in dyn({field})")
        }
        // Part of a text, item of a list, key of a map.
        Operator::Contains => format!(
            "type({field}) == string ? dyn({field}).contains({value}) : {value} in dyn({field})"
        ),
        Operator::Exists => exists,
        Operator::NotExists => format!("!{exists}"),
        Operator::GreaterThan => format!("{field} > {value}"),
        Operator::LessThan => format!("{field} < {value}"),
        Operator::GreaterThanOrEqual => format!("{field} >= {value}"),
        Operator::LessThanOrEqual => format!("{field} <= {value}"),
    }
}

/// `a.b.c` as a look-up that gives null where anything on the way is missing;
/// only the variable itself must exist.
pub(super) fn field(path: &Path) -> Option<String> {
    let keys = path.keys()?;
    let (root, rest) = keys.split_first()?;
    if !is_name(root) {
        return None;
    }
    if rest.is_empty() {
        return Some((*root).to_owned());
    }
    if !rest.iter().any(|key| key.contains('.')) {
        return Some(format!("dig({root}, {})", Json::from(rest.join("."))));
    }
    let mut text = (*root).to_owned();
    for key in rest {
        match is_name(key) {
            true => text.push_str(&format!(".?{key}")),
            false => text.push_str(&format!("[?{}]", Json::from(*key))),
        }
    }
    Some(format!("{text}.orValue(null)"))
}

fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && key.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !matches!(key, "true" | "false" | "null" | "in")
}
