//! Reading many objects.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{Call, State};
use crate::failure::{Cause, Failure};
use crate::selector::{FieldSelector, LabelSelector};
use crate::store::Key;

/// One answer to a list request.
#[derive(Debug)]
pub(crate) struct Page {
    pub items: Vec<Arc<Value>>,
    pub revision: u64,
    pub continue_token: Option<String>,
    pub remaining: Option<usize>,
}

pub(crate) fn list(state: &State, call: &Call<'_>) -> Result<Page, Failure> {
    let query = call.query;
    let labels = LabelSelector::parse(&query.label_selector)?;
    let fields = FieldSelector::parse(&query.field_selector, call.resource)?;
    let mut revision = state.store.revision();
    check_version(call, revision)?;
    let after = match &query.continue_token {
        Some(token) => {
            let (listed_at, key) = read_token(token)?;
            revision = listed_at;
            Some(key)
        }
        None => None,
    };
    let storage = call.resource.storage();
    let selective = !query.label_selector.is_empty() || !query.field_selector.is_empty();
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut items = Vec::new();
    let mut last: Option<&Key> = None;
    let mut more = false;
    let mut rest = 0;
    // One named object is a lookup, however many there are.
    let named = fields
        .name()
        .filter(|_| call.resource.namespaced != call.namespace.is_empty())
        .map(|name| Key {
            namespace: call.namespace.to_owned(),
            name: name.to_owned(),
        });
    let found: Box<dyn Iterator<Item = (&Key, &Arc<Value>)>> = match &named {
        Some(key) => Box::new(
            state
                .store
                .by_key(&storage, key)
                .map(|object| (key, object))
                .into_iter(),
        ),
        None => Box::new(state.store.range(&storage, call.namespace, after.as_ref())),
    };
    for (key, object) in found {
        if !labels.matches(object) || !fields.matches(object) {
            continue;
        }
        if items.len() == limit {
            more = true;
            if selective {
                break;
            }
            rest += 1;
            continue;
        }
        items.push(Arc::clone(object));
        last = Some(key);
    }
    let continue_token = match last {
        Some(key) if more => Some(write_token(revision, key)),
        _ => None,
    };
    Ok(Page {
        items,
        revision,
        continue_token,
        remaining: (more && !selective).then_some(rest),
    })
}

/// The versions a list may ask for: any, a recent one, or one that does not exist yet.
fn check_version(call: &Call<'_>, current: u64) -> Result<(), Failure> {
    let query = call.query;
    let version = query.resource_version.as_deref();
    if let Some(how) = query.resource_version_match.as_deref() {
        let refuse = |cause: Cause| Err(Failure::invalid_options("ListOptions", cause));
        let field = "resourceVersionMatch";
        if query.continue_token.is_some() {
            return refuse(Cause::forbidden(
                field,
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        if version.is_none() {
            let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
            return refuse(Cause::forbidden(field, why));
        }
        if !matches!(how, "Exact" | "NotOlderThan") {
            return refuse(Cause::unsupported(
                field,
                &how.into(),
                &["Exact", "NotOlderThan", ""],
            ));
        }
    }

    match version {
        None => Ok(()),
        Some(text) => match text.parse::<u64>() {
            Err(_) => Err(Failure::bad_version(text)),

            Ok(asked) if asked > current => Err(Failure::future_version(asked, current)),
            Ok(_) => Ok(()),
        },
    }
}

fn write_token(revision: u64, key: &Key) -> String {
    let token =
        json!({ "v": "meta.k8s.io/v1", "rv": revision, "start": [key.namespace, key.name] });
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn read_token(token: &str) -> Result<(u64, Key), Failure> {
    let read = || -> Option<(u64, Key)> {
        let bytes = URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')).ok()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let key = Key {
            namespace: value["start"][0].as_str()?.to_owned(),
            name: value["start"][1].as_str()?.to_owned(),
        };
        Some((value["rv"].as_u64()?, key))
    };
    read().ok_or_else(|| Failure::bad_request("invalid continue token: continue key is not valid"))
}
