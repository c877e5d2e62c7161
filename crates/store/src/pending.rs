//! How much is not reconciled, and for how long.

use chrono::TimeDelta;
use hyperfleet_core::time::Time;
use sqlx::Row;

use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;

/// The resources of one kind that are not reconciled.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    pub kind: String,
    pub deleting: bool,
    pub count: u64,
    /// Those that have been so for longer than the threshold, and the longest of them.
    pub stuck: u64,
    pub longest: TimeDelta,
}

impl Store {
    /// One query by the index of conditions: its cost follows what is not reconciled, not the fleet.
    pub async fn pending(
        &self,
        threshold: TimeDelta,
        now: Time,
    ) -> Result<Vec<Pending>, StoreError> {
        let query = async {
            let rows = sqlx::query(
                "SELECT kind, deleting, count(*) AS count, count(*) FILTER (WHERE since < $1) AS stuck,
                        min(since) FILTER (WHERE since < $1) AS oldest
                 FROM (
                     SELECT r.kind, r.deleted_time IS NOT NULL AS deleting, c.last_transition_time AS since
                     FROM resources r,
                          jsonb_to_recordset(r.status -> 'conditions') AS c (type text, last_transition_time timestamptz)
                     WHERE r.facets @> ARRAY['condition:Reconciled=False'] AND c.type = 'Reconciled'
                 ) AS unreconciled
                 GROUP BY kind, deleting",
            )
            .bind(now - threshold)
            .fetch_all(&self.pool)
            .await?;
            rows.iter()
                .map(|row| {
                    let oldest: Option<Time> = row.try_get("oldest")?;
                    Ok(Pending {
                        kind: row.try_get("kind")?,
                        deleting: row.try_get("deleting")?,
                        count: number(row.try_get("count")?),
                        stuck: number(row.try_get("stuck")?),
                        longest: oldest.map_or(TimeDelta::zero(), |oldest| now - oldest),
                    })
                })
                .collect()
        };
        self.timed(Operation::Query, "resources", query).await
    }
}

pub(crate) fn number(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}
