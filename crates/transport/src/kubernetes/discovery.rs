//! Which URL the objects of a kind have, asked once per API version.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use crate::{ObjectKind, Scope};

/// How long a kind that was not there is not asked for again.
const ABSENCE_KEPT: Duration = Duration::from_secs(10);

/// Where the objects of a kind are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) plural: String,
    pub(super) scope: Scope,
}

/// The kinds of the API versions asked for so far.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    versions: Mutex<HashMap<String, Arc<Version>>>,
}

#[derive(Debug)]
struct Version {
    kinds: HashMap<String, Place>,
    seen: Instant,
}

/// What the cache knows about a kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// This is where it is.
    Yes(Place),
    /// It was not there a moment ago.
    No,
    /// The server must be asked.
    Unknown,
}

impl Discovered {
    pub(super) fn get(&self, kind: &ObjectKind) -> Known {
        let versions = self
            .versions
            .lock()
            .unwrap_or_else(|held| held.into_inner());
        match versions.get(&kind.api_version) {
            None => Known::Unknown,
            Some(version) => match version.kinds.get(&kind.kind) {
                Some(place) => Known::Yes(place.clone()),
                None if version.seen.elapsed() < ABSENCE_KEPT => Known::No,
                None => Known::Unknown,
            },
        }
    }

    /// Replaces what is known about an API version; `None` when the server does not have it.
    pub(super) fn put(&self, api_version: &str, list: Option<ResourceList>) {
        let kinds = list.map(ResourceList::kinds).unwrap_or_default();
        let version = Version {
            kinds,
            seen: Instant::now(),
        };
        let mut versions = self
            .versions
            .lock()
            .unwrap_or_else(|held| held.into_inner());
        versions.insert(api_version.to_owned(), Arc::new(version));
    }

    /// Asks again next time: the server no longer knows what it told us.
    pub(super) fn forget(&self, api_version: &str) {
        let mut versions = self
            .versions
            .lock()
            .unwrap_or_else(|held| held.into_inner());
        versions.remove(api_version);
    }
}

/// The answer of `/api/v1` and `/apis/group/version`.
#[derive(Debug, Deserialize)]
pub(super) struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    name: String,
    kind: String,
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

impl ResourceList {
    /// The kinds of which objects can be found, looked at and deleted, by their plural.
    pub(super) fn sweepable(&self) -> impl Iterator<Item = (&str, &str)> {
        let can = |resource: &&Resource, verb: &str| resource.verbs.iter().any(|can| can == verb);
        self.resources
            .iter()
            .filter(|resource| !resource.name.contains('/'))
            .filter(move |resource| {
                ["list", "get", "delete"]
                    .iter()
                    .all(|verb| can(resource, verb))
            })
            .map(|resource| (resource.name.as_str(), resource.kind.as_str()))
    }

    fn kinds(self) -> HashMap<String, Place> {
        let listed = self.resources.into_iter();
        listed
            // `jobs/status` is no kind of its own.
            .filter(|resource| !resource.name.contains('/'))
            .map(|resource| {
                let scope = match resource.namespaced {
                    true => Scope::Namespaced,
                    false => Scope::Cluster,
                };
                let place = Place {
                    plural: resource.name,
                    scope,
                };
                (resource.kind, place)
            })
            .collect()
    }
}

/// `/api/v1` or `/apis/group/version`.
pub(super) fn version_path(api_version: &str) -> String {
    match api_version.contains('/') {
        true => format!("/apis/{api_version}"),
        false => format!("/api/{api_version}"),
    }
}

/// The collection of a kind, in one namespace or in all.
pub(super) fn collection_path(kind: &ObjectKind, place: &Place, namespace: Option<&str>) -> String {
    let version = version_path(&kind.api_version);
    match (place.scope, namespace) {
        (Scope::Namespaced, Some(namespace)) => {
            format!("{version}/namespaces/{namespace}/{}", place.plural)
        }
        _ => format!("{version}/{}", place.plural),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn jobs() -> ResourceList {
        serde_json::from_value(json!({"resources": [
            {"name": "jobs", "kind": "Job", "namespaced": true},
            {"name": "jobs/status", "kind": "Job", "namespaced": true},
        ]}))
        .unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_kind_is_asked_for_again_after_a_while() {
        let known = Discovered::default();
        let job = ObjectKind::new("batch/v1", "Job");
        let cron = ObjectKind::new("batch/v1", "CronJob");
        assert_eq!(known.get(&job), Known::Unknown);
        known.put("batch/v1", Some(jobs()));
        assert!(matches!(known.get(&job), Known::Yes(place) if place.plural == "jobs"));
        assert_eq!(known.get(&cron), Known::No);
        tokio::time::advance(ABSENCE_KEPT).await;
        assert_eq!(known.get(&cron), Known::Unknown);
        assert!(matches!(known.get(&job), Known::Yes(_)));
    }

    #[test]
    fn paths_follow_scope_and_group() {
        let namespaced = Place {
            plural: "jobs".into(),
            scope: Scope::Namespaced,
        };
        let job = ObjectKind::new("batch/v1", "Job");
        assert_eq!(
            collection_path(&job, &namespaced, Some("a")),
            "/apis/batch/v1/namespaces/a/jobs"
        );
        assert_eq!(
            collection_path(&job, &namespaced, None),
            "/apis/batch/v1/jobs"
        );
        let cluster = Place {
            plural: "namespaces".into(),
            scope: Scope::Cluster,
        };
        let namespace = ObjectKind::new("v1", "Namespace");
        assert_eq!(
            collection_path(&namespace, &cluster, Some("*")),
            "/api/v1/namespaces"
        );
    }
}
