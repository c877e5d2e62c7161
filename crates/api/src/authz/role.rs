//! Roles.

use std::collections::BTreeMap;

use super::verb::Verb;

/// Everything that one of its rules allows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Role {
    pub(crate) name: String,
    pub(crate) rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) verbs: Vec<Verb>,
    /// `None` is all kinds.
    pub(crate) kinds: Option<Vec<String>>,
    pub(crate) labels: BTreeMap<String, String>,
}

impl Rule {
    /// Whether it says anything about a verb and a kind; without a kind, about any kind.
    pub(crate) fn speaks_of(&self, verb: Verb, kind: Option<&str>) -> bool {
        self.verbs.contains(&verb)
            && match (&self.kinds, kind) {
                (Some(kinds), Some(kind)) => kinds.iter().any(|listed| listed == kind),
                _ => true,
            }
    }
}

/// The role that reports must be bound to names for.
pub(crate) const ADAPTER: &str = "adapter";
pub(crate) const SENTINEL: &str = "sentinel";

impl Role {
    /// Those there are without being configured.
    pub(crate) fn built_in() -> Vec<Role> {
        use Verb::{Announce, Create, Delete, Get, List, Note, Patch, Report, Watch};
        let role = |name: &str, verbs: &[Verb]| Role {
            name: name.to_owned(),
            rules: vec![Rule {
                verbs: verbs.to_vec(),
                kinds: None,
                labels: BTreeMap::new(),
            }],
        };
        vec![
            role("viewer", &[Get, List, Watch]),
            role("operator", &[Get, List, Watch, Create, Patch, Delete]),
            role("admin", &Verb::ALL),
            role(ADAPTER, &[Get, List, Report]),
            role(SENTINEL, &[Get, List, Watch, Announce]),
            role("sweeper", &[Get, List, Note]),
        ]
    }
}
