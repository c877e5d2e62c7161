//! Ids in few bytes: almost all of them are UUIDs.

use std::fmt;

use hyperfleet_core::identity::ResourceId;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Uuid(ResourceId),
    /// Another API may have other ids.
    Other(Box<str>),
}

impl Id {
    pub(crate) fn new(text: &str) -> Id {
        ResourceId::parse(text).map_or_else(|| Id::Other(text.into()), Id::Uuid)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Uuid(id) => id.fmt(f),
            Id::Other(text) => f.write_str(text),
        }
    }
}
