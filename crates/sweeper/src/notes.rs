//! Telling the API's audit log what was deleted.
//!
//! First the object goes, then the note is sent: a deletion is conditional, and a line about one that Kubernetes then
//! refused would be untrue. An API that is away at that moment undoes nothing. The log line is there already, and the
//! note waits: it is sent again at the end of the pass, and with every pass after that.

use std::collections::VecDeque;

use hyperfleet_client::{CallError, Client, StatusCode};
use hyperfleet_core::audit_note::{AuditNote, NotedAction, NotedObject};
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::problem::Code;
use hyperfleet_core::time::Time;

use crate::pass::Candidate;
use crate::verdict::Sweep;

/// More than this are not kept: ten passes without an API.
const MOST: usize = 10_000;

/// What was deleted and is not in the API's log yet, oldest first.
pub(crate) struct Notes {
    client: Client,
    waiting: VecDeque<AuditNote>,
    taken: Taken,
}

/// What the API does with notes, as far as this pass knows.
#[derive(PartialEq)]
enum Taken {
    AtOnce,
    /// It did not take one: the rest waits for the end of the pass.
    Later,
    /// It has no such call.
    Never,
}

impl Notes {
    pub(crate) fn new(client: Client, waiting: VecDeque<AuditNote>) -> Notes {
        Notes {
            client,
            waiting,
            taken: Taken::AtOnce,
        }
    }

    /// Sends the note, after those that wait.
    pub(crate) async fn add(&mut self, note: AuditNote) {
        if self.taken == Taken::Never {
            return;
        }
        if self.waiting.len() == MOST
            && let Some(oldest) = self.waiting.pop_front()
        {
            tracing::warn!(
                uid = oldest.object.uid,
                "the API has not taken a note for so long that the oldest is dropped; the log has its line"
            );
        }
        self.waiting.push_back(note);
        if self.taken == Taken::AtOnce {
            self.send().await;
        }
    }

    /// Sends what waits, until the API does not take one.
    pub(crate) async fn send(&mut self) {
        while let Some(note) = self.waiting.front() {
            let Err(error) = self.client.note(note).await else {
                self.waiting.pop_front();
                continue;
            };
            match refusal(&error) {
                Refusal::Never => {
                    tracing::debug!(%error, "this API takes no notes; the log is the record");
                    self.waiting.clear();
                    self.taken = Taken::Never;
                }
                Refusal::ThisOne => {
                    let uid = &note.object.uid;
                    tracing::warn!(uid, %error, "the API refused a note; the log has its line");
                    self.waiting.pop_front();
                }
                Refusal::Now => {
                    let waiting = self.waiting.len();
                    tracing::warn!(waiting, %error, "the API did not take a note; it is sent again");
                    self.taken = Taken::Later;
                    return;
                }
            }
        }
    }

    pub(crate) fn waiting(self) -> VecDeque<AuditNote> {
        self.waiting
    }
}

/// What an error means for the notes.
enum Refusal {
    /// It is another API, which has no such call.
    Never,
    /// There is something wrong with the note.
    ThisOne,
    /// It may be taken later: when the API is back, or this account may write.
    Now,
}

fn refusal(error: &CallError) -> Refusal {
    let is_unknown_path = error
        .problem()
        .is_some_and(|problem| problem.code == Code::EndpointNotFound.as_str());
    match error.status() {
        Some(StatusCode::METHOD_NOT_ALLOWED) => Refusal::Never,
        Some(StatusCode::NOT_FOUND) if is_unknown_path => Refusal::Never,
        Some(StatusCode::BAD_REQUEST) => Refusal::ThisOne,
        _ => Refusal::Now,
    }
}

/// What the API is told about a deletion; nothing when the owner has no id that any of our APIs could have given it.
pub(crate) fn deleted(candidate: &Candidate, sweep: &Sweep, now: Time) -> Option<AuditNote> {
    let named = &candidate.named;
    Some(AuditNote {
        action: NotedAction::ObjectDeleted,
        resource_id: ResourceId::parse(&named.resource_id)?,
        done_time: now,
        reason: sweep.to_string(),
        object: NotedObject {
            api_version: named.object.kind.api_version.clone(),
            kind: named.object.kind.kind.clone(),
            namespace: named.object.namespace.clone(),
            name: named.object.name.clone(),
            uid: candidate.uid.clone(),
            adapter: named.adapter.clone(),
        },
    })
}
