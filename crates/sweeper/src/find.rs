//! Every object that says it is ours, of every kind, and what is to become of it.

use hyperfleet_core::ownership::{ADAPTER, RESOURCE_ID};
use hyperfleet_transport::{Failure, ObjectKind, ObjectRef, TransportError};
use serde_json::Value;

use crate::pass::{Candidate, Named, Pass};
use crate::report::Outcome;
use crate::verdict::{Keep, Sweep, Verdict, judge, owner};

/// Kinds that are never managed, and there are many of them.
const UNMANAGED: &str = "Event";

impl Pass<'_> {
    pub(crate) async fn find(&mut self) {
        let kinds = match self.unless_stopped(self.cluster.kinds()).await {
            Some(Ok(kinds)) => kinds,
            Some(Err(error)) => return self.problem(error.to_string()),
            None => return,
        };
        for error in &kinds.failed {
            self.unlisted(error);
        }
        for kind in kinds.kinds.iter().filter(|kind| kind.kind != UNMANAGED) {
            if self.stop.is_cancelled() {
                return;
            }
            self.find_kind(kind).await;
        }
    }

    async fn find_kind(&mut self, kind: &ObjectKind) {
        let mut from: Option<String> = None;
        loop {
            let page = self.cluster.page(kind, ADAPTER, from.as_deref());
            let page = match self.unless_stopped(page).await {
                Some(Ok(page)) => page,
                Some(Err(error)) => return self.unlisted(&error),
                None => return,
            };
            self.verify(&page.items).await;
            match page.next {
                Some(next) => from = Some(next),
                None => return,
            }
        }
    }

    /// What may not be listed is somebody's decision; anything else makes the pass incomplete.
    fn unlisted(&mut self, error: &TransportError) {
        match error.failure {
            Failure::Forbidden { .. } => self.report.skipped.push(error.object.clone()),
            // A kind that went away since the kinds were asked for has no objects.
            Failure::NotFound { .. } | Failure::UnknownKind { .. } => {}
            _ => self.problem(error.to_string()),
        }
    }

    async fn verify(&mut self, objects: &[Value]) {
        let keys = self.keys;
        let owners = objects.iter().filter_map(|object| owner(object, keys).ok());
        let stop = self.stop;
        if stop
            .run_until_cancelled(self.owners.learn(owners))
            .await
            .is_none()
        {
            return;
        }
        for object in objects {
            self.sort(object);
        }
    }

    fn sort(&mut self, object: &Value) {
        self.report.seen += 1;
        let metadata = &object["metadata"];
        let label = |key: &str| metadata["labels"][key].as_str().unwrap_or_default();
        let reference = match ObjectRef::of(object) {
            Ok(reference) => reference,
            Err(error) => return self.problem(format!("an object was not looked at: {error}")),
        };
        let named = Named {
            object: reference,
            adapter: label(ADAPTER).to_owned(),
            resource_id: label(RESOURCE_ID).to_owned(),
        };
        if owner(object, self.keys).is_ok() {
            self.proven += 1;
        }
        let answer = self.owners.answer(&named.resource_id);
        let sweep = match judge(object, self.keys, &answer, self.limits.absence) {
            Verdict::Sweep(sweep) => sweep,
            Verdict::Keep(keep) => return self.keep(&named, keep),
        };
        let Some(uid) = metadata["uid"].as_str() else {
            return self.problem(format!("{} has no uid", named.object));
        };
        let candidates = match sweep {
            Sweep::Removed(_) => &mut self.removed,
            Sweep::Absent => {
                self.absent_seen += 1;
                &mut self.absent
            }
        };
        if candidates.len() >= self.limits.max_deletions {
            return self.tell(&named, Outcome::Kept(Keep::Later));
        }
        candidates.push(Candidate {
            uid: uid.to_owned(),
            named,
            sweep,
        });
    }

    fn keep(&mut self, named: &Named, keep: Keep) {
        if matches!(
            keep,
            Keep::OwnerExists | Keep::OwnerDeleting | Keep::Unproven | Keep::Unanswered(_)
        ) {
            self.inhabited.extend(named.object.namespace.clone());
        }
        self.tell(named, Outcome::Kept(keep));
    }
}
