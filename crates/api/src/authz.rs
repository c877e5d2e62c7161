//! Who may do what.
//!
//! ```text
//!   identity, groups, issuer ──► bindings ──► roles ──► rules: verbs × kinds × labels
//!                                   │ tenant                       │
//!                                   ▼                              ▼
//!                    Grants (once for each token) ──► Access: may it? what does it see?
//! ```
//!
//! Who may do something to some resources of a kind but not to this one is told so if they can see it (403), and that
//! it is not there if they cannot (404).

mod role;
mod setup;
mod verb;

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperfleet_core::identity::AdapterName;

pub(crate) use role::{ADAPTER, Role, Rule, SENTINEL};
pub use setup::PolicyError;
pub use verb::Verb;

/// Roles and bindings, as configured.
#[derive(Debug)]
pub(crate) struct Policy {
    bindings: Vec<Binding>,
    default_role: Option<Arc<Role>>,
}

#[derive(Debug)]
struct Binding {
    identities: Vec<String>,
    groups: Vec<String>,
    issuer: Option<String>,
    grant: Grant,
}

/// A role that somebody has, and where.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    pub(crate) role: Arc<Role>,
    /// Dimensions the tenant of the request must have. Empty is every tenant.
    pub(crate) tenant: BTreeMap<String, String>,
    /// The adapters that may be reported as; `None` is any.
    pub(crate) adapters: Option<Vec<AdapterName>>,
}

/// Everything somebody was granted.
#[derive(Debug, Default)]
pub(crate) struct Grants(Vec<Grant>);

/// What the bindings look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// `None` when the caller has no name.
    pub(crate) identity: Option<&'a str>,
    pub(crate) groups: &'a [String],
    pub(crate) issuer: &'a str,
}

impl Policy {
    pub(crate) fn grants(&self, subject: Subject<'_>) -> Grants {
        let named = |binding: &Binding| {
            let by_name = subject
                .identity
                .is_some_and(|identity| binding.identities.iter().any(|name| name == identity));
            let by_group = binding
                .groups
                .iter()
                .any(|group| subject.groups.contains(group));
            let issued = binding.issuer.as_deref();
            (by_name || by_group) && issued.is_none_or(|issuer| issuer == subject.issuer)
        };
        let mut grants: Vec<Grant> = self
            .bindings
            .iter()
            .filter(|binding| named(binding))
            .map(|binding| binding.grant.clone())
            .collect();
        if grants.is_empty() {
            grants.extend(self.default_role.clone().map(|role| Grant {
                role,
                tenant: BTreeMap::new(),
                adapters: None,
            }));
        }
        Grants(grants)
    }
}

impl Grants {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.0.iter()
    }

    /// Whether one of the roles is this one.
    pub(crate) fn has_role(&self, name: &str) -> bool {
        self.0.iter().any(|grant| grant.role.name == name)
    }
}
