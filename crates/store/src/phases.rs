//! How many resources are in which phase.

use hyperfleet_core::phase::Phase;
use sqlx::Row;

use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::pending::number;

/// The resources of one kind that are in one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InPhase {
    pub kind: String,
    pub phase: String,
    pub count: u64,
}

impl Store {
    /// Counts what is not Ready by the index of phases; the rest of those there are is. Its cost follows what is not
    /// Ready, not the fleet.
    pub async fn phases(&self) -> Result<Vec<InPhase>, StoreError> {
        let others = Phase::ALL.iter().filter(|phase| **phase != Phase::Ready);
        let others: Vec<String> = others
            .map(|phase| format!("phase:{}", phase.as_str()))
            .collect();
        let query = async {
            let rows = sqlx::query(
                "WITH other AS (
                     SELECT kind, status ->> 'phase' AS phase, count(*) AS count FROM resources WHERE facets && $1
                     GROUP BY 1, 2
                 )
                 SELECT kind, phase, count FROM other
                 UNION ALL
                 SELECT kind, $2, sum(count)::bigint FROM (
                     SELECT kind, total AS count FROM resource_totals
                     UNION ALL
                     SELECT kind, -count FROM other
                 ) AS rest
                 GROUP BY kind",
            )
            .bind(others)
            .bind(Phase::Ready.as_str())
            .fetch_all(&self.pool)
            .await?;
            rows.iter()
                .map(|row| {
                    Ok(InPhase {
                        kind: row.try_get("kind")?,
                        phase: row.try_get("phase")?,
                        count: number(row.try_get("count")?),
                    })
                })
                .collect()
        };
        self.timed(Operation::Query, "resources", query).await
    }
}
