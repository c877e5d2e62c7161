//! What can be done.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that a role allows or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// Read one resource, its reports and its history.
    Get,
    /// Read and search lists.
    List,
    /// Be told of changes.
    Watch,
    Create,
    Patch,
    Delete,
    /// Remove without waiting for the adapters.
    ForceDelete,
    /// Report a status.
    Report,
    /// Read the audit log.
    Audit,
    /// Have noted in the audit log what was done outside the API.
    Note,
    /// Announce a Sentinel, and withdraw it.
    Announce,
}

impl Verb {
    pub(crate) const ALL: [Verb; 11] = [
        Verb::Get,
        Verb::List,
        Verb::Watch,
        Verb::Create,
        Verb::Patch,
        Verb::Delete,
        Verb::ForceDelete,
        Verb::Report,
        Verb::Audit,
        Verb::Note,
        Verb::Announce,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::ForceDelete => "force-delete",
            Verb::Report => "report",
            Verb::Audit => "audit",
            Verb::Note => "note",
            Verb::Announce => "announce",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Verb> {
        Verb::ALL.into_iter().find(|verb| verb.as_str() == text)
    }

    /// Whether it is about all tenants at once.
    pub(crate) fn is_for_all_tenants(self) -> bool {
        matches!(self, Verb::Note | Verb::Announce)
    }

    /// Whether it changes anything.
    pub(crate) fn writes(self) -> bool {
        !matches!(self, Verb::Get | Verb::List | Verb::Watch | Verb::Audit)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
