//! Values that must not be shown, and the removal of such values from what is shown.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;

/// What is shown in place of a secret.
pub const REDACTED: &str = "**REDACTED**";

/// A text that no log, error or printed configuration shows. An empty one is shown as empty, so
/// that a reader sees it is not set.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself. Call it where the value is used, and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether no secret is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn shown(&self) -> &'static str {
        if self.is_empty() { "" } else { REDACTED }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown())
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

impl JsonSchema for Secret {
    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "password", "writeOnly": true })
    }
}

/// Replaces what looks secret in a tree that is about to be shown: values of keys that are named
/// like secrets, and passwords inside of URLs.
pub fn redact(value: &mut Json) {
    match value {
        Json::Object(entries) => {
            for (key, value) in entries {
                if is_secret_name(key) {
                    hide(value);
                } else {
                    redact(value);
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(redact),
        Json::String(text) => {
            if let Cow::Owned(shown) = redact_urls(text) {
                *text = shown;
            }
        }
        _ => {}
    }
}

fn hide(value: &mut Json) {
    match value {
        Json::Object(entries) => entries.values_mut().for_each(hide),
        Json::Array(items) => items.iter_mut().for_each(hide),
        Json::String(text) if text.is_empty() => {}
        Json::String(_) | Json::Number(_) => *value = Json::from(REDACTED),
        _ => {}
    }
}

/// Whether a key is named like something secret: by its last word, so that `token_path` and
/// `secret_name`, which only say where a secret is, stay readable.
pub fn is_secret_name(key: &str) -> bool {
    const WORDS: [&str; 9] = [
        "password",
        "passwd",
        "passphrase",
        "token",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "authorization",
    ];
    const KEYS: [&str; 5] = ["api", "private", "access", "secret", "signing"];
    let words = words(key);
    match words.as_slice() {
        [.., kind, last] if last == "key" => KEYS.contains(&kind.as_str()),
        [.., last] => WORDS.contains(&last.as_str()) || last == "apikey",
        [] => false,
    }
}

/// `apiKey`, `api_key`, `X-API-Key` → `["api", "key"]`.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in key.chars() {
        let starts_word = !c.is_alphanumeric() || (c.is_uppercase() && before_is_lower);
        if starts_word {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        before_is_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Hides the password in every `scheme://user:password@host` and every query parameter that is
/// named like a secret.
pub fn redact_urls(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = after
            .find(|c: char| matches!(c, '/' | '?' | '#' | ',' | '"') || c.is_whitespace())
            .unwrap_or(after.len());
        // A password may itself contain an `@`: the host starts behind the last one.
        let (authority, tail) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                let name = user.split_once(':').map_or(user, |(name, _)| name);
                let hidden = if user.contains(':') { ":" } else { "" };
                let mark = if user.contains(':') { REDACTED } else { "" };
                shown.push_str(&format!("{name}{hidden}{mark}@{host}"));
            }
            None => shown.push_str(authority),
        }
        rest = tail;
    }
    shown.push_str(rest);
    redact_parameters(shown).into()
}

fn redact_parameters(url: String) -> String {
    let Some((start, query)) = url.split_once('?') else {
        return url;
    };
    let shown: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, value)) if is_secret_name(name) && !value.is_empty() => {
                format!("{name}={REDACTED}")
            }
            _ => pair.to_owned(),
        })
        .collect();
    format!("{start}?{}", shown.join("&"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::from("hunter2");
        assert_eq!(
            format!("{secret} {secret:?}"),
            format!("{REDACTED} \"{REDACTED}\"")
        );
        assert_eq!(
            serde_json::to_string(&secret).unwrap(),
            format!("\"{REDACTED}\"")
        );
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(Secret::default().to_string(), "");
    }

    #[test]
    fn names_that_hold_secrets_are_told_from_names_that_point_to_them() {
        for name in [
            "password",
            "db_password",
            "apiKey",
            "X-API-Key",
            "Authorization",
            "private_key",
            "clientSecret",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "token_path",
            "secret_name",
            "key_file",
            "key",
            "primary_key",
            "name",
            "",
            "monkey",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn passwords_in_urls_are_hidden() {
        for (url, shown) in [
            (
                "postgres://u:p@h:5432/db",
                "postgres://u:**REDACTED**@h:5432/db",
            ),
            ("postgres://u:p@ss@h/db", "postgres://u:**REDACTED**@h/db"),
            (
                "amqp://u:p@a,amqp://u:q@b",
                "amqp://u:**REDACTED**@a,amqp://u:**REDACTED**@b",
            ),
            (
                "postgres://h/db?user=u&password=p&x=1",
                "postgres://h/db?user=u&password=**REDACTED**&x=1",
            ),
            ("https://user@host/a@b", "https://user@host/a@b"),
            ("http://host:80/x", "http://host:80/x"),
            ("plain a:b@c", "plain a:b@c"),
        ] {
            assert_eq!(redact_urls(url), shown, "{url}");
        }
    }

    #[test]
    fn a_tree_is_redacted_by_key_and_by_url() {
        let mut tree = json!({
            "database": {"url": "postgres://u:p@h/d", "password": "x", "port": 5432},
            "headers": {"Authorization": "Bearer x", "accept": "json"},
            "secrets": {"a": "1", "b": ["2"]},
            "token": "",
        });
        redact(&mut tree);
        assert_eq!(
            tree,
            json!({
                "database": {"url": "postgres://u:**REDACTED**@h/d", "password": REDACTED, "port": 5432},
                "headers": {"Authorization": REDACTED, "accept": "json"},
                "secrets": {"a": REDACTED, "b": [REDACTED]},
                "token": "",
            })
        );
    }
}
