//! Whether an object may go: a function of the object, the keys, and what the API said about its owner.

use std::fmt;

use hyperfleet_core::deletion::DeletionRecord;
use hyperfleet_core::ownership::{Keyring, OWNERSHIP};
use hyperfleet_transport::claim;
use serde::Serialize;
use serde_json::Value;

/// What the API said about an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is there.
    Exists,
    /// It is there, and its adapters are cleaning up.
    Deleting,
    /// It is gone, and this is how it went.
    Removed(Box<DeletionRecord>),
    /// The API does not have it and does not say that it ever did.
    Absent,
    /// There was no answer, or one that says nothing.
    Unclear(String),
}

/// What is to be done with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Keep(Keep),
    /// It goes.
    Sweep(Sweep),
}

/// Why an object stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// There is no key to verify anything with.
    NoKey,
    /// It names no owner.
    NoOwner,
    /// It carries no signature.
    Unsigned,
    /// Its signature was not made for it by one of our keys.
    Forged,
    /// It is on its way out already.
    BeingDeleted,
    /// Its owner exists.
    OwnerExists,
    /// Its owner is being deleted, and the adapter does the rest.
    OwnerDeleting,
    /// The API has no record of the owner's deletion.
    Unproven,
    /// The API did not say.
    Unanswered(String),
    /// Absence is trusted, but too much is absent.
    Breaker,
    /// Absence is trusted, but not in a pass that did not see everything.
    Incomplete,
    /// A namespace in which something has an owner, or may have one.
    Inhabited,
    /// As many as one pass may delete are being deleted.
    Later,
    /// It was changed, or replaced, since it was judged.
    Changed,
    /// It was gone when its turn came.
    Gone,
    /// This process was told to stop, or is no longer the one that sweeps.
    Stopped,
}

/// Why an object goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// The API has the record of its owner's removal.
    Removed(Box<DeletionRecord>),
    /// The API does not know its owner, and was said to be trusted with that.
    Absent,
}

/// What it means that the API does not know an owner and shows no record of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// Nothing: it may be another API, or one that was restored from an old backup.
    #[default]
    ProvesNothing,
    /// That the owner is gone: the API keeps no records, and somebody said that it can be trusted.
    Proves,
}

/// The owner an object proves to have; otherwise why it stays whatever the API says.
pub fn owner<'o>(object: &'o Value, keys: Option<&Keyring>) -> Result<&'o str, Keep> {
    let keys = keys.ok_or(Keep::NoKey)?;
    let claim = claim(object).ok_or(Keep::NoOwner)?;
    let signature = object["metadata"]["annotations"][OWNERSHIP]
        .as_str()
        .ok_or(Keep::Unsigned)?;
    if !keys.verify(&claim, signature) {
        return Err(Keep::Forged);
    }
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return Err(Keep::BeingDeleted);
    }
    Ok(claim.resource_id)
}

/// Whether an object may go, given what the API said about the owner it names. A record of another resource's removal
/// is none of this one's.
pub fn judge(object: &Value, keys: Option<&Keyring>, answer: &Answer, absence: Absence) -> Verdict {
    let owner = match owner(object, keys) {
        Ok(owner) => owner,
        Err(reason) => return Verdict::Keep(reason),
    };
    match answer {
        Answer::Removed(record) if record.id.to_string() == owner => {
            Verdict::Sweep(Sweep::Removed(record.clone()))
        }
        Answer::Removed(record) => Verdict::Keep(Keep::Unanswered(format!(
            "the API answered with the removal of another resource, {}",
            record.id
        ))),
        Answer::Exists => Verdict::Keep(Keep::OwnerExists),
        Answer::Deleting => Verdict::Keep(Keep::OwnerDeleting),
        Answer::Absent => match absence {
            Absence::ProvesNothing => Verdict::Keep(Keep::Unproven),
            Absence::Proves => Verdict::Sweep(Sweep::Absent),
        },
        Answer::Unclear(why) => Verdict::Keep(Keep::Unanswered(why.clone())),
    }
}

impl Keep {
    /// One word, for metrics and programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Keep::NoKey => "no_key",
            Keep::NoOwner => "no_owner",
            Keep::Unsigned => "unsigned",
            Keep::Forged => "forged",
            Keep::BeingDeleted => "being_deleted",
            Keep::OwnerExists => "owner_exists",
            Keep::OwnerDeleting => "owner_deleting",
            Keep::Unproven => "unproven",
            Keep::Unanswered(_) => "unanswered",
            Keep::Breaker => "breaker",
            Keep::Incomplete => "incomplete",
            Keep::Inhabited => "inhabited",
            Keep::Later => "later",
            Keep::Changed => "changed",
            Keep::Gone => "gone",
            Keep::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Keep::NoKey => "there is no key to verify its signature with",
            Keep::NoOwner => "it names no owner",
            Keep::Unsigned => "it carries no signature",
            Keep::Forged => "its signature is not one of ours for this object",
            Keep::BeingDeleted => "it is being deleted already",
            Keep::OwnerExists => "its owner exists",
            Keep::OwnerDeleting => "its owner is being deleted; the adapter cleans up",
            Keep::Unproven => "the API has no record that its owner was deleted",
            Keep::Unanswered(why) => return write!(f, "the API did not say: {why}"),
            Keep::Breaker => "more owners are absent than one pass may trust",
            Keep::Incomplete => "the pass did not see everything",
            Keep::Inhabited => "something in this namespace has an owner, or may have one",
            Keep::Later => "the pass deletes no more; the next one does",
            Keep::Changed => "it was changed since it was judged",
            Keep::Gone => "it is gone",
            Keep::Stopped => "the sweeper stopped before its turn",
        })
    }
}

impl Sweep {
    /// One word, for metrics and programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Sweep::Removed(_) => "owner_removed",
            Sweep::Absent => "owner_absent",
        }
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sweep::Removed(record) => {
                let (kind, name, how) = (&record.kind, &record.name, record.how.as_str());
                let time = record.removed_time.format("%Y-%m-%dT%H:%M:%SZ");
                write!(f, "its owner, {kind} {name}, was removed ({how}) at {time}")
            }
            Sweep::Absent => f.write_str("the API does not know its owner, and absence is trusted"),
        }
    }
}

#[cfg(test)]
mod tests;
