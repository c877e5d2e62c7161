//! What the caller of one request may do, and what it sees.

use std::sync::Arc;

use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::{Sight, View};

use crate::authz::{Grant, Grants, Rule, Verb};
use crate::tenant::Tenant;

/// Grants of a caller, in the tenant of a request.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// `None` while callers need not say who they are: everything is allowed.
    pub(crate) grants: Option<Arc<Grants>>,
    pub(crate) tenant: Tenant,
}

impl Access {
    /// Of everybody, while nothing is configured.
    pub(crate) const OPEN: Access = Access {
        grants: None,
        tenant: Tenant::Off,
    };

    /// Whether the verb is allowed on anything of the kind; without a kind, on anything.
    pub(crate) fn may(&self, verb: Verb, kind: Option<&str>) -> bool {
        match &self.grants {
            None => true,
            Some(grants) => self.rules(grants, verb, kind).next().is_some(),
        }
    }

    /// Whether the verb is allowed on this resource.
    pub(crate) fn permits(&self, verb: Verb, resource: &Resource) -> bool {
        self.sight(&[verb], Some(&resource.kind))
            .is_none_or(|sight| sight.holds(resource))
    }

    /// Whether a report on this resource may be made in this adapter's name.
    pub(crate) fn reports_as(&self, adapter: &AdapterName, resource: &Resource) -> bool {
        let Some(grants) = &self.grants else {
            return true;
        };
        self.rules(grants, Verb::Report, Some(&resource.kind))
            .filter(|(grant, _)| {
                let names = grant.adapters.as_ref();
                names.is_none_or(|names| names.contains(adapter))
            })
            .any(|(_, rule)| Sight::new(self.views(rule, Some(&resource.kind))).holds(resource))
    }

    /// What can be seen by whoever may do one of the verbs; `None` is everything.
    pub(crate) fn sight(&self, verbs: &[Verb], kind: Option<&str>) -> Option<Arc<Sight>> {
        let open = View::default();
        let views: Vec<View> = match (&self.grants, &self.tenant) {
            (None, Tenant::Off | Tenant::System) => return None,
            (None, Tenant::Of(tenancy)) => vec![View {
                tenancy: (**tenancy).clone(),
                ..open
            }],
            (Some(grants), _) => {
                let of_verbs = verbs
                    .iter()
                    .flat_map(|verb| self.rules(grants, *verb, kind));
                let mut views = Vec::new();
                for view in of_verbs.flat_map(|(_, rule)| self.views(rule, kind)) {
                    if view == open {
                        return None;
                    }
                    if !views.contains(&view) {
                        views.push(view);
                    }
                }
                views
            }
        };
        Some(Arc::new(Sight::new(views)))
    }

    /// What anybody in the tenant can see.
    pub(crate) fn tenant_sight(&self) -> Option<Arc<Sight>> {
        match &self.tenant {
            Tenant::Off | Tenant::System => None,
            Tenant::Of(tenancy) => Some(Arc::new(Sight::new(vec![View {
                tenancy: (**tenancy).clone(),
                ..View::default()
            }]))),
        }
    }

    /// The rules that speak of a verb and a kind, of grants that hold in this tenant.
    fn rules<'a>(
        &'a self,
        grants: &'a Grants,
        verb: Verb,
        kind: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Grant, &'a Rule)> {
        let here = |grant: &&Grant| match &self.tenant {
            // A grant for one tenant says nothing about all of them.
            Tenant::Off | Tenant::System => grant.tenant.is_empty(),
            Tenant::Of(tenancy) => grant
                .tenant
                .iter()
                .all(|(key, value)| tenancy.get(key) == Some(value)),
        };
        grants
            .iter()
            .filter(here)
            .flat_map(|grant| grant.role.rules.iter().map(move |rule| (grant, rule)))
            .filter(move |(_, rule)| rule.speaks_of(verb, kind))
    }

    fn views(&self, rule: &Rule, kind: Option<&str>) -> Vec<View> {
        let view = View {
            kind: None,
            tenancy: self.tenant.stamp(),
            labels: rule.labels.clone(),
        };
        match (&rule.kinds, kind) {
            // The request names the kind, and the rule speaks of it.
            (None, _) | (Some(_), Some(_)) => vec![view],
            (Some(kinds), None) => kinds
                .iter()
                .map(|kind| View {
                    kind: Some(kind.clone()),
                    ..view.clone()
                })
                .collect(),
        }
    }
}
