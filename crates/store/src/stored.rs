//! Reading a resource together with its reports.

use std::collections::BTreeMap;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::time::Time;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{PgExecutor, Row};
use uuid::Uuid;

use crate::author::Stored;
use crate::error::StoreError;
use crate::resources::Owner;
use crate::row::{self, resource_columns};

/// One round trip: the resource joined with its reports, a row for each. Also tells the revision it is at.
pub(crate) async fn read(
    connection: impl PgExecutor<'_>,
    kind: Option<&str>,
    owner: Owner,
    id: ResourceId,
) -> Result<Option<(i64, Stored)>, StoreError> {
    let rows = sqlx::query(concat!(
        "SELECT ",
        resource_columns!(),
        ", r.report_times, ",
        report_columns!(),
        ", EXISTS (SELECT 1 FROM resources c WHERE c.owner_id = r.id) AS has_children
         FROM resources r LEFT JOIN adapter_statuses s ON s.resource_id = r.id
         WHERE r.id = $1 AND ($2::text IS NULL OR r.kind = $2) AND ($3::uuid IS NULL OR r.owner_id = $3)
         ORDER BY s.adapter"
    ))
    .bind(id.0)
    .bind(kind)
    .bind(owner.id())
    .fetch_all(connection)
    .await?;
    Ok(group(&rows)?.pop())
}

/// Several resources at once, in the order of their ids.
pub(crate) async fn read_all(
    connection: impl PgExecutor<'_>,
    ids: &[Uuid],
) -> Result<Vec<(i64, Stored)>, StoreError> {
    let rows = sqlx::query(concat!(
        "SELECT ",
        resource_columns!(),
        ", r.report_times, ",
        report_columns!(),
        ", EXISTS (SELECT 1 FROM resources c WHERE c.owner_id = r.id) AS has_children
         FROM resources r LEFT JOIN adapter_statuses s ON s.resource_id = r.id
         WHERE r.id = ANY($1) ORDER BY r.id, s.adapter"
    ))
    .bind(ids)
    .fetch_all(connection)
    .await?;
    group(&rows)
}

/// Rows of one resource follow each other.
fn group(rows: &[PgRow]) -> Result<Vec<(i64, Stored)>, StoreError> {
    let mut groups = Vec::new();
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let resource = row::resource(first)?;
        let Json(times): Json<ReportTimes> = first.try_get("report_times")?;
        let mut reports = Vec::new();
        let mut length = 0;
        for found in rest {
            if found.try_get::<Uuid, _>("id")? != resource.id.0 {
                break;
            }
            length += 1;
            if found.try_get::<Option<&str>, _>("adapter")?.is_some() {
                reports.push(report(resource.id, found, &times)?);
            }
        }
        groups.push((
            first.try_get("revision")?,
            Stored {
                resource,
                reports,
                has_children: first.try_get("has_children")?,
            },
        ));
        rest = &rest[length..];
    }
    Ok(groups)
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
