//! Computing statuses anew without a report: because time passed, or because the rules changed.
//!
//! | call | cost |
//! |---|---|
//! | `next_recheck` | one index lookup |
//! | `recheck` | follows what is due: 5 round trips for a batch, one row write for each resource that is looked at |
//! | `sweep` | follows the fleet, a batch at a time; a row is written only if something about it changes |
//!
//! One replica at a time: a batch runs under an advisory lock that ends with its transaction. A resource that somebody
//! else writes meanwhile is left to them, and looked at again if it is still due.

use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use sqlx::types::Json;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::author::{Aggregated, Rules, Stored};
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::stored;

/// "hfrechk1" as a number: the lock of everything here.
pub(crate) const LOCK: i64 = 0x6866_7265_6368_6b31;

/// What a batch did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rechecked {
    /// Resources that were looked at.
    pub seen: usize,
    /// Those whose status is another one now.
    pub changed: usize,
    /// Whether there was nothing left to look at.
    pub finished: bool,
}

/// How a sweep stands, as far as this replica can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// A batch was done here.
    Batch(Rechecked),
    /// Every resource was looked at by these rules.
    Done,
    /// Another replica is at it.
    Busy,
    /// Other rules are being applied, and this replica may not begin anew.
    Others,
}

/// Whether a sweep by new rules may begin, or only one that has begun be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Anew,
    Never,
}

impl Store {
    /// When the passing of time may next change a status.
    pub async fn next_recheck(&self) -> Result<Option<Time>, StoreError> {
        let query = async {
            let next = sqlx::query_scalar("SELECT min(recheck_time) FROM resources")
                .fetch_one(&self.pool)
                .await?;
            Ok(next)
        };
        self.timed(Operation::Query, "resources", query).await
    }

    /// Computes the status of at most `most` resources for which it is time. `None` when another replica is at it.
    pub async fn recheck(
        &self,
        now: Time,
        most: u32,
        rules: &dyn Rules,
    ) -> Result<Option<Rechecked>, StoreError> {
        let mut tx = self.begin().await?;
        if !lock(&mut tx).await? {
            return Ok(None);
        }
        let ids: Vec<Uuid> = sqlx::query_scalar(
            "SELECT id FROM resources WHERE recheck_time <= $1 ORDER BY recheck_time LIMIT $2",
        )
        .bind(now)
        .bind(i64::from(most))
        .fetch_all(&mut *tx)
        .await?;
        let changed = batch(&mut tx, &ids, now, rules).await?;
        tx.commit().await?;
        Ok(Some(self.told(ids.len(), changed, most)))
    }

    /// Computes the status of the next `most` resources by the rules with this fingerprint.
    pub async fn sweep(
        &self,
        fingerprint: &str,
        start: Start,
        now: Time,
        most: u32,
        rules: &dyn Rules,
    ) -> Result<Sweep, StoreError> {
        let mut tx = self.begin().await?;
        if !lock(&mut tx).await? {
            return Ok(Sweep::Busy);
        }
        let reached = match begin(&mut tx, fingerprint, start).await? {
            Begun::At(reached) => reached,
            Begun::Not(why) => {
                // A transaction that is only dropped holds its lock until its connection is used again.
                tx.rollback().await?;
                return Ok(why);
            }
        };
        let ids: Vec<Uuid> = sqlx::query_scalar(
            "SELECT id FROM resources WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2",
        )
        .bind(reached)
        .bind(i64::from(most))
        .fetch_all(&mut *tx)
        .await?;
        let changed = batch(&mut tx, &ids, now, rules).await?;
        sqlx::query("UPDATE aggregation_sweep SET reached = $1, finished = $2")
            .bind(ids.last().copied().or(reached))
            .bind(is_last(ids.len(), most))
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(Sweep::Batch(self.told(ids.len(), changed, most)))
    }

    /// Tells watchers and the observer what a batch changed.
    fn told(&self, seen: usize, changed: Vec<(Resource, Resource)>, most: u32) -> Rechecked {
        for (before, after) in &changed {
            self.settled(Some(&before.status), after);
        }
        if !changed.is_empty() {
            self.changed();
        }
        Rechecked {
            seen,
            changed: changed.len(),
            finished: is_last(seen, most),
        }
    }
}

/// A batch that is not full is the last one.
fn is_last(seen: usize, most: u32) -> bool {
    u32::try_from(seen).is_ok_and(|seen| seen < most)
}

async fn lock(tx: &mut PgConnection) -> Result<bool, StoreError> {
    Ok(sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)")
        .bind(LOCK)
        .fetch_one(tx)
        .await?)
}

/// Whether a sweep goes on here.
enum Begun {
    /// After this resource.
    At(Option<Uuid>),
    Not(Sweep),
}

async fn begin(
    tx: &mut PgConnection,
    fingerprint: &str,
    start: Start,
) -> Result<Begun, StoreError> {
    let state = sqlx::query("SELECT fingerprint, reached, finished FROM aggregation_sweep")
        .fetch_optional(&mut *tx)
        .await?;
    if let Some(state) = &state
        && state.try_get::<&str, _>("fingerprint")? == fingerprint
    {
        let finished: bool = state.try_get("finished")?;
        let reached: Option<Uuid> = state.try_get("reached")?;
        return Ok(match finished {
            true => Begun::Not(Sweep::Done),
            false => Begun::At(reached),
        });
    }
    if start == Start::Never {
        return Ok(Begun::Not(Sweep::Others));
    }
    sqlx::query(
        "INSERT INTO aggregation_sweep (fingerprint, finished) VALUES ($1, false)
         ON CONFLICT (only_row) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, reached = NULL, finished = false",
    )
    .bind(fingerprint)
    .execute(tx)
    .await?;
    Ok(Begun::At(None))
}

/// Computes and stores; the resources whose status changed, as they were and as they are.
async fn batch(
    tx: &mut PgConnection,
    ids: &[Uuid],
    now: Time,
    rules: &dyn Rules,
) -> Result<Vec<(Resource, Resource)>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let read = stored::read_all(&mut *tx, ids).await?;
    let computed: Vec<(i64, Stored, Aggregated)> = read
        .into_iter()
        .map(|(revision, stored)| {
            let aggregated = rules.aggregate(&stored, now);
            (revision, stored, aggregated)
        })
        .collect();
    let written = write(tx, &computed).await?;
    let changed = computed
        .into_iter()
        .filter(|(_, stored, _)| written.contains(&stored.resource.id.0))
        .map(|(_, stored, aggregated)| {
            let after = Resource {
                status: aggregated.status,
                ..stored.resource.clone()
            };
            (stored.resource, after)
        });
    Ok(changed.collect())
}

/// One statement; the ids of the rows whose status it changed. Rows that need no change are not touched.
async fn write(
    tx: &mut PgConnection,
    computed: &[(i64, Stored, Aggregated)],
) -> Result<Vec<Uuid>, StoreError> {
    let mut ids = Vec::with_capacity(computed.len());
    let mut revisions = Vec::with_capacity(computed.len());
    let mut statuses = Vec::with_capacity(computed.len());
    let mut rechecks = Vec::with_capacity(computed.len());
    for (revision, stored, aggregated) in computed {
        let is_new = !aggregated.status.says_the_same(&stored.resource.status);
        ids.push(stored.resource.id.0);
        revisions.push(*revision);
        statuses.push(is_new.then_some(Json(&aggregated.status)));
        rechecks.push(aggregated.recheck);
    }
    let rows = sqlx::query(
        "UPDATE resources r SET
             status = coalesce(n.status, r.status), recheck_time = n.recheck_time,
             revision = r.revision + (n.status IS NOT NULL)::int,
             changed_xid = CASE WHEN n.status IS NULL THEN r.changed_xid ELSE pg_current_xact_id() END
         FROM unnest($1::uuid[], $2::bigint[], $3::jsonb[], $4::timestamptz[]) AS n (id, revision, status, recheck_time)
         WHERE r.id = n.id AND r.revision = n.revision
           AND (n.status IS NOT NULL OR n.recheck_time IS DISTINCT FROM r.recheck_time)
         RETURNING r.id, n.status IS NOT NULL AS changed",
    )
    .bind(ids)
    .bind(revisions)
    .bind(statuses)
    .bind(rechecks)
    .fetch_all(tx)
    .await?;
    let mut changed = Vec::new();
    for row in &rows {
        if row.try_get("changed")? {
            changed.push(row.try_get("id")?);
        }
    }
    Ok(changed)
}
