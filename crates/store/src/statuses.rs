//! What was reported.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `report` | 2 (3 when refused as unknown) | by key; two row writes |
//! | `statuses` | 1 | by key, one row per adapter |

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::resource::{Resource, ResourceStatus};
use sqlx::Row;
use sqlx::types::Json;

use crate::database::Store;
use crate::error::StoreError;
use crate::resources::Owner;
use crate::row::{self, resource_columns, status_columns};

/// How often a report is decided again because something else wrote to its resource in between.
const ATTEMPTS: u32 = 32;

/// What a report's judge wants: an answer for the caller, and what to store before it is given.
#[derive(Debug)]
pub struct Decision<T> {
    pub answer: T,
    /// The adapter's status and the resource's new one; `None` changes nothing.
    pub store: Option<(AdapterStatus, ResourceStatus)>,
}

/// What a report is judged on: the resource, every stored report on it, and whether it has children.
#[derive(Debug)]
pub struct Reported {
    pub resource: Resource,
    pub reports: Vec<AdapterStatus>,
    pub has_children: bool,
}

impl Store {
    /// Lets `decide` judge a report on what is stored now, and stores the outcome if that is still so.
    ///
    /// `None` when there is no such resource. `decide` runs again after a lost race, so it must be pure.
    pub async fn report<T, E>(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
        mut decide: impl FnMut(&Reported) -> Result<Decision<T>, E>,
    ) -> Result<Option<Result<T, E>>, StoreError> {
        for _ in 0..ATTEMPTS {
            let Some((revision, reported)) = self.reported(kind, owner, id).await? else {
                return Ok(None);
            };
            let decision = match decide(&reported) {
                Ok(decision) => decision,
                Err(refused) => return Ok(Some(Err(refused))),
            };
            let settled = match &decision.store {
                None => true,
                Some((adapter, status)) => self.store_report(id, revision, adapter, status).await?,
            };
            if settled {
                return Ok(Some(Ok(decision.answer)));
            }
        }
        Err(StoreError::Contended {
            id: id.to_string(),
            attempts: ATTEMPTS,
        })
    }

    /// Every report on a resource, in the order of the adapters' names.
    pub async fn statuses(&self, id: ResourceId) -> Result<Vec<AdapterStatus>, StoreError> {
        sqlx::query(concat!(
            "SELECT ",
            status_columns!(),
            " FROM adapter_statuses s WHERE s.resource_id = $1 ORDER BY s.adapter"
        ))
        .bind(id.0)
        .fetch_all(&self.pool)
        .await?
        .iter()
        .map(|found| row::adapter_status(id, found))
        .collect()
    }

    /// One round trip: the resource joined with its reports, a row for each.
    async fn reported(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
    ) -> Result<Option<(i64, Reported)>, StoreError> {
        let rows = sqlx::query(concat!(
            "SELECT ",
            resource_columns!(),
            ", s.adapter, s.observed_generation, s.conditions, s.data, s.metadata, s.last_report_time,
               s.created_time AS report_created_time,
               EXISTS (SELECT 1 FROM resources c WHERE c.owner_id = r.id) AS has_children
             FROM resources r LEFT JOIN adapter_statuses s ON s.resource_id = r.id
             WHERE r.id = $1 AND ($2::text IS NULL OR r.kind = $2) AND ($3::uuid IS NULL OR r.owner_id = $3)
             ORDER BY s.adapter"
        ))
        .bind(id.0)
        .bind(kind)
        .bind(match owner {
            Owner::Any => None,
            Owner::Is(owner) => Some(owner.0),
        })
        .fetch_all(&self.pool)
        .await?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let mut reports = Vec::with_capacity(rows.len());
        for found in &rows {
            if found.try_get::<Option<&str>, _>("adapter")?.is_some() {
                let mut report = row::adapter_status(id, found)?;
                report.created_time = found.try_get("report_created_time")?;
                reports.push(report);
            }
        }
        Ok(Some((
            first.try_get("revision")?,
            Reported {
                resource: row::resource(first)?,
                reports,
                has_children: first.try_get("has_children")?,
            },
        )))
    }

    /// One statement, two row writes; false when the resource is not at `revision` any more.
    async fn store_report(
        &self,
        id: ResourceId,
        revision: i64,
        adapter: &AdapterStatus,
        status: &ResourceStatus,
    ) -> Result<bool, StoreError> {
        let stored = sqlx::query(
            "WITH resource AS (
                 UPDATE resources SET status = $3, revision = revision + 1
                 WHERE id = $1 AND revision = $2 RETURNING id
             )
             INSERT INTO adapter_statuses AS s (resource_id, adapter, observed_generation, conditions, data, metadata,
                                                created_time, last_report_time)
             SELECT id, $4, $5, $6, $7, $8, $9, $10 FROM resource
             ON CONFLICT (resource_id, adapter) DO UPDATE SET
                 observed_generation = EXCLUDED.observed_generation, conditions = EXCLUDED.conditions,
                 data = EXCLUDED.data, metadata = EXCLUDED.metadata, last_report_time = EXCLUDED.last_report_time",
        )
        .bind(id.0)
        .bind(revision)
        .bind(Json(status))
        .bind(adapter.adapter.as_str())
        .bind(adapter.observed_generation.get())
        .bind(Json(&adapter.conditions))
        .bind(Json(&adapter.data))
        .bind(adapter.metadata.as_ref().map(Json))
        .bind(adapter.created_time)
        .bind(adapter.last_report_time)
        .execute(&self.pool)
        .await?;
        Ok(stored.rows_affected() == 1)
    }
}
