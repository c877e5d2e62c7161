//! A report, from what it is judged on to what is stored of it.
//!
//! ```text
//!   remembered? ──► judge ──► store, with others ──┐
//!        │ no, or nothing to store                 │ lost: somebody wrote in between
//!        ▼                                         ▼
//!   read, with others ──► judge ──► store, with others ──► lost: read, judge and store alone, at last under a lock
//! ```
//!
//! Whatever is stored is stored only if the resource is still at the revision it was judged at, so memory can be old
//! but never wrong. Nobody is answered that there is nothing to store, or no such resource, out of memory.

use std::sync::Arc;

use hyperfleet_core::identity::{AdapterName, ResourceId};

use super::known::Known;
use super::line::{self, Line};
use super::{Decision, ReportWrite};
use crate::attempt::Attempt;
use crate::author::{Author, Rules, Stored};
use crate::database::Store;
use crate::deletion;
use crate::error::StoreError;
use crate::observe::is_unreconciled;
use crate::resources::Owner;
use crate::stored;

pub(super) struct Hearing<'a, D> {
    pub(super) store: &'a Store,
    pub(super) target: (Option<&'a str>, Owner, ResourceId),
    pub(super) adapter: &'a AdapterName,
    pub(super) author: Author<'a>,
    pub(super) rules: &'a dyn Rules,
    pub(super) decide: D,
}

/// Where what a report is judged on comes from, and so how the outcome is stored.
enum Basis {
    Memory,
    Together,
    Alone(Attempt<'static>),
}

/// The answer and what is stored now, or why the report was refused.
type Heard<T, E> = Result<(T, Arc<Stored>), E>;

impl<T, E, D> Hearing<'_, D>
where
    D: FnMut(&mut Stored) -> Result<Decision<T>, E>,
{
    pub(super) async fn run(mut self) -> Result<Option<Heard<T, E>>, StoreError> {
        let (_, _, id) = self.target;
        let remembered = self.store.reports.memory.take(id.0);
        let mut revision = remembered.as_ref().map(|known| known.revision);
        if self.store.reports.memory.can_be_trusted()
            && let Some(known) = remembered.filter(|known| self.is_target(&known.stored))
            // What is left of it is not for memory to say.
            && !known.stored.resource.is_deleting()
        {
            if let Some(heard) = self.settle(known, Basis::Memory).await? {
                return Ok(Some(heard));
            }
            revision = None;
        }
        for number in Attempt::numbers() {
            let (found, basis) = match number {
                1 => match self.store.read_together(id).await? {
                    Some(found) => (found, Basis::Together),
                    None => continue,
                },
                _ => self.read_alone(number).await?,
            };
            let Some(known) = found.filter(|known| self.is_target(&known.stored)) else {
                return Ok(None);
            };
            if let Some(revision) = revision.take() {
                self.store.reports.memory.was(known.revision == revision);
            }
            if let Some(heard) = self.settle(known, basis).await? {
                return Ok(Some(heard));
            }
        }
        Err(Attempt::contended(id))
    }

    async fn read_alone(&self, number: u32) -> Result<(Option<Known>, Basis), StoreError> {
        let (kind, owner, id) = self.target;
        let mut attempt = Attempt::begin(self.store, number, id).await?;
        let found = stored::read(&mut *attempt, kind, owner, id, self.store.sight()).await?;
        Ok((found.map(Known::read_now), Basis::Alone(attempt)))
    }

    /// Whether it is what the caller means, and may see.
    fn is_target(&self, stored: &Stored) -> bool {
        let (kind, owner, _) = self.target;
        let resource = &stored.resource;
        let sight = self.store.sight.as_ref();
        kind.is_none_or(|kind| resource.kind == kind)
            && owner.owns(resource)
            && sight.is_none_or(|sight| sight.holds(resource))
    }

    /// Judges the report, and stores what it leaves behind. `None` if it has to be judged on something newer.
    async fn settle(
        &mut self,
        mut known: Known,
        basis: Basis,
    ) -> Result<Option<Heard<T, E>>, StoreError> {
        let is_guess = matches!(basis, Basis::Memory);
        let memory = &self.store.reports.memory;
        let stored = Arc::make_mut(&mut known.stored);
        let was_unreconciled = is_unreconciled(&stored.resource.status);
        let decision = match (self.decide)(stored) {
            Ok(decision) => decision,
            Err(_) if is_guess => return Ok(None),
            Err(refused) => return Ok(Some(Err(refused))),
        };
        let new = match &decision.store {
            ReportWrite::Nothing | ReportWrite::Last(_) if is_guess => return Ok(None),
            ReportWrite::Nothing => {
                let stored = known.stored.clone();
                memory.put(known);
                return Ok(Some(Ok((decision.answer, stored))));
            }
            ReportWrite::Last(report) => {
                // Takes its locks itself, from the outermost ancestor in.
                drop(basis);
                let before = (&*known.stored, known.revision);
                let (store, author) = (self.store, self.author);
                let gone = deletion::finalize(store, before, report, author, self.rules).await?;
                if gone {
                    store.changed();
                }
                return Ok(gone.then_some(Ok((decision.answer, known.stored))));
            }
            ReportWrite::Repeated => None,
            ReportWrite::Changed { changes, recheck } => Some((&**changes, *recheck)),
        };
        let line = Line::new(known.revision, stored, self.adapter, self.author, new)?;
        let settled = match basis {
            Basis::Memory | Basis::Together => {
                self.store.store_together(line).await.unwrap_or(false)
            }
            Basis::Alone(mut attempt) => {
                let stored = line::store(&mut attempt, &[&line]).await?;
                attempt.finish(!stored.is_empty()).await?
            }
        };
        if is_guess {
            memory.was(settled);
        }
        if !settled {
            return Ok(None);
        }
        self.store.reported(is_guess);
        let stored = known.stored.clone();
        if matches!(decision.store, ReportWrite::Changed { .. }) {
            self.store.changed();
            if !was_unreconciled && is_unreconciled(&stored.resource.status) {
                self.store.unreconciled(&stored.resource);
            }
        }
        known.revision += 1;
        memory.put(known);
        Ok(Some(Ok((decision.answer, stored))))
    }
}
