//! Work shared among replicas: each holds some ranges of a hash of the ids, and nobody holds another's.
//!
//! ```text
//!   id ──hash──► one of 64 shards ──► its holder
//!   assign(what I keep, the others) ──► what I hold, my fair share, whether more is on its way
//! ```

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// One of [`Shards::COUNT`] ranges of the hash of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard(u8);

impl Shard {
    /// The shard of an id. Replicas of different versions must agree on it: it never changes.
    pub fn of(id: &[u8]) -> Shard {
        Shard((hash(id) >> 58) as u8)
    }
}

/// A number for an id, the same in every version: FNV-1a, then the finaliser of MurmurHash3, so that ids that differ
/// only in their first bytes (time) spread too.
pub fn hash(id: &[u8]) -> u64 {
    let fnv = id.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

/// A set of shards. As JSON, their numbers in order.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
#[schemars(extend("items" = {"type": "integer", "minimum": 0, "maximum": 63}))]
pub struct Shards(u64);

/// A number that no shard has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no shard {0}; they are numbered 0 to 63")]
pub struct NoSuchShard(u32);

impl Shards {
    /// How many there are. Fixed, so that replicas cannot disagree about it.
    pub const COUNT: u32 = 64;
    pub const NONE: Shards = Shards(0);
    pub const ALL: Shards = Shards(u64::MAX);

    /// From one bit each, as they are stored.
    pub fn from_bits(bits: u64) -> Shards {
        Shards(bits)
    }

    pub fn bits(self) -> u64 {
        self.0
    }

    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, shard: Shard) -> bool {
        self.0 & (1 << shard.0) != 0
    }

    #[must_use]
    pub fn with(self, others: Shards) -> Shards {
        Shards(self.0 | others.0)
    }

    #[must_use]
    pub fn without(self, others: Shards) -> Shards {
        Shards(self.0 & !others.0)
    }

    /// No more than `most` of them, always the same ones.
    #[must_use]
    pub fn first(self, most: u32) -> Shards {
        self.numbers()
            .take(most as usize)
            .fold(Shards::NONE, |taken, number| {
                taken.with(Shards(1 << number))
            })
    }

    fn numbers(self) -> impl Iterator<Item = u32> {
        (0..Shards::COUNT).filter(move |number| self.0 & (1 << number) != 0)
    }
}

impl fmt::Debug for Shards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.numbers()).finish()
    }
}

impl From<Shards> for Vec<u32> {
    fn from(shards: Shards) -> Vec<u32> {
        shards.numbers().collect()
    }
}

impl TryFrom<Vec<u32>> for Shards {
    type Error = NoSuchShard;

    fn try_from(numbers: Vec<u32>) -> Result<Shards, NoSuchShard> {
        numbers.into_iter().try_fold(Shards::NONE, |set, number| {
            let known = number < Shards::COUNT;
            known
                .then(|| set.with(Shards(1 << number)))
                .ok_or(NoSuchShard(number))
        })
    }
}

/// One of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub held: Shards,
    /// It will let go of everything soon.
    pub leaving: bool,
}

/// What one member gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// Nobody else has these. Those above the share are to be let go, by stopping the work on them and saying so.
    pub held: Shards,
    pub share: u32,
    /// Others hold more than their share, so that there will be something to take soon.
    pub more: bool,
}

/// What a member holds from now on, given what it wants to keep and what the others have.
pub fn assign(keep: Shards, leaving: bool, others: &[Member]) -> Assignment {
    let staying = others.iter().filter(|other| !other.leaving).count() + usize::from(!leaving);
    let fair = Shards::COUNT.div_ceil(u32::try_from(staying.max(1)).unwrap_or(u32::MAX));
    let share = |leaving: bool| if leaving { 0 } else { fair };
    let taken = others
        .iter()
        .fold(Shards::NONE, |taken, other| taken.with(other.held));
    let kept = keep.without(taken);
    let free = Shards::ALL.without(taken).without(kept);
    let held = kept.with(free.first(share(leaving).saturating_sub(kept.count())));
    let surplus = others
        .iter()
        .any(|other| other.held.count() > share(other.leaving));
    Assignment {
        held,
        share: share(leaving),
        more: surplus && held.count() < share(leaving),
    }
}
