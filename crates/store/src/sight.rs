//! What a caller can see. To everybody else a resource is not there: it is not found, not counted, not told of.
//!
//! The rule is applied where rows are found, so that no caller of the store can forget it: a [`Store`] that is
//! [`seen_by`](Store::seen_by) somebody finds nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperfleet_core::resource::Resource;
use serde::Serialize;

use crate::database::Store;
use crate::search::Sql;

/// Everything that one of several views shows. Without any, nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Sight {
    views: Vec<View>,
}

/// Resources of a kind, of a tenant, with certain labels. What is not said is not restricted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct View {
    pub kind: Option<String>,
    /// Dimensions of tenancy that a resource must have.
    pub tenancy: BTreeMap<String, String>,
    /// Labels that a resource must have.
    pub labels: BTreeMap<String, String>,
}

impl View {
    fn holds(&self, resource: &Resource, labels: &BTreeMap<String, String>) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == resource.kind)
            && within(&self.tenancy, &resource.tenancy)
            && within(&self.labels, labels)
    }
}

fn within(wanted: &BTreeMap<String, String>, there: &BTreeMap<String, String>) -> bool {
    wanted
        .iter()
        .all(|(key, value)| there.get(key) == Some(value))
}

impl Sight {
    pub fn new(views: Vec<View>) -> Sight {
        Sight { views }
    }

    /// The same rule for a resource that is at hand.
    pub fn holds(&self, resource: &Resource) -> bool {
        self.holds_with(resource, &resource.labels)
    }

    /// The same if the resource had other labels.
    pub fn holds_with(&self, resource: &Resource, labels: &BTreeMap<String, String>) -> bool {
        self.views.iter().any(|view| view.holds(resource, labels))
    }

    /// Appends the rule as a condition on `r`, in a form that indexes can be used for.
    pub(crate) fn push(&self, sql: &mut Sql) {
        sql.push("(");
        if self.views.is_empty() {
            sql.push("false");
        }
        for (index, view) in self.views.iter().enumerate() {
            if index > 0 {
                sql.push(" OR ");
            }
            sql.push("(true");
            if let Some(kind) = &view.kind {
                sql.push(" AND r.kind = ").push_bind(kind.clone());
            }
            if !view.tenancy.is_empty() {
                // Said as the index over tenancies says it.
                sql.push(" AND r.tenancy <> '{}' AND r.tenancy @> ")
                    .push_bind(sqlx::types::Json(view.tenancy.clone()));
            }
            if !view.labels.is_empty() {
                let facets: Vec<String> = view
                    .labels
                    .iter()
                    .map(|(key, value)| format!("label:{key}={value}"))
                    .collect();
                sql.push(" AND r.facets @> ").push_bind(facets);
            }
            sql.push(")");
        }
        sql.push(")");
    }
}

impl Store {
    /// The same store as somebody sees it; `None` sees everything.
    pub fn seen_by(&self, sight: Option<Arc<Sight>>) -> Store {
        let mut store = self.clone();
        store.sight = sight;
        store
    }

    /// What statements about one row bind for [`seen`].
    pub(crate) fn sight(&self) -> Option<sqlx::types::Json<&Sight>> {
        self.sight.as_deref().map(sqlx::types::Json)
    }
}

/// The rule as a condition on a row that is found by its key: `$parameter` is bound to [`Store::sight`].
macro_rules! seen {
    ($parameter:literal, $kind:literal, $tenancy:literal, $labels:literal) => {
        concat!(
            " AND (",
            $parameter,
            "::jsonb IS NULL OR EXISTS (SELECT 1 FROM jsonb_array_elements(",
            $parameter,
            ") v WHERE (v ->> 'kind' IS NULL OR v ->> 'kind' = ",
            $kind,
            ") AND ",
            $tenancy,
            " @> (v -> 'tenancy') AND ",
            $labels,
            " @> (v -> 'labels')))"
        )
    };
    ($parameter:literal) => {
        crate::sight::seen!($parameter, "r.kind", "r.tenancy", "r.labels")
    };
}
pub(crate) use seen;
