//! Query parameters of a request.

use std::borrow::Cow;

use crate::failure::{Cause, Failure};

/// What to do with fields the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pub label_selector: String,
    pub field_selector: String,
    pub resource_version: Option<String>,
    pub resource_version_match: Option<String>,
    pub limit: Option<usize>,
    pub continue_token: Option<String>,
    pub watch: bool,
    pub allow_bookmarks: bool,
    pub send_initial_events: Option<bool>,
    pub timeout_seconds: Option<u64>,
    pub dry_run: bool,
    /// Given by `fieldManager`, else derived from the user agent.
    pub field_manager: String,
    pub field_manager_given: bool,
    pub field_validation: FieldValidation,
    pub force: Option<bool>,
    pub pretty: bool,
    pub propagation_policy: Option<String>,
    pub orphan_dependents: Option<bool>,
}

impl Query {
    /// `options` names the options kind of the verb, for messages.
    pub(crate) fn parse(raw: &str, user_agent: &str, options: &str) -> Result<Query, Failure> {
        let mut query = Query::default();
        let invalid = |key: &str, value: &str| {
            Failure::bad_request(format!(
                "invalid value {value:?} for query parameter {key:?}"
            ))
        };
        for pair in raw.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (key, value) = (decode(key), decode(value).into_owned());
            match key.as_ref() {
                "labelSelector" => query.label_selector = value,
                "fieldSelector" => query.field_selector = value,
                "resourceVersion" if !value.is_empty() => query.resource_version = Some(value),
                "resourceVersionMatch" if !value.is_empty() => {
                    query.resource_version_match = Some(value)
                }
                "limit" => query.limit = value.parse().ok().filter(|n| *n > 0),
                "continue" if !value.is_empty() => query.continue_token = Some(value),
                "watch" => query.watch = flag(&value),
                "allowWatchBookmarks" => query.allow_bookmarks = flag(&value),
                "sendInitialEvents" => query.send_initial_events = Some(flag(&value)),
                "timeoutSeconds" => {
                    query.timeout_seconds = Some(value.parse().map_err(|_| invalid(&key, &value))?)
                }
                "dryRun" => match value.as_str() {
                    "All" => query.dry_run = true,
                    "" => {}
                    other => {
                        let cause =
                            Cause::unsupported("dryRun", &serde_json::json!([other]), &["All"]);
                        return Err(Failure::invalid_options(options, cause));
                    }
                },
                "fieldManager" if !value.is_empty() => {
                    if value.len() > 128 || value.chars().any(|c| !c.is_ascii_graphic() && c != ' ')
                    {
                        return Err(invalid(&key, &value));
                    }
                    query.field_manager = value;
                    query.field_manager_given = true;
                }
                "fieldValidation" => {
                    query.field_validation = match value.as_str() {
                        "Ignore" => FieldValidation::Ignore,
                        "Warn" | "" => FieldValidation::Warn,
                        "Strict" => FieldValidation::Strict,
                        other => {
                            let supported = ["Ignore", "Strict", "Warn", ""];
                            let cause =
                                Cause::unsupported("fieldValidation", &other.into(), &supported);
                            return Err(Failure::invalid_options(options, cause));
                        }
                    };
                }
                "force" => query.force = Some(flag(&value)),
                "pretty" => query.pretty = flag(&value),
                "propagationPolicy" if !value.is_empty() => query.propagation_policy = Some(value),
                "orphanDependents" => query.orphan_dependents = Some(flag(&value)),
                // Unknown parameters are ignored, as the real server does.
                _ => {}
            }
        }
        if query.field_manager.is_empty() {
            let agent = user_agent.split('/').next().unwrap_or_default();
            query.field_manager = if agent.is_empty() {
                "unknown".to_owned()
            } else {
                agent.to_owned()
            };
        }
        Ok(query)
    }
}

/// Go's rule for boolean query parameters: everything but `false` and `0` is true.
fn flag(value: &str) -> bool {
    !matches!(value, "false" | "0")
}

/// `%XX` and `+`, leaving malformed escapes as they are.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let escaped = (byte == b'%')
            .then(|| tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escaped {
            Some(value) => {
                bytes.push(value);
                rest = &tail[2..];
            }
            None => {
                bytes.push(if byte == b'+' { b' ' } else { byte });
                rest = tail;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
