//! The part of a resource that an event or a decision may need, kept in memory as compact text.
//!
//! A Sentinel holds a whole fleet: what is not needed is not kept.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Which members are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Projection {
    /// Expressions may read anything.
    All,
    /// These paths, and what every event needs.
    Paths(Vec<Vec<String>>),
}

/// What is kept in any case: the type of the event is made of the kind.
const ALWAYS: [&str; 2] = ["id", "kind"];

/// What the decision and the selector look at. Most of a fleet's bytes are words in conditions that nobody reads here.
const LOOKED_AT: [&str; 15] = [
    "id",
    "kind",
    "generation",
    "labels",
    "status.phase",
    "status.last_updated_time",
    "status.conditions.type",
    "status.conditions.status",
    "status.conditions.last_updated_time",
    "status.adapters.available",
    "status.adapters.observed_generation",
    "status.adapters.finalized",
    "created_time",
    "updated_time",
    "deleted_time",
];

impl Projection {
    pub(crate) fn keep(&self, resource: &Value) -> Box<[u8]> {
        let kept = match self {
            Projection::All => serde_json::to_vec(resource),
            Projection::Paths(paths) => {
                let mut kept = Map::new();
                for name in ALWAYS {
                    if let Some(value) = resource.get(name) {
                        kept.insert(name.to_owned(), value.clone());
                    }
                }
                for path in paths {
                    copy(resource, path, &mut kept);
                }
                serde_json::to_vec(&kept)
            }
        };
        // Values that were JSON can be written as JSON.
        kept.unwrap_or_default().into_boxed_slice()
    }

    /// What to ask the API for, so that it sends no more than is looked at; `None` is everything.
    pub(crate) fn fields(&self) -> Option<String> {
        let Projection::Paths(paths) = self else {
            return None;
        };
        let mut fields: BTreeSet<String> = paths
            .iter()
            .filter_map(|path| path.first().cloned())
            .collect();
        let whole_status = fields.contains("status");
        let looked_at = LOOKED_AT
            .into_iter()
            .filter(|field| !(whole_status && field.starts_with("status.")));
        fields.extend(looked_at.map(str::to_owned));
        Some(fields.into_iter().collect::<Vec<_>>().join(","))
    }

    /// The kept part, as JSON again.
    pub(crate) fn read(kept: &[u8]) -> Value {
        serde_json::from_slice(kept).unwrap_or_default()
    }
}

fn copy(from: &Value, path: &[String], to: &mut Map<String, Value>) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let Some(value) = from.get(first) else {
        return;
    };
    if rest.is_empty() {
        to.insert(first.clone(), value.clone());
        return;
    }
    let inner = to
        .entry(first.clone())
        .or_insert_with(|| Value::Object(Map::new()));
    // A shorter path may have copied the whole of it already.
    if let Value::Object(inner) = inner {
        copy(value, rest, inner);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_api_is_asked_for_no_more_than_is_looked_at() {
        let of = |path: &str| Projection::Paths(vec![vec![path.to_owned()]]).fields();
        let narrow = of("href").unwrap();
        assert_eq!(
            narrow,
            "created_time,deleted_time,generation,href,id,kind,labels,status.adapters.available,\
             status.adapters.finalized,status.adapters.observed_generation,status.conditions.last_updated_time,\
             status.conditions.status,status.conditions.type,status.last_updated_time,status.phase,updated_time"
        );
        let whole = of("status").unwrap();
        assert!(
            whole.contains(",status,") && !whole.contains("status."),
            "{whole}"
        );
        assert_eq!(Projection::All.fields(), None);
    }

    #[test]
    fn only_what_is_needed_is_kept() {
        let resource = json!({
            "id": "c1", "kind": "Cluster", "spec": {"big": "x".repeat(100), "region": "us"},
            "labels": {"a": "1", "b": "2"}, "name": "one",
        });
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        let projection = Projection::Paths(vec![
            path("spec.region"),
            path("labels.a"),
            path("labels"),
            path("no.such"),
        ]);
        assert_eq!(
            Projection::read(&projection.keep(&resource)),
            json!({"id": "c1", "kind": "Cluster", "spec": {"region": "us"}, "labels": {"a": "1", "b": "2"}})
        );
        assert_eq!(Projection::read(&Projection::All.keep(&resource)), resource);
    }
}
