//! What happened, read back; and what is old enough to be forgotten.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `history` | 2 | a page of each log, by the resource's index |
//! | `audit` | 1 | a page, newest first; a filter other than the resource reads on until the page is full |
//! | `deletion` | 1 | by key |
//! | `forget` | 4 | by age, in batches |

use chrono::TimeDelta;
use hyperfleet_core::deletion::{DeletionRecord, Removal};
use hyperfleet_core::history::{AuditEntry, HistoryEntry, Outcome, StatusEntry};
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;

use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::resources::Owner;
use crate::sight::seen;

/// How far back a page of history begins: older than these lines of the two logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryCursor {
    pub audit: i64,
    pub status: i64,
}

impl HistoryCursor {
    pub const NEWEST: HistoryCursor = HistoryCursor {
        audit: i64::MAX,
        status: i64::MAX,
    };
}

/// Which lines of the audit log are wanted. Everything that is not said is not restricted.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery<'a> {
    pub resource: Option<ResourceId>,
    pub kind: Option<&'a str>,
    pub actor: Option<&'a str>,
    pub action: Option<&'a str>,
    /// Only lines before this one.
    pub before: Option<i64>,
    pub limit: u32,
}

/// How long what happened is remembered.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// Audit log and status history.
    pub history: TimeDelta,
    /// Deletion records: what the sweeper needs before it removes an object.
    pub deletions: TimeDelta,
    /// Answers to creates with an idempotency key.
    pub idempotency: TimeDelta,
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub audit: u64,
    pub statuses: u64,
    pub deletions: u64,
    pub idempotency: u64,
}

/// Rows deleted by one statement: few enough not to hold anything up.
const BATCH: i64 = 5_000;

impl Store {
    /// A page of what happened to one resource, newest first, and where the next page begins.
    pub async fn history(
        &self,
        id: ResourceId,
        from: HistoryCursor,
        limit: u32,
    ) -> Result<(Vec<HistoryEntry>, Option<HistoryCursor>), StoreError> {
        self.timed(Operation::Query, "status_history", async {
        let rows = i64::from(limit) + 1;
        let audit = sqlx::query(
            "SELECT id, at, actor, action, request_id, resource_id, kind, name, tenancy, generation, reason, detail
             FROM audit_log WHERE resource_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
        )
        .bind(id.0)
        .bind(from.audit)
        .bind(rows)
        .fetch_all(&self.pool)
        .await?;
        let statuses = sqlx::query(
            "SELECT id, at, adapter, observed_generation, changes, phase, actor, request_id
             FROM status_history WHERE resource_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
        )
        .bind(id.0)
        .bind(from.status)
        .bind(rows)
        .fetch_all(&self.pool)
        .await?;
        let mut audit = audit
            .iter()
            .map(audit_entry)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .peekable();
        let mut statuses = statuses
            .iter()
            .map(status_entry)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .peekable();
        let mut entries = Vec::new();
        let mut next = from;
        while entries.len() < usize::try_from(limit).unwrap_or(usize::MAX) {
            // At the same moment the report came first: what it led to is the newer line.
            let audit_is_newer = match (audit.peek(), statuses.peek()) {
                (Some(audit), Some(status)) => audit.time >= status.time,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return Ok((entries, None)),
            };
            if audit_is_newer {
                if let Some(entry) = audit.next() {
                    next.audit = entry.id;
                    entries.push(HistoryEntry::Audit(entry));
                }
            } else if let Some(entry) = statuses.next() {
                next.status = entry.id;
                entries.push(HistoryEntry::Status(entry));
            }
        }
        let more = audit.peek().is_some() || statuses.peek().is_some();
        Ok((entries, more.then_some(next)))
        })
        .await
    }

    /// A page of the audit log, newest first.
    pub async fn audit(&self, query: &AuditQuery<'_>) -> Result<Vec<AuditEntry>, StoreError> {
        self.timed(Operation::Query, "audit_log", async {
        sqlx::query(concat!(
            "SELECT id, at, actor, action, request_id, resource_id, kind, name, tenancy, generation, reason, detail
             FROM audit_log
             WHERE ($1::uuid IS NULL OR resource_id = $1) AND ($2::text IS NULL OR kind = $2)
               AND ($3::text IS NULL OR actor = $3) AND ($4::text IS NULL OR action = $4)
               AND ($5::bigint IS NULL OR id < $5)",
            seen!("$7", "kind", "tenancy", "'{}'::jsonb"),
            " ORDER BY id DESC LIMIT $6"
        ))
        .bind(query.resource.map(|id| id.0))
        .bind(query.kind)
        .bind(query.actor)
        .bind(query.action)
        .bind(query.before)
        .bind(i64::from(query.limit))
        .bind(self.sight())
        .fetch_all(&self.pool)
        .await?
        .iter()
        .map(audit_entry)
        .collect()
        })
        .await
    }

    /// What remains of a resource that is gone.
    pub async fn deletion(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
    ) -> Result<Option<DeletionRecord>, StoreError> {
        self.timed(Operation::Query, "deleted_resources", async {
        let found = sqlx::query(concat!(
            "SELECT removed_time, removed_by, how, reason, resource FROM deleted_resources
             WHERE id = $1 AND ($2::text IS NULL OR kind = $2) AND ($3::uuid IS NULL OR owner_id = $3)",
            seen!("$4", "kind", "tenancy", "coalesce(resource -> 'labels', '{}')")
        ))
        .bind(id.0)
        .bind(kind)
        .bind(owner.id())
        .bind(self.sight())
        .fetch_optional(&self.pool)
        .await?;
        let Some(found) = found else { return Ok(None) };
        let Json(resource): Json<Resource> = found.try_get("resource")?;
        let how = match found.try_get("how")? {
            "forced" => Removal::Forced,
            _ => Removal::Finalized,
        };
        Ok(Some(DeletionRecord {
            id,
            kind: resource.kind,
            name: resource.name,
            generation: resource.generation,
            deleted_time: resource.deleted_time,
            deleted_by: resource.deleted_by,
            removed_time: found.try_get("removed_time")?,
            removed_by: found.try_get("removed_by")?,
            how,
            reason: found.try_get("reason")?,
        }))
        })
        .await
    }

    /// Forgets what is older than `retention` allows, one batch of each kind; call again until nothing is forgotten.
    pub async fn forget(&self, retention: &Retention, now: Time) -> Result<Forgotten, StoreError> {
        self.timed(Operation::Delete, "audit_log", async {
        let audit = sqlx::query(
            "DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at < $1 ORDER BY at LIMIT $2)",
        )
        .bind(now - retention.history)
        .bind(BATCH)
        .execute(&self.pool)
        .await?;
        let statuses = sqlx::query(
            "DELETE FROM status_history
             WHERE id IN (SELECT id FROM status_history WHERE at < $1 ORDER BY at LIMIT $2)",
        )
        .bind(now - retention.history)
        .bind(BATCH)
        .execute(&self.pool)
        .await?;
        // A watcher that was away for longer than a deletion is remembered must start over.
        let deletions = sqlx::query(
            "WITH gone AS (
                 DELETE FROM deleted_resources WHERE id IN (
                     SELECT id FROM deleted_resources WHERE removed_time < $1 ORDER BY removed_time LIMIT $2)
                 RETURNING changed_xid
             ), horizon AS (
                 UPDATE feed_horizon SET pruned_xid = greatest(pruned_xid, (SELECT max(changed_xid) FROM gone))
                 WHERE EXISTS (SELECT 1 FROM gone)
             )
             SELECT changed_xid::text FROM gone",
        )
        .bind(now - retention.deletions)
        .bind(BATCH)
        .fetch_all(&self.pool)
        .await?;
        let idempotency = sqlx::query(
            "DELETE FROM idempotency_keys WHERE (actor, key) IN (
                 SELECT actor, key FROM idempotency_keys WHERE at < $1 ORDER BY at LIMIT $2)",
        )
        .bind(now - retention.idempotency)
        .bind(BATCH)
        .execute(&self.pool)
        .await?;
        Ok(Forgotten {
            audit: audit.rows_affected(),
            statuses: statuses.rows_affected(),
            deletions: u64::try_from(deletions.len()).unwrap_or(u64::MAX),
            idempotency: idempotency.rows_affected(),
        })
        })
        .await
    }
}

pub(crate) fn audit_entry(found: &PgRow) -> Result<AuditEntry, StoreError> {
    let id: i64 = found.try_get("id")?;
    let generation: Option<i32> = found.try_get("generation")?;
    let detail: Option<Json<_>> = found.try_get("detail")?;
    let Json(tenancy) = found.try_get("tenancy")?;
    let action: &str = found.try_get("action")?;
    let resource_id: Option<uuid::Uuid> = found.try_get("resource_id")?;
    Ok(AuditEntry {
        id,
        time: found.try_get("at")?,
        actor: found.try_get("actor")?,
        request_id: found.try_get("request_id")?,
        outcome: Outcome::of(action),
        action: action.to_owned(),
        resource_id: resource_id.map(ResourceId),
        kind: found.try_get("kind")?,
        name: found.try_get("name")?,
        tenancy,
        generation: generation.and_then(|number| i64::from(number).try_into().ok()),
        reason: found.try_get("reason")?,
        detail: detail.map(|Json(detail)| detail),
    })
}

fn status_entry(found: &PgRow) -> Result<StatusEntry, StoreError> {
    let id: i64 = found.try_get("id")?;
    let unreadable = |what: String| StoreError::Unreadable {
        id: format!("{id} of the status history"),
        what,
    };
    let adapter: String = found.try_get("adapter")?;
    let generation: i32 = found.try_get("observed_generation")?;
    let phase: String = found.try_get("phase")?;
    let Json(changes) = found.try_get("changes")?;
    Ok(StatusEntry {
        id,
        time: found.try_get("at")?,
        adapter: adapter.try_into().map_err(
            |error: hyperfleet_core::identity::NotAnAdapterName| unreadable(error.to_string()),
        )?,
        observed_generation: i64::from(generation).try_into().map_err(
            |error: hyperfleet_core::generation::NotAGeneration| unreadable(error.to_string()),
        )?,
        changes,
        phase: serde_json::from_value(phase.into())
            .map_err(|error| unreadable(error.to_string()))?,
        actor: found.try_get("actor")?,
        request_id: found.try_get("request_id")?,
    })
}
