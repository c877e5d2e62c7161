//! A live target that is only looked at: every write is a server-side dry run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value as Json;

use crate::offline::merge;
use crate::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Scope, Selector, Transport,
    TransportError,
};

/// What would become of one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preview {
    /// Which object.
    pub object: ObjectRef,
    /// What would become of it.
    #[serde(flatten)]
    pub what: Previewed,
}

/// What would become of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "preview", content = "changes")]
pub enum Previewed {
    /// It would be created; the server accepts it.
    Created,
    /// These fields would change.
    Changed(Vec<Change>),
    /// It would stay as it is.
    Unchanged,
    /// It would be deleted.
    Deleted,
    /// The server could not be asked, for what it needs does not exist yet.
    Unchecked(String),
}

/// A field that would change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Where.
    pub path: String,
    /// What is there now; absent if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Json>,
    /// What would be there; absent if nothing would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Json>,
}

/// Metadata that every write changes.
const BOOKKEEPING: [&str; 4] = ["managedFields", "resourceVersion", "generation", "uid"];

/// Passes reads on and turns writes into dry runs. Objects it "deleted" are not shown again.
pub struct PreviewTransport {
    inner: Arc<dyn Transport>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    previews: Vec<Preview>,
    deleted: BTreeSet<ObjectRef>,
}

impl PreviewTransport {
    /// Looks at `inner`.
    pub fn new(inner: Arc<dyn Transport>) -> Self {
        Self {
            inner,
            seen: Mutex::default(),
        }
    }

    /// What would have been done so far.
    pub fn previews(&self) -> Vec<Preview> {
        self.lock().previews.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|held| held.into_inner())
    }

    fn note(&self, object: &ObjectRef, what: Previewed) {
        self.lock().previews.push(Preview {
            object: object.clone(),
            what,
        });
    }
}

#[async_trait]
impl Transport for PreviewTransport {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        self.inner.scope(kind).await
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Json>, TransportError> {
        if self.lock().deleted.contains(object) {
            return Ok(None);
        }
        self.inner.get(object).await
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Json>, TransportError> {
        let mut found = self.inner.list(kind, namespace, selector).await?;
        let seen = self.lock();
        found.retain(|object| {
            ObjectRef::of(object).is_ok_and(|object| !seen.deleted.contains(&object))
        });
        Ok(found)
    }

    async fn apply(&self, manifest: &Json, mode: Mode) -> Result<Json, TransportError> {
        if mode == Mode::DryRun {
            return self.inner.apply(manifest, mode).await;
        }
        let Ok(object) = ObjectRef::of(manifest) else {
            return self.inner.apply(manifest, Mode::DryRun).await;
        };
        let before = self.get(&object).await?;
        match self.inner.apply(manifest, Mode::DryRun).await {
            Ok(after) => {
                let what = match &before {
                    None => Previewed::Created,
                    Some(before) => match changes(before, &after) {
                        changes if changes.is_empty() => Previewed::Unchanged,
                        changes => Previewed::Changed(changes),
                    },
                };
                self.note(&object, what);
                Ok(after)
            }
            // Its namespace would have been created a moment ago.
            Err(error) if matches!(error.failure, Failure::NotFound { .. }) => {
                self.note(&object, Previewed::Unchecked(error.failure.to_string()));
                Ok(manifest.clone())
            }
            Err(error) => Err(error),
        }
    }

    async fn create(&self, manifest: &Json) -> Result<Json, TransportError> {
        self.apply(manifest, Mode::Commit).await
    }

    async fn patch(&self, object: &ObjectRef, patch: &Json) -> Result<Json, TransportError> {
        let before = self.get(object).await?.unwrap_or_default();
        let mut after = before.clone();
        merge(&mut after, patch);
        self.note(object, Previewed::Changed(changes(&before, &after)));
        Ok(after)
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        _options: &Delete,
    ) -> Result<Deletion, TransportError> {
        let Some(_) = self.get(object).await? else {
            return Ok(Deletion::Absent);
        };
        self.note(object, Previewed::Deleted);
        self.lock().deleted.insert(object.clone());
        Ok(Deletion::Accepted)
    }
}

/// Every field that differs, in order of its path; values of Secrets are not shown.
fn changes(before: &Json, after: &Json) -> Vec<Change> {
    let mut found = Vec::new();
    compare(Some(before), Some(after), "", &mut found);
    if after["kind"] == "Secret" {
        for change in &mut found {
            if change.path.starts_with(".data") || change.path.starts_with(".stringData") {
                let hidden = |value: &mut Json| *value = Json::from("(hidden)");
                change.before.iter_mut().for_each(hidden);
                change.after.iter_mut().for_each(hidden);
            }
        }
    }
    found
}

fn compare(before: Option<&Json>, after: Option<&Json>, path: &str, found: &mut Vec<Change>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Some(Json::Object(old)), Some(Json::Object(new))) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                if path == ".metadata" && BOOKKEEPING.contains(&key.as_str()) {
                    continue;
                }
                compare(old.get(key), new.get(key), &format!("{path}.{key}"), found);
            }
        }
        (Some(Json::Array(old)), Some(Json::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                let path = format!("{path}[{index}]");
                compare(old.get(index), new.get(index), &path, found);
            }
        }
        _ => found.push(Change {
            path: path.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_preview_names_what_changes_and_hides_secrets() {
        let before = json!({"kind": "ConfigMap", "metadata": {"resourceVersion": "1"},
            "data": {"a": "1", "b": "1"}, "list": [1, 2]});
        let after = json!({"kind": "ConfigMap", "metadata": {"resourceVersion": "2"},
            "data": {"a": "2", "c": "1"}, "list": [1]});
        let paths: Vec<_> = changes(&before, &after)
            .into_iter()
            .map(|change| change.path)
            .collect();
        assert_eq!(paths, [".data.a", ".data.b", ".data.c", ".list[1]"]);
        let secret = |value: &str| json!({"kind": "Secret", "data": {"key": value}});
        let found = changes(&secret("b2xk"), &secret("bmV3"));
        assert_eq!(found[0].after, Some(json!("(hidden)")));
    }
}
