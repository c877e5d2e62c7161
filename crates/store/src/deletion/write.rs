//! Writing what a deletion decided: one statement for all rows that change, one for all that go.

use hyperfleet_core::deletion::Removal;
use hyperfleet_core::history::Action;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Outcome, Refusal};
use crate::audit;
use crate::author::{Aggregated, Author};
use crate::error::StoreError;
use crate::observe::undoes;

/// A row that goes.
#[derive(Debug)]
pub(super) struct Removed {
    /// Its last state.
    pub(super) resource: Resource,
    pub(super) how: Removal,
    pub(super) reason: Option<String>,
}

/// A row that changes.
#[derive(Debug)]
pub(super) struct Updated {
    pub(super) resource: Resource,
    pub(super) recheck: Option<Time>,
    /// Whether it was reconciled and is not any more.
    pub(super) undone: bool,
    /// What history says of it; nothing when it only follows from another row's change.
    pub(super) action: Option<Action>,
}

impl Updated {
    /// The resource with the status that was computed for it.
    pub(super) fn new(
        resource: Resource,
        aggregated: Aggregated,
        action: Option<Action>,
    ) -> Updated {
        Updated {
            undone: undoes(Some(&resource.status), &aggregated.status),
            resource: Resource {
                status: aggregated.status,
                ..resource
            },
            recheck: aggregated.recheck,
            action,
        }
    }
}

pub(super) async fn apply(
    tx: &mut PgConnection,
    outcome: &Outcome,
    author: Author<'_>,
) -> Result<(), StoreError> {
    update(tx, &outcome.updated).await?;
    remove(tx, &outcome.removed, author).await?;
    let updated = outcome.updated.iter().filter_map(|change| {
        let action = change.action?;
        Some(audit::Line::new(&change.resource, action, None))
    });
    let removed = outcome.removed.iter().map(|gone| {
        let action = match gone.how {
            Removal::Finalized => Action::Remove,
            Removal::Forced => Action::ForceDelete,
        };
        audit::Line::new(&gone.resource, action, gone.reason.as_deref())
    });
    let lines: Vec<audit::Line<'_>> = updated.chain(removed).collect();
    audit::write(tx, author, &lines).await
}

async fn update(tx: &mut PgConnection, rows: &[Updated]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let each = |pick: fn(&Resource) -> Option<Uuid>| -> Vec<Option<Uuid>> {
        rows.iter().map(|row| pick(&row.resource)).collect()
    };
    let text = |pick: fn(&Resource) -> Option<&str>| -> Vec<Option<&str>> {
        rows.iter().map(|row| pick(&row.resource)).collect()
    };
    let time = |pick: fn(&Updated) -> Option<Time>| -> Vec<Option<Time>> {
        rows.iter().map(pick).collect()
    };
    let generations: Vec<i32> = rows
        .iter()
        .map(|row| row.resource.generation.get())
        .collect();
    let refs: Vec<_> = rows
        .iter()
        .map(|row| Json(&row.resource.references))
        .collect();
    let statuses: Vec<_> = rows.iter().map(|row| Json(&row.resource.status)).collect();
    let updated = sqlx::query(
        "UPDATE resources r SET
             href = n.href, owner_id = n.owner_id, owner_kind = n.owner_kind, owner_href = n.owner_href,
             generation = n.generation, refs = n.refs, status = n.status, updated_time = n.updated_time,
             updated_by = n.updated_by, deleted_time = n.deleted_time, deleted_by = n.deleted_by,
             recheck_time = n.recheck_time, revision = r.revision + 1, changed_xid = pg_current_xact_id()
         FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::int[], $7::jsonb[], $8::jsonb[],
                     $9::timestamptz[], $10::text[], $11::timestamptz[], $12::text[], $13::timestamptz[])
             AS n (id, href, owner_id, owner_kind, owner_href, generation, refs, status, updated_time, updated_by,
                   deleted_time, deleted_by, recheck_time)
         WHERE r.id = n.id",
    )
    .bind(each(|resource| Some(resource.id.0)))
    .bind(text(|resource| Some(&resource.href)))
    .bind(each(|resource| resource.owner_references.as_ref().map(|owner| owner.id.0)))
    .bind(text(|resource| resource.owner_references.as_ref().map(|owner| owner.kind.as_str())))
    .bind(text(|resource| resource.owner_references.as_ref().map(|owner| owner.href.as_str())))
    .bind(generations)
    .bind(refs)
    .bind(statuses)
    .bind(time(|row| Some(row.resource.updated_time)))
    .bind(text(|resource| Some(&resource.updated_by)))
    .bind(time(|row| row.resource.deleted_time))
    .bind(text(|resource| resource.deleted_by.as_deref()))
    .bind(time(|row| row.recheck))
    .execute(tx)
    .await;
    match updated {
        Ok(_) => Ok(()),
        // Only a row that lost its owner can meet another of its name here.
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
            let orphan = rows.iter().find(|row| row.action == Some(Action::Orphan));
            let (kind, name) = orphan
                .map(|row| (row.resource.kind.clone(), row.resource.name.clone()))
                .unwrap_or_default();
            Err(Refusal::OrphanNameTaken { kind, name }.into())
        }
        Err(error) => Err(error.into()),
    }
}

async fn remove(
    tx: &mut PgConnection,
    rows: &[Removed],
    author: Author<'_>,
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.resource.id.0).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row.resource.kind.as_str()).collect();
    let owners: Vec<Option<Uuid>> = rows
        .iter()
        .map(|row| {
            row.resource
                .owner_references
                .as_ref()
                .map(|owner| owner.id.0)
        })
        .collect();
    let tenancies: Vec<_> = rows.iter().map(|row| Json(&row.resource.tenancy)).collect();
    let hows: Vec<&str> = rows.iter().map(|row| row.how.as_str()).collect();
    let reasons: Vec<Option<&str>> = rows.iter().map(|row| row.reason.as_deref()).collect();
    let states: Vec<_> = rows.iter().map(|row| Json(&row.resource)).collect();
    sqlx::query(
        "INSERT INTO deleted_resources (id, kind, owner_id, tenancy, removed_time, removed_by, how, reason, resource,
                                        relabelled)
         SELECT n.id, n.kind, n.owner_id, n.tenancy, $7, $8, n.how, n.reason, n.resource,
                coalesce((SELECT r.relabelled FROM resources r WHERE r.id = n.id), '[]')
         FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::jsonb[], $5::text[], $6::text[], $9::jsonb[])
             AS n (id, kind, owner_id, tenancy, how, reason, resource)",
    )
    .bind(&ids)
    .bind(kinds)
    .bind(owners)
    .bind(tenancies)
    .bind(hows)
    .bind(reasons)
    .bind(author.at)
    .bind(author.actor)
    .bind(states)
    .execute(&mut *tx)
    .await?;
    sqlx::query("DELETE FROM resources WHERE id = ANY($1)")
        .bind(&ids)
        .execute(tx)
        .await?;
    Ok(())
}
