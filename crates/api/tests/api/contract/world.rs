//! An API in which everything can go wrong, two in which nothing can go right, and one that lets hardly anybody in.

use std::sync::atomic::{AtomicUsize, Ordering};

use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::{
    Kind, OnParentDelete, OnTargetDelete, ReferenceRule, Registry, Strength,
};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::security::issuer::Issuer;

/// An id that nothing has.
pub(super) const NOBODY: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";

/// How the name of everything begins.
pub(super) const NAME: &str = "thing-";

pub(super) struct World {
    pub(super) api: Caller,
    /// Its database was closed.
    pub(super) cut_off: Caller,
    /// Its tables are gone.
    pub(super) broken: Caller,
    /// It asks who is there, and for which tenant, and has little patience.
    pub(super) guarded: Caller,
    pub(super) issuer: Issuer,
    pub(super) kinds: Registry,
    made: AtomicUsize,
}

/// The resources a path speaks of, and what follows.
pub(super) struct Place {
    pub(super) path: String,
    /// `None` on the routes of every kind, and on those of none.
    pub(super) kind: Option<Kind>,
    pub(super) parent: Option<Kind>,
    /// What follows the path of the list: `/{id}/statuses`.
    pub(super) suffix: String,
}

impl World {
    pub(super) async fn new() -> World {
        let (cut_off, broken) = (Caller::with(kinds()).await, Caller::with(kinds()).await);
        cut_off.store.pool_for_tests().close().await;
        let drop = sqlx::query("DROP SCHEMA public CASCADE");
        drop.execute(broken.store.pool_for_tests()).await.unwrap();
        let issuer = Issuer::new().await;
        let tenant = json!({"enabled": true, "dimensions": [{"header": "X-Org", "key": "org"}],
                            "system_header": "X-System"});
        let config = json!({
            "server": {"jwt": {"configs": [issuer.config()]}, "tenant": tenant},
            "authorization": {"default_role": "admin"},
            "limits": {"reads_per_minute": 1, "writes_per_minute": 1},
        });
        World {
            guarded: Caller::secured_with(kinds(), config).await,
            issuer,
            api: Caller::with(kinds()).await,
            cut_off,
            broken,
            kinds: Registry::new(kinds()).unwrap(),
            made: AtomicUsize::new(0),
        }
    }

    /// A name that was not used before.
    pub(super) fn name(&self) -> String {
        format!("{NAME}{}", self.made.fetch_add(1, Ordering::Relaxed))
    }

    /// A new resource of a kind, with a new parent if it needs one.
    pub(super) async fn make(&self, kind: &Kind) -> Value {
        let path = match self.kinds.parent(kind) {
            None => format!("/{}", kind.plural),
            Some(parent) => {
                let parent = Box::pin(self.make(parent)).await;
                format!("{}/{}", parent["href"].as_str().unwrap(), kind.plural)
            }
        };
        let body = json!({"kind": kind.kind, "name": self.name(), "spec": {}});
        let made = self.api.post(&path, body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body
    }

    /// The kind that stands for a place: on routes of every kind, the one with the most rules.
    pub(super) fn kind<'a>(&'a self, place: &'a Place) -> &'a Kind {
        let any = || self.kinds.kind("NodePool").unwrap();
        place.kind.as_ref().unwrap_or_else(any)
    }
}

impl Place {
    pub(super) fn of(path: &str, kinds: &Registry) -> Place {
        let inside = path.strip_prefix("/api/hyperfleet/v1/").unwrap_or_default();
        let steps: Vec<&str> = inside.split('/').collect();
        let (parent, plural, rest) = match steps.as_slice() {
            [parent, "{parent_id}", plural, rest @ ..] => (kinds.plural(parent), *plural, rest),
            [plural, rest @ ..] => (None, *plural, rest),
            [] => (None, "", &[][..]),
        };
        let suffix: String = rest.iter().map(|step| format!("/{step}")).collect();
        Place {
            path: path.to_owned(),
            kind: kinds.plural(plural).cloned(),
            parent: parent.cloned(),
            suffix,
        }
    }

    /// The path of a resource at this place.
    pub(super) fn to(&self, resource: &Value) -> String {
        let id = resource["id"].as_str().unwrap();
        let owner = resource["owner_references"]["id"].as_str();
        self.with(owner.unwrap_or(NOBODY), id)
    }

    pub(super) fn with(&self, parent: &str, id: &str) -> String {
        self.path.replace("{parent_id}", parent).replace("{id}", id)
    }
}

/// A parent that waits for its children, and children that can hold on to each other.
fn kinds() -> Vec<Kind> {
    let kind = |name: &str, plural: &str| Kind {
        required_adapters: vec![AdapterName::try_from("dns").unwrap()],
        ..Kind::new(name, plural)
    };
    let needs = ReferenceRule {
        ref_type: "needs".to_owned(),
        target_kind: "NodePool".to_owned(),
        min: 0,
        max: 1,
        strength: Strength::Strong,
        on_target_delete: OnTargetDelete::Unreconcile,
    };
    let node_pool = Kind {
        parent_kind: Some("Cluster".to_owned()),
        on_parent_delete: Some(OnParentDelete::Restrict),
        references: vec![needs],
        ..kind("NodePool", "nodepools")
    };
    vec![kind("Cluster", "clusters"), node_pool]
}
