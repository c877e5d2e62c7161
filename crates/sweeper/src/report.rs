//! What a pass did and did not do.

use std::collections::BTreeMap;

use hyperfleet_transport::ObjectRef;
use serde::Serialize;

use crate::verdict::{Keep, Sweep};

/// What came of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It stays.
    Kept(Keep),
    /// It would go if this were not a dry run.
    WouldDelete(Sweep),
    /// It goes.
    Deleted(Sweep),
    /// It should go, and Kubernetes did not let it.
    Failed(Sweep, String),
}

impl Outcome {
    /// What was done, in one word.
    pub fn verdict(&self) -> &'static str {
        match self {
            Outcome::Kept(_) => "keep",
            Outcome::WouldDelete(_) => "would delete",
            Outcome::Deleted(_) => "deleted",
            Outcome::Failed(..) => "failed",
        }
    }

    /// Why, in one word.
    pub fn reason(&self) -> &'static str {
        match self {
            Outcome::Kept(keep) => keep.as_str(),
            Outcome::WouldDelete(sweep) | Outcome::Deleted(sweep) | Outcome::Failed(sweep, _) => {
                sweep.as_str()
            }
        }
    }

    /// Why, in a sentence.
    pub fn message(&self) -> String {
        match self {
            Outcome::Kept(keep) => keep.to_string(),
            Outcome::WouldDelete(sweep) | Outcome::Deleted(sweep) => sweep.to_string(),
            Outcome::Failed(_, error) => error.clone(),
        }
    }
}

/// One object of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Which one.
    pub object: ObjectRef,
    /// The adapter it names.
    pub adapter: String,
    /// The resource it names, whether that is proven or not.
    pub resource_id: String,
    /// What came of it: `keep`, `would delete`, `deleted` or `failed`.
    pub verdict: &'static str,
    /// Why, in one word.
    pub reason: &'static str,
    /// Why, in a sentence.
    pub message: String,
}

/// A pass, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether everything was seen and every question answered.
    pub complete: bool,
    /// Nothing was deleted, whatever the verdicts.
    pub dry_run: bool,
    /// Objects that carry the label.
    pub seen: u64,
    /// Objects that stay, by reason.
    pub kept: BTreeMap<&'static str, u64>,
    /// Objects that go, or would.
    pub swept: u64,
    /// Objects that should have gone.
    pub failed: u64,
    /// Deletions, of this pass or earlier ones, that the API's audit log does not have yet.
    pub unrecorded: u64,
    /// Kinds that this account may not list; nothing of them was looked at.
    pub skipped: Vec<String>,
    /// What kept the pass from being complete.
    pub problems: Vec<String>,
}

impl Report {
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Kept(keep) => *self.kept.entry(keep.as_str()).or_default() += 1,
            Outcome::WouldDelete(_) | Outcome::Deleted(_) => self.swept += 1,
            Outcome::Failed(..) => self.failed += 1,
        }
    }

    /// In one line, for people.
    pub fn summary(&self) -> String {
        let kept: u64 = self.kept.values().sum();
        let swept = match self.dry_run {
            true => "would be deleted",
            false => "deleted",
        };
        let mut text = format!(
            "{} objects seen, {} {swept}, {kept} kept",
            self.seen, self.swept
        );
        if self.failed > 0 {
            text.push_str(&format!(", {} failed", self.failed));
        }
        if !self.complete {
            text.push_str("; incomplete");
        }
        text
    }
}
