//! A small fleet on a database of its own, and the rules it lives by.

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::aggregation::{self, Rulebook, Subject};
use hyperfleet_core::deletion::is_removable;
use hyperfleet_core::effect::Effect;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::history::condition_changes;
use hyperfleet_core::identity::{AdapterName, ResourceId};
use hyperfleet_core::kind::{Kind, Registry};
use hyperfleet_core::resource::{ObjectReference, Reference, Resource, ResourceStatus};
use hyperfleet_core::time::{Time, storable};
use hyperfleet_source::SourceFile;
use hyperfleet_store::testing::TestDatabase;
use hyperfleet_store::{
    Aggregated, Author, Create, Decision, Owner, Patched, ReportWrite, Rules, Store, StoreError,
    Stored,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// Clusters need `a` and `b` to clean up; node pools cascade and need `a`; the rest needs nobody.
const KINDS: &str = r#"[
    {"kind": "Cluster", "plural": "clusters", "required_adapters": ["a", "b"],
     "references": [{"ref_type": "wif", "target_kind": "Wif"},
                    {"ref_type": "hint", "target_kind": "Hint", "strength": "weak"},
                    {"ref_type": "base", "target_kind": "Hint", "strength": "weak", "on_target_delete": "delete"}]},
    {"kind": "NodePool", "plural": "nodepools", "parent_kind": "Cluster", "on_parent_delete": "cascade",
     "required_adapters": ["a"]},
    {"kind": "Lease", "plural": "leases", "parent_kind": "Cluster", "on_parent_delete": "restrict"},
    {"kind": "Note", "plural": "notes", "parent_kind": "Cluster", "on_parent_delete": "orphan"},
    {"kind": "Wif", "plural": "wifs"},
    {"kind": "Hint", "plural": "hints"},
    {"kind": "Channel", "plural": "channels"},
    {"kind": "Version", "plural": "versions", "parent_kind": "Channel", "on_parent_delete": "cascade",
     "required_adapters": ["a"]}
]"#;

pub(crate) struct Fleet {
    pub(crate) store: Store,
    kinds: Registry,
    pub(crate) rules: Rulebook,
}

impl Rules for Fleet {
    fn kinds(&self) -> &Registry {
        &self.kinds
    }

    fn required(&self, kind: &str) -> Vec<AdapterName> {
        self.rules.rules(kind).required().to_vec()
    }

    fn aggregate(&self, stored: &Stored, at: Time) -> Aggregated {
        let subject = Subject {
            resource: &stored.resource,
            has_children: stored.has_children,
        };
        let rules = self.rules.rules(&stored.resource.kind);
        aggregation::aggregate(&subject, &stored.reports, at, rules)
    }
}

fn kinds() -> Vec<Kind> {
    serde_json::from_str(KINDS).unwrap()
}

/// The rules of the kinds with an AggregationConfig, or with none.
pub(crate) fn rules(config: &str) -> Rulebook {
    let configs = match config {
        "" => Vec::new(),
        text => AggregationConfig::read(&SourceFile::new("a.yaml", text)).unwrap(),
    };
    Rulebook::new(&kinds(), &configs).unwrap().0
}

pub(crate) fn now() -> Time {
    storable(chrono::Utc::now())
}

pub(crate) fn author() -> Author<'static> {
    Author {
        actor: "me",
        request_id: "request-1",
        at: now(),
    }
}

impl Fleet {
    pub(crate) async fn new() -> Fleet {
        Fleet::on(TestDatabase::new().await.store)
    }

    pub(crate) fn on(store: Store) -> Fleet {
        Fleet {
            store,
            kinds: Registry::new(kinds()).unwrap(),
            rules: rules(""),
        }
    }

    pub(crate) fn draft(&self, kind: &str, name: &str) -> Resource {
        let (id, at) = (ResourceId(Uuid::now_v7()), now());
        let plural = &self.kinds.kind(kind).unwrap().plural;
        let mut new = Stored {
            resource: Resource {
                id,
                kind: kind.to_owned(),
                name: name.to_owned(),
                href: format!("/api/hyperfleet/v1/{plural}/{id}"),
                spec: json!({"region": "us-east", "big": 9_007_199_254_740_993_i64})
                    .as_object()
                    .unwrap()
                    .clone(),
                labels: [("env".to_owned(), "dev".to_owned())].into(),
                tenancy: Default::default(),
                generation: Generation::FIRST,
                status: ResourceStatus::unknown(at),
                owner_references: None,
                references: Default::default(),
                created_time: at,
                updated_time: at,
                created_by: "me".to_owned(),
                updated_by: "me".to_owned(),
                deleted_time: None,
                deleted_by: None,
            },
            reports: Vec::new(),
            has_children: false,
        };
        new.resource.status = self.aggregate(&new, at).status;
        new.resource
    }

    pub(crate) fn child(&self, kind: &str, name: &str, owner: &Resource) -> Resource {
        Resource {
            owner_references: Some(point_at(owner)),
            ..self.draft(kind, name)
        }
    }

    pub(crate) async fn store_new(&self, resource: Resource) -> Result<Resource, StoreError> {
        let new = Stored {
            resource: resource.clone(),
            reports: Vec::new(),
            has_children: false,
        };
        let create = Create {
            resource: &resource,
            recheck: self.aggregate(&new, resource.created_time).recheck,
            idempotency: None,
            effect: Effect::Lasting,
        };
        self.store.create(&create, author()).await?;
        Ok(resource)
    }

    pub(crate) async fn create(&self, kind: &str, name: &str) -> Resource {
        self.store_new(self.draft(kind, name)).await.unwrap()
    }

    pub(crate) async fn create_child(&self, kind: &str, name: &str, owner: &Resource) -> Resource {
        self.store_new(self.child(kind, name, owner)).await.unwrap()
    }

    /// A cluster that points at something.
    pub(crate) async fn create_pointing(
        &self,
        name: &str,
        ref_type: &str,
        target: &Resource,
    ) -> Resource {
        let reference = Reference {
            target: point_at(target),
            missing: false,
        };
        let resource = Resource {
            references: [(ref_type.to_owned(), vec![reference])].into(),
            ..self.draft("Cluster", name)
        };
        self.store_new(resource).await.unwrap()
    }

    pub(crate) async fn read(&self, id: ResourceId) -> Option<Resource> {
        self.store.resource(None, Owner::Any, id).await.unwrap()
    }

    pub(crate) async fn delete(&self, resource: &Resource) -> Result<Option<Resource>, StoreError> {
        let outcome = self
            .store
            .delete(
                (None, Owner::Any, resource.id),
                author(),
                Effect::Lasting,
                self,
                |_| Ok::<(), ()>(()),
            )
            .await?;
        Ok(outcome.map(Result::unwrap))
    }

    pub(crate) async fn label(&self, id: ResourceId, key: &str, value: &str) -> Resource {
        self.store
            .patch(
                (None, Owner::Any, id),
                author(),
                Effect::Lasting,
                |stored| {
                    let mut resource = stored.resource.clone();
                    resource.labels.insert(key.to_owned(), value.to_owned());
                    resource.generation = resource.generation.next();
                    Ok::<_, ()>(Some(Patched {
                        detail: json!({"labels": resource.labels})
                            .as_object()
                            .unwrap()
                            .clone(),
                        resource,
                        recheck: None,
                        targets: Vec::new(),
                    }))
                },
            )
            .await
            .unwrap()
            .unwrap()
            .unwrap()
    }

    /// Reports as the API would.
    pub(crate) async fn report(
        &self,
        id: ResourceId,
        report: &AdapterStatus,
    ) -> Result<Option<()>, StoreError> {
        let target = (None, Owner::Any, id);
        let decide = |stored: &mut Stored| Ok::<_, ()>(self.decide(stored, report));
        let reported = self
            .store
            .report(target, &report.adapter, author(), self, decide)
            .await?;
        Ok(reported.map(|reported| reported.unwrap().0))
    }

    pub(crate) fn decide(&self, stored: &mut Stored, report: &AdapterStatus) -> Decision<()> {
        let before = stored.clone();
        let before_it = before.report(&report.adapter);
        stored.put(report.clone());
        let required = self.rules.rules(&stored.resource.kind).required();
        let store = if is_removable(
            &stored.resource,
            required,
            &stored.reports,
            stored.has_children,
        ) {
            *stored = before;
            ReportWrite::Last(report.clone())
        } else {
            let aggregated = self.aggregate(stored, report.last_report_time);
            stored.resource.status = aggregated.status;
            match before_it.is_some_and(|before| report.repeats(before)) {
                true => ReportWrite::Repeated,
                false => ReportWrite::Changed {
                    changes: condition_changes(before_it, report),
                    recheck: aggregated.recheck,
                },
            }
        };
        Decision { answer: (), store }
    }
}

pub(crate) fn point_at(resource: &Resource) -> ObjectReference {
    ObjectReference {
        id: resource.id,
        kind: resource.kind.clone(),
        href: resource.href.clone(),
    }
}

/// A report on a generation, with these conditions.
pub(crate) fn report(adapter: &str, generation: i32, conditions: &[(&str, &str)]) -> AdapterStatus {
    let at = now();
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|(kind, status)| {
            json!({"type": kind, "status": status, "last_transition_time": "2026-01-01T00:00:00Z"})
        })
        .collect();
    serde_json::from_value(json!({
        "adapter": adapter,
        "observed_generation": generation,
        "conditions": conditions,
        "created_time": at,
        "last_report_time": at,
    }))
    .unwrap()
}

pub(crate) fn done(adapter: &str) -> AdapterStatus {
    report(
        adapter,
        1,
        &[
            ("Available", "True"),
            ("Applied", "True"),
            ("Health", "True"),
        ],
    )
}

pub(crate) fn finalized(adapter: &str, generation: i32) -> AdapterStatus {
    report(
        adapter,
        generation,
        &[("Available", "False"), ("Finalized", "True")],
    )
}

pub(crate) fn adapter(name: &str) -> AdapterName {
    AdapterName::try_from(name).unwrap()
}
