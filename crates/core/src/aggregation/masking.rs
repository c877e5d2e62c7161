//! What rules may see of free data: everything but the values of keys that are named like secrets.
//!
//! Conditions are public, and a rule can copy what it sees into one.

use std::collections::BTreeMap;

use hyperfleet_expr::cel::{Key, Map, Str, Value};
use serde_json::Value as Json;

const MASK: &str = "***REDACTED***";
/// Deeper than this nothing is looked at, and so nothing is shown.
const DEEPEST: usize = 20;

/// Any key that contains one of these, in whatever case.
const SECRET: [&str; 22] = [
    "password",
    "secret",
    "token",
    "apikey",
    "api_key",
    "privatekey",
    "secretkey",
    "accesskey",
    "sshkey",
    "encryptionkey",
    "accountkey",
    "servicekey",
    "registrykey",
    "signingkey",
    "credential",
    "passphrase",
    "private",
    "auth",
    "connection",
    "cert",
    "kubeconfig",
    "bearer",
];

/// An object with its secrets hidden. Borrows it whole when there are none, which is the usual case.
pub(super) fn object(object: &serde_json::Map<String, Json>) -> Value<'_> {
    masked_object(object, DEEPEST).unwrap_or(Value::Map(Map::Json(object)))
}

/// The same for texts by key.
pub(super) fn texts(texts: &BTreeMap<String, String>) -> Value<'_> {
    Value::Map(Map::from_entries(texts.iter().map(|(key, text)| {
        let shown = if is_secret(key) {
            mask()
        } else {
            Value::str(text)
        };
        (Key::String(Str::Borrowed(key)), shown)
    })))
}

fn mask<'a>() -> Value<'a> {
    Value::str(MASK)
}

/// `None` when nothing has to be hidden.
fn masked(json: &Json, depth: usize) -> Option<Value<'_>> {
    match json {
        Json::Object(_) | Json::Array(_) if depth == 0 => Some(mask()),
        Json::Object(object) => masked_object(object, depth),
        Json::Array(items) => {
            let changed: Vec<Option<Value<'_>>> =
                items.iter().map(|item| masked(item, depth - 1)).collect();
            changed.iter().any(Option::is_some).then(|| {
                let whole = items.iter().zip(changed);
                Value::list(
                    whole
                        .map(|(item, changed)| changed.unwrap_or_else(|| Value::from_json(item)))
                        .collect(),
                )
            })
        }
        _ => None,
    }
}

fn masked_object(object: &serde_json::Map<String, Json>, depth: usize) -> Option<Value<'_>> {
    let changed: Vec<Option<Value<'_>>> = object
        .iter()
        .map(|(key, value)| match is_secret(key) {
            true => Some(mask()),
            false => masked(value, depth - 1),
        })
        .collect();
    changed.iter().any(Option::is_some).then(|| {
        let whole = object.iter().zip(changed);
        Value::Map(Map::from_entries(whole.map(|((key, value), changed)| {
            let key = Key::String(Str::Borrowed(key));
            (key, changed.unwrap_or_else(|| Value::from_json(value)))
        })))
    })
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET.iter().any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_keys_that_are_named_like_secrets_are_hidden_at_any_depth() {
        let data = json!({
            "zones": ["a"],
            "db": {"dbPassword": "x", "host": "h"},
            "users": [{"name": "n", "API_KEY": {"id": 1}}],
            "certificate": "pem",
        });
        assert_eq!(
            object(data.as_object().unwrap()).to_json(),
            json!({
                "zones": ["a"],
                "db": {"dbPassword": MASK, "host": "h"},
                "users": [{"name": "n", "API_KEY": MASK}],
                "certificate": MASK,
            })
        );
    }

    #[test]
    fn nothing_below_the_deepest_level_is_shown() {
        let deep = (0..40).fold(json!({"password": "x"}), |inner, _| json!({"a": [inner]}));
        let shown = object(deep.as_object().unwrap()).to_json().to_string();
        assert!(!shown.contains("password"), "{shown}");
        assert!(shown.contains(MASK), "{shown}");
    }

    #[test]
    fn data_without_secrets_is_not_copied() {
        let data = json!({"a": {"b": [1, 2, {"c": "d"}]}});
        let object = object(data.as_object().unwrap());
        assert!(matches!(object, Value::Map(Map::Json(_))));
    }
}
