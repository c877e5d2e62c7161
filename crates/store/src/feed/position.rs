//! A place in the feed, as it is held and as it is written.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use hyperfleet_core::identity::ResourceId;
use uuid::Uuid;

/// A place in the feed to resume from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pub(super) read: Place,
    /// Up to where everything was told, when that is not all that was read.
    pub(super) told: Option<Arc<Place>>,
}

/// A set of transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The first transaction that was not known to exist.
    pub(super) next: u64,
    /// Earlier transactions that had not ended.
    pub(super) open: Vec<u64>,
    /// Of the changes of `next` itself, those up to this id are known.
    pub(super) after: Option<Uuid>,
}

/// A text that is no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a position of the change feed")]
pub struct NotAPosition;

/// More running transactions than any PostgreSQL is set up for.
const MAX_OPEN: usize = 4096;

impl Position {
    /// The same place, for somebody who was told everything only up to where `since` was.
    #[must_use]
    pub fn told_since(&self, since: &Position) -> Position {
        Position {
            read: self.read.clone(),
            told: Some(since.told()),
        }
    }

    /// The same place for somebody who was not told what another position does not cover, and will be told by whoever
    /// goes on from there.
    #[must_use]
    pub fn without(mut self, other: &Position) -> Position {
        let missing = other.read.open.iter().copied();
        let missing = missing.filter(|mark| *mark < self.read.next);
        self.read.open.extend(missing);
        self.read.open.sort_unstable();
        self.read.open.dedup();
        self
    }

    /// Up to where everything was told.
    pub(super) fn told(&self) -> Arc<Place> {
        let told = self.told.clone();
        told.unwrap_or_else(|| Arc::new(self.read.clone()))
    }
}

impl Place {
    /// Whether what a transaction did to a resource is among it.
    pub(super) fn knows(&self, mark: u64, id: ResourceId) -> bool {
        if mark == self.next {
            return self.after.is_some_and(|after| id.0 <= after);
        }
        mark < self.next && !self.open.contains(&mark)
    }

    /// The place right after one change that was seen from this snapshot.
    pub(super) fn right_after(&self, mark: u64, id: Uuid) -> Place {
        let open = self.open.iter().copied();
        Place {
            next: mark,
            open: open.filter(|open| *open < mark).collect(),
            after: Some(id),
        }
    }

    /// Reads `xmin:xmax:xip,xip`.
    pub(super) fn from_snapshot(text: &str) -> Option<Place> {
        let mut parts = text.split(':').skip(1);
        let next = parts.next()?.parse().ok()?;
        let open = parts
            .next()?
            .split(',')
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().ok())
            .collect::<Option<Vec<u64>>>()?;
        Some(Place {
            next,
            open,
            after: None,
        })
    }

    fn parse(next: &str, open: &str, after: &str) -> Result<Place, NotAPosition> {
        let number = |text: &str| -> Result<u64, NotAPosition> {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            plain
                .then(|| text.parse().ok())
                .flatten()
                .ok_or(NotAPosition)
        };
        let open = open
            .split('_')
            .filter(|number| !number.is_empty())
            .map(number)
            .collect::<Result<Vec<u64>, _>>()?;
        if open.len() > MAX_OPEN {
            return Err(NotAPosition);
        }
        let after = match after {
            "" => None,
            after => Some(Uuid::try_parse(after).map_err(|_| NotAPosition)?),
        };
        Ok(Place {
            next: number(next)?,
            open,
            after,
        })
    }
}

/// `<next>.<open>_<open>.<after>`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.next)?;
        for (index, open) in self.open.iter().enumerate() {
            let separator = if index == 0 { "" } else { "_" };
            write!(f, "{separator}{open}")?;
        }
        f.write_str(".")?;
        match self.after {
            Some(after) => write!(f, "{}", after.simple()),
            None => Ok(()),
        }
    }
}

/// `1.<read>`, and `.<told>` when that is another place: opaque to callers, safe in a URL and in a header.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.read)?;
        match &self.told {
            Some(told) => write!(f, ".{told}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Position {
    type Err = NotAPosition;

    fn from_str(text: &str) -> Result<Position, NotAPosition> {
        let parts: Vec<&str> = text.split('.').collect();
        let (read, told) = match parts[..] {
            ["1", next, open, after] => (Place::parse(next, open, after)?, None),
            ["1", next, open, after, told_next, told_open, told_after] => (
                Place::parse(next, open, after)?,
                Some(Place::parse(told_next, told_open, told_after)?),
            ),
            _ => return Err(NotAPosition),
        };
        Ok(Position {
            read,
            told: told.map(Arc::new),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_written() {
        let early = Place {
            next: 7,
            open: Vec::new(),
            after: None,
        };
        let late = Place {
            next: u64::MAX,
            open: vec![3, 5],
            after: Some(Uuid::now_v7()),
        };
        for (read, told) in [
            (early.clone(), None),
            (late.clone(), None),
            (late.clone(), Some(early)),
            (late.clone(), Some(late)),
        ] {
            let told = told.map(Arc::new);
            let position = Position { read, told };
            assert_eq!(position.to_string().parse(), Ok(position));
        }
    }

    #[test]
    fn what_is_no_position_is_refused() {
        for text in [
            "",
            "7",
            "1.7",
            "1.7.",
            "2.7..",
            "1.x..",
            "1.+7..",
            "1.7.a.",
            "1.7..zz",
            "1.7...",
            "1.7..\0",
            "1.7...8",
            "1.7...8.",
            "1.7...8..zz",
            "1.7...8...",
        ] {
            assert_eq!(text.parse::<Position>(), Err(NotAPosition), "{text}");
        }
    }
}
