//! One pass: find, verify, act.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use hyperfleet_client::Client;
use hyperfleet_core::audit_note::AuditNote;
use hyperfleet_core::ownership::Keyring;
use hyperfleet_transport::{ObjectRef, Survey, TransportError};
use tokio_util::sync::CancellationToken;

use crate::notes::Notes;
use crate::options::Options;
use crate::owners::Owners;
use crate::report::{Outcome, Report, Row};
use crate::verdict::{Absence, Keep, Sweep};

/// How much a pass may do.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) absence: Absence,
    /// The part of all proven objects that may go because their owners are absent.
    pub(crate) max_share: f64,
    /// So many may go whatever part they are.
    pub(crate) min_objects: u64,
    /// Deletions in a pass.
    pub(crate) max_deletions: usize,
    /// Between two deletions.
    pub(crate) pause: Duration,
    pub(crate) dry_run: bool,
}

impl Limits {
    pub(crate) fn of(options: &Options) -> Limits {
        Limits {
            absence: match options.trust_absence {
                true => Absence::Proves,
                false => Absence::ProvesNothing,
            },
            max_share: options.max_share,
            min_objects: options.min_objects,
            max_deletions: options.max_deletions,
            pause: Duration::from_secs_f64(1.0 / options.deletions_per_second),
            dry_run: options.dry_run,
        }
    }
}

/// An object that is to go.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) named: Named,
    pub(crate) uid: String,
    pub(crate) sweep: Sweep,
}

/// An object and whom it names.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) object: ObjectRef,
    pub(crate) adapter: String,
    pub(crate) resource_id: String,
}

/// What a pass works with.
pub(crate) struct Pass<'p> {
    pub(crate) cluster: &'p dyn Survey,
    pub(crate) keys: Option<&'p Keyring>,
    pub(crate) limits: &'p Limits,
    pub(crate) stop: &'p CancellationToken,
    pub(crate) owners: Owners,
    pub(crate) notes: Notes,
    pub(crate) report: Report,
    /// Gets every object once.
    tell: &'p mut (dyn FnMut(Row) + Send + Sync),
    /// Objects that proved to be ours.
    pub(crate) proven: u64,
    /// At most as many as a pass deletes.
    pub(crate) removed: Vec<Candidate>,
    pub(crate) absent: Vec<Candidate>,
    pub(crate) absent_seen: u64,
    /// Namespaces in which something has, or may have, an owner.
    pub(crate) inhabited: HashSet<String>,
}

impl<'p> Pass<'p> {
    pub(crate) fn new(
        cluster: &'p dyn Survey,
        keys: Option<&'p Keyring>,
        limits: &'p Limits,
        client: Client,
        unrecorded: VecDeque<AuditNote>,
        stop: &'p CancellationToken,
        tell: &'p mut (dyn FnMut(Row) + Send + Sync),
    ) -> Pass<'p> {
        Pass {
            cluster,
            keys,
            limits,
            stop,
            owners: Owners::new(client.clone()),
            notes: Notes::new(client, unrecorded),
            report: Report {
                dry_run: limits.dry_run,
                ..Report::default()
            },
            tell,
            proven: 0,
            removed: Vec::new(),
            absent: Vec::new(),
            absent_seen: 0,
            inhabited: HashSet::new(),
        }
    }

    /// What came of it, and what the API could not be told.
    pub(crate) async fn run(mut self) -> (Report, VecDeque<AuditNote>) {
        self.find().await;
        if let Some(why) = self.owners.failure() {
            let problem = format!("the API did not say what became of every owner: {why}");
            self.report.problems.push(problem);
        }
        let candidates = self.decide();
        self.act(candidates).await;
        if !self.stop.is_cancelled() {
            self.notes.send().await;
        } else {
            // Whoever stopped it knows.
            let stopped = "the pass was stopped before its end".to_owned();
            self.report.problems.push(stopped);
        }
        self.report.complete = self.report.problems.is_empty();
        let unrecorded = self.notes.waiting();
        self.report.unrecorded = u64::try_from(unrecorded.len()).unwrap_or(u64::MAX);
        (self.report, unrecorded)
    }

    /// What of the candidates goes, namespaces last.
    fn decide(&mut self) -> Vec<Candidate> {
        let mut going = std::mem::take(&mut self.removed);
        let absent = std::mem::take(&mut self.absent);
        match self.doubt() {
            None => going.extend(absent),
            Some(keep) => {
                for candidate in absent {
                    self.inhabited
                        .extend(candidate.named.object.namespace.clone());
                    self.tell(&candidate.named, Outcome::Kept(keep.clone()));
                }
            }
        }
        going.sort_by_key(|candidate| is_namespace(&candidate.named.object));
        let mut left = Vec::with_capacity(going.len());
        for candidate in going {
            match self.objection(&candidate, left.len()) {
                None => left.push(candidate),
                Some(keep) => self.tell(&candidate.named, Outcome::Kept(keep)),
            }
        }
        left
    }

    /// Why absence is not trusted in this pass, if it is not.
    fn doubt(&mut self) -> Option<Keep> {
        if self.absent_seen == 0 {
            return None;
        }
        if !self.report.problems.is_empty() || self.stop.is_cancelled() {
            return Some(Keep::Incomplete);
        }
        let allowed = (self.limits.max_share * self.proven as f64).floor() as u64;
        let allowed = allowed.max(self.limits.min_objects);
        if self.owners.any_exists() && self.absent_seen <= allowed {
            return None;
        }
        let problem = match self.owners.any_exists() {
            false => "the API knows none of the owners: it may be another API, or an empty one"
                .to_owned(),
            true => format!(
                "the owners of {} of {} objects are absent, and one pass trusts that for {allowed}: look whether the API \
                 has lost data, or raise max_share for a while",
                self.absent_seen, self.proven
            ),
        };
        self.problem(problem);
        Some(Keep::Breaker)
    }

    fn objection(&self, candidate: &Candidate, before: usize) -> Option<Keep> {
        if is_namespace(&candidate.named.object) {
            if !self.report.problems.is_empty() {
                return Some(Keep::Incomplete);
            }
            if self.inhabited.contains(&candidate.named.object.name) {
                return Some(Keep::Inhabited);
            }
        }
        (before >= self.limits.max_deletions).then_some(Keep::Later)
    }

    pub(crate) fn tell(&mut self, named: &Named, outcome: Outcome) {
        self.report.count(&outcome);
        (self.tell)(Row {
            object: named.object.clone(),
            adapter: named.adapter.clone(),
            resource_id: named.resource_id.clone(),
            verdict: outcome.verdict(),
            reason: outcome.reason(),
            message: outcome.message(),
        });
    }

    pub(crate) fn problem(&mut self, problem: String) {
        tracing::warn!("{problem}");
        self.report.problems.push(problem);
    }

    /// `None` when the pass is told to stop first.
    pub(crate) async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, TransportError>>,
    ) -> Option<Result<T, TransportError>> {
        self.stop.run_until_cancelled(work).await
    }
}

/// A namespace takes everything in it along, whoever made it.
fn is_namespace(object: &ObjectRef) -> bool {
    object.kind.api_version == "v1" && object.kind.kind == "Namespace"
}
