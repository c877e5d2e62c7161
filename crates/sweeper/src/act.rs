//! Deleting what is to go: one after the other, and only what is still what was judged.

use chrono::Utc;
use hyperfleet_transport::{Delete, Deletion, Failure, Propagation};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::notes;
use crate::pass::{Candidate, Pass};
use crate::report::Outcome;
use crate::verdict::{Keep, Sweep, Verdict, judge};

impl Pass<'_> {
    pub(crate) async fn act(&mut self, candidates: Vec<Candidate>) {
        let mut next = Instant::now();
        for candidate in candidates {
            let outcome = match self.limits.dry_run {
                true => Outcome::WouldDelete(candidate.sweep.clone()),
                false => {
                    let waited = self.stop.run_until_cancelled(sleep_until(next)).await;
                    next = Instant::now() + self.limits.pause;
                    match waited {
                        Some(()) => self.delete(&candidate).await,
                        None => Outcome::Kept(Keep::Stopped),
                    }
                }
            };
            match &outcome {
                Outcome::Failed(_, error) => self.problem(error.clone()),
                Outcome::Deleted(sweep) => {
                    if let Some(note) = notes::deleted(&candidate, sweep, Utc::now()) {
                        self.notes.add(note).await;
                    }
                }
                Outcome::Kept(_) | Outcome::WouldDelete(_) => {}
            }
            self.tell(&candidate.named, outcome);
        }
    }

    /// A deletion that was sent is waited for, also when the pass is told to stop: none goes without its audit line.
    async fn delete(&self, candidate: &Candidate) -> Outcome {
        let object = &candidate.named.object;
        let failed = |error: String| Outcome::Failed(candidate.sweep.clone(), error);
        let found = match self.unless_stopped(self.cluster.get(object)).await {
            Some(Ok(Some(found))) => found,
            Some(Ok(None)) => return Outcome::Kept(Keep::Gone),
            Some(Err(error)) => return failed(error.to_string()),
            None => return Outcome::Kept(Keep::Stopped),
        };
        let (sweep, version) = match self.still(candidate, &found) {
            Ok(still) => still,
            Err(keep) => return Outcome::Kept(keep),
        };
        if self.stop.is_cancelled() {
            return Outcome::Kept(Keep::Stopped);
        }
        let options = Delete {
            propagation: Propagation::Background,
            uid: Some(candidate.uid.clone()),
            resource_version: Some(version.to_owned()),
        };
        match self.cluster.delete(object, &options).await {
            Ok(Deletion::Accepted) => {
                audit(candidate, &sweep);
                Outcome::Deleted(sweep)
            }
            Ok(Deletion::Absent) => Outcome::Kept(Keep::Gone),
            Err(error) if matches!(error.failure, Failure::Conflict { .. }) => {
                Outcome::Kept(Keep::Changed)
            }
            Err(error) => failed(error.to_string()),
        }
    }

    /// Judges an object that was read again.
    fn still<'o>(&self, candidate: &Candidate, found: &'o Value) -> Result<(Sweep, &'o str), Keep> {
        let metadata = &found["metadata"];
        let named = &candidate.named;
        if metadata["uid"] != candidate.uid.as_str() {
            return Err(Keep::Changed);
        }
        // Signed for another owner since: nobody asked for that one.
        if hyperfleet_transport::claim(found)
            .is_none_or(|claim| claim.resource_id != named.resource_id)
        {
            return Err(Keep::Changed);
        }
        let version = metadata["resourceVersion"].as_str().ok_or(Keep::Changed)?;
        let answer = self.owners.answer(&named.resource_id);
        match judge(found, self.keys, &answer, self.limits.absence) {
            Verdict::Sweep(sweep) => Ok((sweep, version)),
            Verdict::Keep(keep) => Err(keep),
        }
    }
}

/// The record of a deletion.
fn audit(candidate: &Candidate, sweep: &Sweep) {
    let named = &candidate.named;
    tracing::info!(
        audit = "object.deleted",
        api_version = named.object.kind.api_version,
        kind = named.object.kind.kind,
        namespace = named.object.namespace.as_deref().unwrap_or_default(),
        name = named.object.name,
        uid = candidate.uid,
        adapter = named.adapter,
        resource_id = named.resource_id,
        reason = sweep.as_str(),
        "deleted {}: {sweep}",
        named.object,
    );
}
