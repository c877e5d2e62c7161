//! Ids in few bytes: almost all of them are UUIDs.

use std::fmt;

use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::shard::{self, Shard};

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

    fn bytes(&self) -> &[u8] {
        match self {
            Id::Uuid(id) => id.0.as_bytes(),
            Id::Other(text) => text.as_bytes(),
        }
    }

    /// Which of the replicas' shares it belongs to.
    pub(crate) fn shard(&self) -> Shard {
        Shard::of(self.bytes())
    }

    /// From 0 to 1, always the same for one id: what its moments are spread by. Not made of what the shard is made of,
    /// so that every shard has all of it.
    pub(crate) fn spread(&self) -> f64 {
        f64::from(shard::hash(self.bytes()) as u32) / f64::from(u32::MAX)
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
