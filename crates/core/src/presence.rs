//! Sentinels that are there: what they say about themselves, and what they are told.
//!
//! Those with the same name, kind and selector share their work if they say so; any other two that may mean the same
//! resource are told about each other.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::shard::{Member, Shards, assign};
use crate::time::Time;

/// What a Sentinel says about itself, again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Announcement {
    /// What its replicas are called as well.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// The kind it watches, by the plural in its path.
    #[schemars(length(min = 1, max = 255))]
    pub resource_type: String,
    /// Only resources that have all these labels; everything if it is left out.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 64))]
    pub selector: BTreeMap<String, String>,
    /// Whether it shares the work with its replicas; otherwise it only says that it is there.
    #[serde(default)]
    pub shares: bool,
    /// Which of the shards it holds it wants to keep; it has stopped working on all others.
    #[serde(default)]
    pub keep: Shards,
    /// It will let go of everything soon, and takes nothing more.
    #[serde(default)]
    pub leaving: bool,
    /// How long this holds if nothing more is heard.
    #[schemars(range(min = 1, max = 3600))]
    pub duration_seconds: u32,
    /// By what it decides when something is due, in the keys of its configuration; nothing if it does not say.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub decides: Map<String, Value>,
}

impl Announcement {
    /// Longest name or kind, and the most labels.
    pub const MAX_NAME: usize = 255;
    pub const MAX_LABELS: usize = 64;
    pub const MAX_SECONDS: u32 = 3600;
    /// The most bytes of `decides`, written down.
    pub const MAX_DECIDES: usize = 16 * 1024;

    /// Whether it and another share their work.
    pub fn shares_with(&self, other: &Presence) -> bool {
        self.shares
            && other.shares
            && (&self.name, &self.resource_type, &self.selector)
                == (&other.name, &other.resource_type, &other.selector)
    }

    /// What it is told, given who else is there.
    pub fn standing(&self, others: Vec<Presence>) -> Standing {
        let replicas: Vec<Member> = others
            .iter()
            .filter(|other| self.shares_with(other))
            .map(|other| Member {
                held: other.held,
                leaving: other.leaving,
            })
            .collect();
        let (held, share, more) = if self.shares {
            let given = assign(self.keep, self.leaving, &replicas);
            (given.held, given.share, given.more)
        } else {
            (Shards::NONE, 0, false)
        };
        Standing {
            held,
            share,
            more,
            replicas: u32::try_from(replicas.len() + 1).unwrap_or(u32::MAX),
            overlaps: others
                .into_iter()
                .filter(|other| self.overlaps(other))
                .collect(),
        }
    }

    /// Whether both may send events about the same resource.
    pub fn overlaps(&self, other: &Presence) -> bool {
        self.resource_type == other.resource_type
            && !self.shares_with(other)
            && may_select_the_same(&self.selector, &other.selector)
    }
}

/// Nothing has two values for one label; whatever else they say, some resource may fit both.
fn may_select_the_same(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> bool {
    one.iter()
        .all(|(label, value)| other.get(label).is_none_or(|other| other == value))
}

/// What a Sentinel is told when it announces itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// The shards it holds: nobody else does. It must let go of those above its share.
    pub held: Shards,
    /// How many it should hold.
    pub share: u32,
    /// Others will let go of some soon: worth asking again at once.
    pub more: bool,
    /// How many share the work, itself among them.
    pub replicas: u32,
    /// Those that may send events about the same resources and do not share the work.
    pub overlaps: Vec<Presence>,
}

/// A Sentinel that has announced itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Presence {
    pub id: Uuid,
    pub name: String,
    pub resource_type: String,
    pub selector: BTreeMap<String, String>,
    pub shares: bool,
    pub held: Shards,
    pub leaving: bool,
    /// Until when this holds if nothing more is heard.
    pub expires_time: Time,
    /// By what it decides when something is due, if it said so.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub decides: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> BTreeMap<String, String> {
        text.split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .map(|(label, value)| (label.to_owned(), value.to_owned()))
            .collect()
    }

    fn presence(name: &str, selector: &str, shares: bool) -> Presence {
        Presence {
            id: Uuid::nil(),
            name: name.to_owned(),
            resource_type: "clusters".to_owned(),
            selector: labels(selector),
            shares,
            held: Shards::NONE,
            leaving: false,
            expires_time: Time::UNIX_EPOCH,
            decides: Map::new(),
        }
    }

    fn announced(name: &str, selector: &str, shares: bool) -> Announcement {
        Announcement {
            name: name.to_owned(),
            resource_type: "clusters".to_owned(),
            selector: labels(selector),
            shares,
            keep: Shards::NONE,
            leaving: false,
            duration_seconds: 15,
            decides: Map::new(),
        }
    }

    #[test]
    fn selectors_overlap_unless_a_label_tells_them_apart() {
        let overlap = |one: &str, other: &str| {
            announced("a", one, true).overlaps(&presence("b", other, true))
        };
        assert!(overlap("", ""));
        assert!(overlap("", "region=us"));
        assert!(overlap("region=us", "env=dev"), "one may have both labels");
        assert!(overlap("region=us env=dev", "region=us"));
        assert!(!overlap("region=us", "region=eu"));
        assert!(!overlap("region=us env=dev", "region=eu env=dev"));
    }

    #[test]
    fn replicas_overlap_only_when_they_do_not_share() {
        let one = announced("a", "region=us", true);
        assert!(!one.overlaps(&presence("a", "region=us", true)));
        assert!(one.overlaps(&presence("a", "region=us", false)));
        assert!(one.overlaps(&presence("a", "", true)), "another selector");
        let mut other_kind = presence("b", "", false);
        other_kind.resource_type = "nodepools".to_owned();
        assert!(!one.overlaps(&other_kind));
    }
}
