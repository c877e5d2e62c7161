//! Walking a list from mark to mark.

use super::order::Direction;
use crate::identity::ResourceId;
use crate::time::Time;

/// An order by something that never changes: whatever happens to a resource, it stays where it is in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeysetOrder {
    pub column: KeysetColumn,
    pub direction: Direction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeysetColumn {
    CreatedTime,
    Name,
    Id,
}

/// Where a walk stands: the last resource it met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub key: Key,
    pub id: ResourceId,
}

/// What the resource is ordered by besides its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    CreatedTime(Time),
    Name(String),
    Id,
}

impl Key {
    pub fn column(&self) -> KeysetColumn {
        match self {
            Key::CreatedTime(_) => KeysetColumn::CreatedTime,
            Key::Name(_) => KeysetColumn::Name,
            Key::Id => KeysetColumn::Id,
        }
    }
}
