//! Reading a resource together with its reports.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::condition::AdapterCondition;
use hyperfleet_core::free::FreeObject;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::time::Time;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::types::Json;
use sqlx::{PgExecutor, Postgres, Row};
use uuid::Uuid;

use crate::author::Stored;
use crate::database::Store;
use crate::error::StoreError;
use crate::resources::Owner;
use crate::row::{self, resource_columns};
use crate::sight::{Sight, seen};

/// A row for each resource: itself, and its reports as a column of arrays each. Joined row by row, every report would
/// carry the whole resource.
macro_rules! select_stored {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            resource_columns!(),
            ", r.report_times, s.*, EXISTS (SELECT 1 FROM resources c WHERE c.owner_id = r.id) AS has_children
             FROM resources r CROSS JOIN LATERAL (
                 SELECT array_agg(o.adapter) AS adapters, array_agg(o.observed_generation) AS observed_generations,
                        array_agg(o.conditions) AS conditions, array_agg(o.data) AS data,
                        array_agg(o.metadata) AS metadata, array_agg(o.created_time) AS created_times,
                        array_agg(o.last_report_time) AS last_report_times
                 FROM (SELECT * FROM adapter_statuses a WHERE a.resource_id = r.id ORDER BY a.adapter) o
             ) s
             WHERE ",
            $condition
        )
    };
}

/// One round trip. Also tells the revision the resource is at.
pub(crate) async fn read(
    connection: impl PgExecutor<'_>,
    kind: Option<&str>,
    owner: Owner,
    id: ResourceId,
    sight: Option<Json<&Sight>>,
) -> Result<Option<(i64, Stored)>, StoreError> {
    let found = sqlx::query(concat!(
        select_stored!(
            "r.id = $1 AND ($2::text IS NULL OR r.kind = $2) AND ($3::uuid IS NULL OR r.owner_id = $3)"
        ),
        seen!("$4")
    ))
    .bind(id.0)
    .bind(kind)
    .bind(owner.id())
    .bind(sight)
    .fetch_optional(connection)
    .await?;
    found.as_ref().map(from_row).transpose()
}

/// Several resources at once, in the order of their ids.
pub(crate) async fn read_all(
    connection: impl PgExecutor<'_>,
    ids: &[Uuid],
) -> Result<Vec<(i64, Stored)>, StoreError> {
    let found = select_all(ids).fetch_all(connection).await?;
    found.iter().map(from_row).collect()
}

/// The same, not read yet.
pub(crate) async fn rows(
    store: &Store,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, Arc<PgRow>>, sqlx::Error> {
    let found = store.fetch_all(select_all(ids)).await?;
    found
        .into_iter()
        .map(|row| Ok((row.try_get("id")?, Arc::new(row))))
        .collect()
}

/// How many ids there are is hidden from the planner, which would otherwise plan anew for every number of them.
fn select_all(ids: &[Uuid]) -> Query<'_, Postgres, PgArguments> {
    sqlx::query(select_stored!(
        "r.id = ANY((SELECT $1)::uuid[]) ORDER BY r.id"
    ))
    .bind(ids)
}

pub(crate) fn from_row(found: &PgRow) -> Result<(i64, Stored), StoreError> {
    let resource = row::resource(found)?;
    let reports = reports(resource.id, found)?;
    let stored = Stored {
        resource,
        reports,
        has_children: found.try_get("has_children")?,
    };
    Ok((found.try_get("revision")?, stored))
}

/// The arrays of [`select_stored`] as reports; they are NULL when there are none.
fn reports(id: ResourceId, found: &PgRow) -> Result<Vec<AdapterStatus>, StoreError> {
    let Some(adapters) = found.try_get::<Option<Vec<String>>, _>("adapters")? else {
        return Ok(Vec::new());
    };
    let Json(times): Json<ReportTimes> = found.try_get("report_times")?;
    let generations: Vec<i32> = found.try_get("observed_generations")?;
    let conditions: Vec<Json<Vec<AdapterCondition>>> = found.try_get("conditions")?;
    let data: Vec<Json<FreeObject>> = found.try_get("data")?;
    let metadata: Vec<Option<Json<FreeObject>>> = found.try_get("metadata")?;
    let created: Vec<Time> = found.try_get("created_times")?;
    let reported: Vec<Time> = found.try_get("last_report_times")?;
    let rest = generations.into_iter().zip(conditions).zip(data);
    let rest = rest.zip(metadata).zip(created).zip(reported);
    adapters
        .into_iter()
        .zip(rest)
        .map(
            |(adapter, (((((generation, conditions), data), metadata), created), reported))| {
                Ok(AdapterStatus {
                    last_report_time: times.get(&adapter).copied().unwrap_or(reported),
                    adapter: row::adapter(id, adapter)?,
                    observed_generation: row::generation(id.0, generation)?,
                    conditions: conditions.0,
                    data: data.0,
                    metadata: metadata.map(|Json(metadata)| metadata),
                    created_time: created,
                })
            },
        )
        .collect()
}

/// When each adapter last repeated its report.
pub(crate) type ReportTimes = BTreeMap<String, Time>;

/// The columns of a report beside those of its resource.
macro_rules! report_columns {
    () => {
        "s.adapter, s.observed_generation, s.conditions, s.data, s.metadata, s.last_report_time, \
         s.created_time AS report_created_time"
    };
}
pub(crate) use report_columns;

/// A report, with the time it was last repeated at: a report that says nothing new only moves its resource's row.
pub(crate) fn report(
    id: ResourceId,
    found: &PgRow,
    times: &ReportTimes,
) -> Result<AdapterStatus, StoreError> {
    let mut report = row::adapter_status(id, found)?;
    if let Some(time) = times.get(report.adapter.as_str()) {
        report.last_report_time = *time;
    }
    Ok(report)
}
