//! What reports leave behind, and the statement that stores it.

use std::collections::HashSet;

use hyperfleet_core::condition::AdapterCondition;
use hyperfleet_core::free::FreeObject;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::history::ConditionChange;
use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::resource::ResourceStatus;
use hyperfleet_core::time::Time;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use sqlx::types::Json;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::author::{Author, Stored};
use crate::error::StoreError;

/// What one report leaves behind, as it goes to the server.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) id: Uuid,
    columns: Box<RawValue>,
}

/// The columns of the statement.
#[derive(Serialize)]
struct Columns<'a> {
    id: Uuid,
    revision: i64,
    status: &'a ResourceStatus,
    adapter: &'a str,
    last_report_time: Time,
    /// What it says that is new; `None` if that is only its time.
    #[serde(flatten)]
    new: Option<New<'a>>,
}

#[derive(Serialize)]
struct New<'a> {
    observed_generation: Generation,
    conditions: &'a [AdapterCondition],
    data: &'a FreeObject,
    metadata: Option<&'a FreeObject>,
    created_time: Time,
    recheck_time: Option<Time>,
    changes: &'a [ConditionChange],
    phase: &'static str,
    at: Time,
    actor: &'a str,
    request_id: &'a str,
}

impl Line {
    /// Of a report on a resource that was at `revision`, and is `stored` with it. If there is something new in it
    /// beside its time, `new` are its changes and when to look at the clock again.
    pub(super) fn new(
        revision: i64,
        stored: &Stored,
        adapter: &AdapterName,
        author: Author<'_>,
        new: Option<(&[ConditionChange], Option<Time>)>,
    ) -> Result<Line, StoreError> {
        let id = stored.resource.id.0;
        let status = &stored.resource.status;
        let report = stored
            .report(adapter)
            .ok_or_else(|| StoreError::Unreadable {
                id: id.to_string(),
                what: format!("there is no report of adapter '{adapter}' to store"),
            })?;
        let columns = Columns {
            id,
            revision,
            status,
            adapter: report.adapter.as_str(),
            last_report_time: report.last_report_time,
            new: new.map(|(changes, recheck_time)| New {
                observed_generation: report.observed_generation,
                conditions: &report.conditions,
                data: &report.data,
                metadata: report.metadata.as_ref(),
                created_time: report.created_time,
                recheck_time,
                changes,
                phase: status.phase.as_str(),
                at: author.at,
                actor: author.actor,
                request_id: author.request_id,
            }),
        };
        let columns =
            to_raw_value(&columns).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
        Ok(Line { id, columns })
    }
}

/// Stores at most one report for each resource, and gives the ids of those that were stored: not what is at another
/// revision by now, nor what somebody else is about to write.
///
/// A report that says nothing new is one narrow write that touches no index.
///
/// The planner takes a limit it cannot see for a tenth of what there may be: few enough to look rows up one by one.
pub(super) async fn store(
    connection: &mut PgConnection,
    lines: &[&Line],
) -> Result<HashSet<Uuid>, sqlx::Error> {
    let columns: Vec<&RawValue> = lines.iter().map(|line| &*line.columns).collect();
    let stored = sqlx::query(
        "WITH line AS MATERIALIZED (
             SELECT l.* FROM (
                 SELECT * FROM jsonb_to_recordset($1) AS l (
                     id uuid, revision bigint, status jsonb, adapter text, last_report_time jsonb,
                     observed_generation integer, conditions jsonb, data jsonb, metadata jsonb,
                     created_time timestamptz, recheck_time timestamptz, changes jsonb, phase text,
                     at timestamptz, actor text, request_id text
                 ) LIMIT (SELECT $2::bigint)
             ) l JOIN resources r ON r.id = l.id AND r.revision = l.revision
             FOR NO KEY UPDATE OF r SKIP LOCKED
         ), resource AS (
             UPDATE resources r SET status = l.status, revision = r.revision + 1,
                    report_times = CASE WHEN l.at IS NULL
                        THEN jsonb_set(r.report_times, ARRAY[l.adapter], l.last_report_time)
                        ELSE r.report_times - l.adapter END,
                    recheck_time = CASE WHEN l.at IS NULL THEN r.recheck_time ELSE l.recheck_time END,
                    changed_xid = CASE WHEN l.at IS NULL THEN r.changed_xid ELSE pg_current_xact_id() END
             FROM line l WHERE r.id = l.id AND r.revision = l.revision RETURNING r.id
         ), new AS (
             SELECT l.* FROM line l JOIN resource USING (id) WHERE l.at IS NOT NULL
         ), history AS (
             INSERT INTO status_history (at, resource_id, adapter, observed_generation, changes, phase, actor, request_id)
             SELECT at, id, adapter, observed_generation, changes, phase, actor, request_id FROM new
             WHERE changes <> '[]'::jsonb
         ), said AS (
             INSERT INTO adapter_statuses AS s (resource_id, adapter, observed_generation, conditions, data, metadata,
                                                created_time, last_report_time)
             SELECT id, adapter, observed_generation, conditions, data, metadata, created_time,
                    (last_report_time #>> '{}')::timestamptz FROM new
             ON CONFLICT (resource_id, adapter) DO UPDATE SET
                 observed_generation = EXCLUDED.observed_generation, conditions = EXCLUDED.conditions,
                 data = EXCLUDED.data, metadata = EXCLUDED.metadata, last_report_time = EXCLUDED.last_report_time
         )
         SELECT id FROM resource",
    )
    .bind(Json(columns))
    .bind(i64::try_from(lines.len()).unwrap_or(i64::MAX))
    .fetch_all(connection)
    .await?;
    stored.iter().map(|row| row.try_get("id")).collect()
}
