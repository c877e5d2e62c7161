//! All kinds of an API server, and their objects by label.

use std::collections::HashSet;

use async_trait::async_trait;
use http::Request as HttpRequest;
use kube::api::ListParams;
use kube::core::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Doing, KubernetesTransport, PAGE, discovery, with_kind};
use crate::{Failure, Kinds, ObjectKind, Operation, Page, Survey, TransportError};

/// The answer of `/apis`.
#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    versions: Vec<Version>,
    preferred_version: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    group_version: String,
}

#[async_trait]
impl Survey for KubernetesTransport {
    async fn kinds(&self) -> Result<Kinds, TransportError> {
        let doing = Doing {
            operation: Operation::Discover,
            object: "all kinds".to_owned(),
        };
        let groups: Groups = self.ask("/apis".to_owned(), &doing).await?;
        let mut all = Kinds::default();
        self.kinds_of(&["v1".to_owned()], &mut all).await;
        for group in groups.groups {
            // A kind that two versions have is looked at in the one the server prefers.
            let preferred = group.preferred_version.group_version;
            let mut versions: Vec<String> = group
                .versions
                .into_iter()
                .map(|version| version.group_version)
                .filter(|version| *version != preferred)
                .collect();
            versions.insert(0, preferred);
            self.kinds_of(&versions, &mut all).await;
        }
        Ok(all)
    }

    async fn page(
        &self,
        kind: &ObjectKind,
        label: &str,
        from: Option<&str>,
    ) -> Result<Page, TransportError> {
        let doing = Doing {
            operation: Operation::List,
            object: format!("{kind} with the label {label}"),
        };
        let place = self.place(kind, &doing).await?;
        let at = Request::new(discovery::collection_path(kind, &place, None));
        let mut params = ListParams::default().labels(label).limit(PAGE);
        if let Some(from) = from {
            params = params.continue_token(from);
        }
        let request = doing.request(at.list(&params))?;
        let mut page = self.call(request, &doing).await?;
        let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) else {
            return Err(unreadable(&doing, "it has no items"));
        };
        let next = page.pointer("/metadata/continue").and_then(Value::as_str);
        Ok(Page {
            items: items
                .into_iter()
                .map(|item| with_kind(item, kind))
                .collect(),
            next: next.filter(|next| !next.is_empty()).map(str::to_owned),
        })
    }
}

impl KubernetesTransport {
    /// The kinds of one group, each once.
    async fn kinds_of(&self, versions: &[String], all: &mut Kinds) {
        let mut seen = HashSet::new();
        for api_version in versions {
            let doing = Doing {
                operation: Operation::Discover,
                object: format!("the kinds of {api_version}"),
            };
            let path = discovery::version_path(api_version);
            match self.ask::<discovery::ResourceList>(path, &doing).await {
                Ok(list) => {
                    for (plural, kind) in list.sweepable() {
                        if seen.insert(plural.to_owned()) {
                            all.kinds.push(ObjectKind::new(api_version, kind));
                        }
                    }
                    self.discovered.put(api_version, Some(list));
                }
                Err(error) => all.failed.push(error),
            }
        }
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        path: String,
        doing: &Doing,
    ) -> Result<T, TransportError> {
        let request = HttpRequest::get(path)
            .body(Vec::new())
            .map_err(|error| doing.invalid(error.to_string()))?;
        let answer = self.call(request, doing).await?;
        serde_json::from_value(answer).map_err(|error| unreadable(doing, &error.to_string()))
    }
}

fn unreadable(doing: &Doing, why: &str) -> TransportError {
    doing.failed(Failure::Other {
        status: None,
        message: format!("the answer is not readable: {why}"),
    })
}
