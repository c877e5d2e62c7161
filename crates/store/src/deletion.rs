//! Deletion: the one kind of write that concerns several rows, and so runs in a transaction with locks.
//!
//! ```text
//!   DELETE ──► gather: the row, its children, who points at them   (locked, parents first)
//!                │ refused: children of a `restrict` kind, strong references
//!                ▼
//!              innermost first: nothing left to wait for? remove : mark, aggregate anew
//!                │
//!   last report ─┤ force-delete
//!                ▼
//!              ancestors that waited only for this one go too; one that still waits is changed, and so due at once
//! ```
//!
//! | call | round trips |
//! |---|---|
//! | `delete` | 7 for a resource without children; one more for each level of children |
//! | `force_delete` | 7, one more for each level |

mod gather;
mod write;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::deletion::{Removal, is_removable};
use hyperfleet_core::effect::Effect;
use hyperfleet_core::history::{Action, condition_changes};
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::resource::Resource;
use sqlx::types::Json;
use sqlx::{PgConnection, Postgres, Transaction};

use crate::author::{Author, Rules, Stored};
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::resources::Owner;
use crate::stored;

use gather::Gathered;
use write::{Removed, Updated};

/// How often a transaction is tried again after a deadlock with another one.
const ATTEMPTS: u32 = 5;

/// Why a deletion is refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("Cannot delete {kind} '{id}': active {child_kind}(s) exist")]
    Children {
        kind: String,
        id: ResourceId,
        child_kind: String,
    },
    #[error(
        "cannot delete {kind} \"{name}\": referenced by {} — remove the reference(s) before deleting",
        .by.iter().map(|(kind, name)| format!("{kind} \"{name}\"")).collect::<Vec<_>>().join(", ")
    )]
    Referenced {
        kind: String,
        name: String,
        /// Kind and name of everything that points at it.
        by: Vec<(String, String)>,
    },
    #[error("{kind} '{id}' is not in Finalizing state")]
    NotDeleting { kind: String, id: ResourceId },
    #[error(
        "cannot let go of {kind} \"{name}\": another {kind} without an owner has that name; delete or rename one of them first"
    )]
    OrphanNameTaken { kind: String, name: String },
}

impl Store {
    /// Asks for the deletion of a resource, and removes at once what nothing has to be cleaned up for.
    ///
    /// Answers the resource as it is now, or was when it went; `None` when there is no such resource. Asking again
    /// changes nothing.
    ///
    /// `guard` sees the resource before anything is changed, and can refuse.
    pub async fn delete<E>(
        &self,
        target: (Option<&str>, Owner, ResourceId),
        author: Author<'_>,
        effect: Effect,
        rules: &dyn Rules,
        guard: impl Fn(&Resource) -> Result<(), E>,
    ) -> Result<Option<Result<Resource, E>>, StoreError> {
        self.timed(Operation::Delete, "resources", async {
            for attempt in 1.. {
                match self.try_delete(target, author, effect, rules, &guard).await {
                    Err(error) if attempt < ATTEMPTS && error.is_deadlock() => {}
                    outcome => return outcome,
                }
            }
            Ok(None)
        })
        .await
    }

    async fn try_delete<E>(
        &self,
        (kind, owner, id): (Option<&str>, Owner, ResourceId),
        author: Author<'_>,
        effect: Effect,
        rules: &dyn Rules,
        guard: &impl Fn(&Resource) -> Result<(), E>,
    ) -> Result<Option<Result<Resource, E>>, StoreError> {
        let mut tx = self.begin().await?;
        let Some(root) = gather::lock(&mut tx, kind, owner, id, self.sight()).await? else {
            return Ok(None);
        };
        if let Err(refused) = guard(&root) {
            return Ok(Some(Err(refused)));
        }
        let owner = root.owner_references.as_ref().map(|owner| owner.id);
        let before = root.clone();
        let gathered = gather::deletion(&mut tx, root, rules.kinds()).await?;
        let outcome = settle(&mut tx, gathered, author, rules).await?;
        if outcome.is_nothing() {
            return Ok(Some(Ok(before)));
        }
        let answer = outcome.find(id).cloned().unwrap_or(before);
        let gone = outcome.removed.iter().any(|gone| gone.resource.id == id);
        write::apply(&mut tx, &outcome, author).await?;
        if gone {
            ancestors(&mut tx, owner, author, rules).await?;
        }
        self.end(tx, effect).await?;
        let undone = outcome.updated.iter().filter(|change| change.undone);
        for change in undone.filter(|_| effect.is_lasting()) {
            self.unreconciled(&change.resource);
        }
        Ok(Some(Ok(answer)))
    }

    /// Removes a resource that is being deleted, and everything below it, without waiting for anybody.
    ///
    /// `None` when there is no such resource. `guard` sees it before anything is changed, and can refuse.
    pub async fn force_delete<E>(
        &self,
        target: (Option<&str>, Owner, ResourceId),
        reason: &str,
        author: Author<'_>,
        effect: Effect,
        rules: &dyn Rules,
        guard: impl Fn(&Resource) -> Result<(), E>,
    ) -> Result<Option<Result<(), E>>, StoreError> {
        self.timed(Operation::Delete, "resources", async {
            for attempt in 1.. {
                match self
                    .try_force_delete(target, reason, author, effect, rules, &guard)
                    .await
                {
                    Err(error) if attempt < ATTEMPTS && error.is_deadlock() => {}
                    outcome => return outcome,
                }
            }
            Ok(None)
        })
        .await
    }

    async fn try_force_delete<E>(
        &self,
        (kind, owner, id): (Option<&str>, Owner, ResourceId),
        reason: &str,
        author: Author<'_>,
        effect: Effect,
        rules: &dyn Rules,
        guard: &impl Fn(&Resource) -> Result<(), E>,
    ) -> Result<Option<Result<(), E>>, StoreError> {
        let mut tx = self.begin().await?;
        let Some(root) = gather::lock(&mut tx, kind, owner, id, self.sight()).await? else {
            return Ok(None);
        };
        if let Err(refused) = guard(&root) {
            return Ok(Some(Err(refused)));
        }
        if !root.is_deleting() {
            let kind = root.kind;
            return Err(Refusal::NotDeleting { kind, id }.into());
        }
        let owner = root.owner_references.as_ref().map(|owner| owner.id);
        let gathered = gather::subtree(&mut tx, root, rules.kinds()).await?;
        let mut outcome = lose(&mut tx, gathered.losers, author, rules).await?;
        outcome.removed = gathered
            .members
            .into_iter()
            .map(|member| Removed {
                resource: member.resource,
                how: Removal::Forced,
                reason: Some(reason.to_owned()),
            })
            .collect();
        write::apply(&mut tx, &outcome, author).await?;
        ancestors(&mut tx, owner, author, rules).await?;
        self.end(tx, effect).await?;
        Ok(Some(Ok(())))
    }

    async fn end(&self, tx: Transaction<'_, Postgres>, effect: Effect) -> Result<(), StoreError> {
        match effect {
            Effect::Lasting => self.commit(tx).await,
            Effect::Rehearsed => Ok(tx.rollback().await?),
        }
    }

    async fn commit(&self, tx: Transaction<'_, Postgres>) -> Result<(), StoreError> {
        tx.commit().await?;
        self.changed();
        Ok(())
    }
}

/// Removes the resource whose last awaited report this is; false when it is not at `revision` any more.
pub(crate) async fn finalize(
    store: &Store,
    (before, revision): (&Stored, i64),
    report: &AdapterStatus,
    author: Author<'_>,
    rules: &dyn Rules,
) -> Result<bool, StoreError> {
    let mut tx = store.begin().await?;
    let resource = &before.resource;
    let owner = resource.owner_references.as_ref().map(|owner| owner.id);
    // Parents before children, as a deletion from above takes them.
    gather::lock_ancestors(&mut tx, owner).await?;
    let at_revision =
        sqlx::query("SELECT 1 FROM resources WHERE id = $1 AND revision = $2 FOR UPDATE")
            .bind(resource.id.0)
            .bind(revision)
            .fetch_optional(&mut *tx)
            .await?;
    if at_revision.is_none() {
        return Ok(false);
    }
    let said = before
        .reports
        .iter()
        .find(|other| other.adapter == report.adapter);
    sqlx::query(
        "INSERT INTO status_history (at, resource_id, adapter, observed_generation, changes, phase, actor, request_id)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(author.at)
    .bind(resource.id.0)
    .bind(report.adapter.as_str())
    .bind(report.observed_generation.get())
    .bind(Json(condition_changes(said, report)))
    .bind(resource.status.phase.as_str())
    .bind(author.actor)
    .bind(author.request_id)
    .execute(&mut *tx)
    .await?;
    let outcome = Outcome {
        removed: vec![Removed {
            resource: resource.clone(),
            how: Removal::Finalized,
            reason: None,
        }],
        updated: Vec::new(),
    };
    write::apply(&mut tx, &outcome, author).await?;
    ancestors(&mut tx, owner, author, rules).await?;
    store.commit(tx).await?;
    Ok(true)
}

/// What a transaction is about to do.
#[derive(Debug, Default)]
struct Outcome {
    removed: Vec<Removed>,
    updated: Vec<Updated>,
}

impl Outcome {
    fn is_nothing(&self) -> bool {
        self.removed.is_empty() && self.updated.is_empty()
    }

    fn find(&self, id: ResourceId) -> Option<&Resource> {
        let removed = self.removed.iter().map(|gone| &gone.resource);
        let updated = self.updated.iter().map(|change| &change.resource);
        removed.chain(updated).find(|resource| resource.id == id)
    }
}

/// Decides about everything that was gathered, innermost first.
async fn settle(
    tx: &mut PgConnection,
    gathered: Gathered,
    author: Author<'_>,
    rules: &dyn Rules,
) -> Result<Outcome, StoreError> {
    let ids: Vec<ResourceId> = gathered
        .members
        .iter()
        .map(|member| member.resource.id)
        .collect();
    let mut reports = gather::reports(tx, &ids).await?;
    let mut outcome = lose(tx, gathered.losers, author, rules).await?;
    outcome.updated.extend(gathered.orphans);
    let mut waiting: Vec<ResourceId> = Vec::new();
    for member in gathered.members.into_iter().rev() {
        let owner = member.resource.owner_references.as_ref().map(|o| o.id);
        let has_children = waiting.contains(&member.resource.id);
        let resource = if member.marked {
            hyperfleet_core::deletion::marked(&member.resource, author.actor, author.at)
        } else {
            member.resource.clone()
        };
        let stored = Stored {
            reports: reports.remove(&resource.id).unwrap_or_default(),
            has_children,
            resource,
        };
        let required = rules.required(&stored.resource.kind);
        if is_removable(&stored.resource, &required, &stored.reports, has_children) {
            outcome.removed.push(Removed {
                resource: stored.resource,
                how: Removal::Finalized,
                reason: None,
            });
            continue;
        }
        waiting.extend(owner);
        let aggregated = rules.aggregate(&stored, author.at);
        if member.marked || !aggregated.status.says_the_same(&stored.resource.status) {
            outcome.updated.push(Updated::new(
                stored.resource,
                aggregated,
                member.marked.then_some(Action::Delete),
            ));
        }
    }
    Ok(outcome)
}

/// Marks the weak references whose target goes.
async fn lose(
    tx: &mut PgConnection,
    losers: Vec<Resource>,
    author: Author<'_>,
    rules: &dyn Rules,
) -> Result<Outcome, StoreError> {
    let mut outcome = Outcome::default();
    for loser in losers {
        let reports = gather::reports(tx, &[loser.id]).await?.remove(&loser.id);
        let has_children = gather::has_children(tx, loser.id).await?;
        let stored = Stored {
            reports: reports.unwrap_or_default(),
            has_children,
            resource: loser,
        };
        let aggregated = rules.aggregate(&stored, author.at);
        outcome.updated.push(Updated::new(
            stored.resource,
            aggregated,
            Some(Action::LoseReference),
        ));
    }
    Ok(outcome)
}

/// After a child went: its parent goes too if nothing else keeps it, or is changed if it has no more children.
async fn ancestors(
    tx: &mut PgConnection,
    mut owner: Option<ResourceId>,
    author: Author<'_>,
    rules: &dyn Rules,
) -> Result<(), StoreError> {
    while let Some(id) = owner.take() {
        if gather::lock(tx, None, Owner::Any, id, None)
            .await?
            .is_none()
        {
            return Ok(());
        }
        let Some((_, mut stored)) = stored::read(&mut *tx, None, Owner::Any, id, None).await?
        else {
            return Ok(());
        };
        if !stored.resource.is_deleting() || stored.has_children {
            return Ok(());
        }
        let required = rules.required(&stored.resource.kind);
        let mut outcome = Outcome::default();
        if is_removable(&stored.resource, &required, &stored.reports, false) {
            owner = stored.resource.owner_references.as_ref().map(|o| o.id);
            outcome.removed.push(Removed {
                resource: stored.resource,
                how: Removal::Finalized,
                reason: None,
            });
        } else {
            // What its adapters may have waited for has happened: that is a change, and a change is due at once.
            let next = stored.resource.updated_time + chrono::TimeDelta::microseconds(1);
            stored.resource.updated_time = author.at.max(next);
            let aggregated = rules.aggregate(&stored, author.at);
            outcome
                .updated
                .push(Updated::new(stored.resource, aggregated, None));
        }
        write::apply(tx, &outcome, author).await?;
    }
    Ok(())
}
