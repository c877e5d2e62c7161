//! What was reported.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `report` | 2 | by key; one row write when nothing but its time is new, else two, and a line of history when a condition changed |
//! | `report`, the last of a deletion | 6 and 2 for each ancestor that goes with it | by key |
//! | `statuses` | 1 | by key, one row per adapter |

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::history::ConditionChange;
use hyperfleet_core::identity::ResourceId;
use sqlx::types::Json;
use sqlx::{PgConnection, Row};

use crate::attempt::Attempt;
use crate::author::{Aggregated, Author, Rules, Stored};
use crate::database::Store;
use crate::deletion;
use crate::error::StoreError;
use crate::observe::{Operation, undoes};
use crate::resources::Owner;
use crate::stored::{self, ReportTimes, report_columns};

/// What a report's judge wants: an answer for the caller, and what to store before it is given.
#[derive(Debug)]
pub struct Decision<T> {
    pub answer: T,
    pub store: ReportWrite,
}

/// What a report leaves behind.
#[derive(Debug)]
pub enum ReportWrite {
    Nothing,
    /// It says what its adapter said before: only times move, and no watcher is told.
    Repeated {
        report: AdapterStatus,
        aggregated: Aggregated,
    },
    /// It says something new.
    Changed {
        report: AdapterStatus,
        aggregated: Aggregated,
        changes: Vec<ConditionChange>,
    },
    /// It was the last that a deletion waited for.
    Last {
        report: AdapterStatus,
    },
}

impl Store {
    /// Lets `decide` judge a report on what is stored now, and stores the outcome if that is still so.
    ///
    /// `None` when there is no such resource. `decide` runs again after a lost race, so it must be pure.
    pub async fn report<T, E>(
        &self,
        (kind, owner, id): (Option<&str>, Owner, ResourceId),
        author: Author<'_>,
        rules: &dyn Rules,
        mut decide: impl FnMut(&Stored) -> Result<Decision<T>, E>,
    ) -> Result<Option<Result<T, E>>, StoreError> {
        self.timed(Operation::Update, "adapter_statuses", async {
            for number in Attempt::numbers() {
                let mut attempt = Attempt::begin(self, number, id).await?;
                let Some((revision, stored)) =
                    stored::read(&mut *attempt, kind, owner, id, self.sight()).await?
                else {
                    return Ok(None);
                };
                let decision = match decide(&stored) {
                    Ok(decision) => decision,
                    Err(refused) => return Ok(Some(Err(refused))),
                };
                let settled = match &decision.store {
                    ReportWrite::Nothing => return Ok(Some(Ok(decision.answer))),
                    ReportWrite::Repeated { report, aggregated } => {
                        let stored =
                            store_repeated(&mut attempt, id, revision, report, aggregated).await?;
                        attempt.finish(stored).await?
                    }
                    ReportWrite::Changed {
                        report,
                        aggregated,
                        changes,
                    } => {
                        let new = Changed {
                            report,
                            aggregated,
                            changes,
                        };
                        let stored = store_changed(&mut attempt, id, revision, author, new).await?;
                        attempt.finish(stored).await?
                    }
                    ReportWrite::Last { report } => {
                        // Takes its locks itself, from the outermost ancestor in.
                        drop(attempt);
                        deletion::finalize(self, &stored, revision, report, author, rules).await?
                    }
                };
                if settled {
                    if !matches!(decision.store, ReportWrite::Repeated { .. }) {
                        self.changed();
                    }
                    if let ReportWrite::Changed { aggregated, .. } = &decision.store
                        && undoes(Some(&stored.resource.status), &aggregated.status)
                    {
                        self.unreconciled(&stored.resource);
                    }
                    return Ok(Some(Ok(decision.answer)));
                }
            }
            Err(Attempt::contended(id))
        })
        .await
    }

    /// Every report on a resource, in the order of the adapters' names.
    pub async fn statuses(&self, id: ResourceId) -> Result<Vec<AdapterStatus>, StoreError> {
        self.timed(Operation::Query, "adapter_statuses", async {
            let select = sqlx::query(concat!(
                "SELECT r.report_times, ",
                report_columns!(),
                " FROM adapter_statuses s JOIN resources r ON r.id = s.resource_id
                  WHERE s.resource_id = $1 ORDER BY s.adapter"
            ))
            .bind(id.0);
            let found = self.fetch_all(select).await?;
            found
                .iter()
                .map(|found| {
                    let Json(times): Json<ReportTimes> = found.try_get("report_times")?;
                    stored::report(id, found, &times)
                })
                .collect()
        })
        .await
    }
}

/// One narrow write that touches no index; false when the resource is not at `revision` any more.
async fn store_repeated(
    connection: &mut PgConnection,
    id: ResourceId,
    revision: i64,
    report: &AdapterStatus,
    aggregated: &Aggregated,
) -> Result<bool, StoreError> {
    let stored = sqlx::query(
        "UPDATE resources SET status = $3, revision = revision + 1,
                report_times = jsonb_set(report_times, ARRAY[$4], $5)
         WHERE id = $1 AND revision = $2",
    )
    .bind(id.0)
    .bind(revision)
    .bind(Json(&aggregated.status))
    .bind(report.adapter.as_str())
    .bind(Json(report.last_report_time))
    .execute(connection)
    .await?;
    Ok(stored.rows_affected() == 1)
}

/// One statement; false when the resource is not at `revision` any more.
async fn store_changed(
    connection: &mut PgConnection,
    id: ResourceId,
    revision: i64,
    author: Author<'_>,
    new: Changed<'_>,
) -> Result<bool, StoreError> {
    let (report, status) = (new.report, &new.aggregated.status);
    let stored = sqlx::query(
        "WITH resource AS (
             UPDATE resources SET status = $3, recheck_time = $11, revision = revision + 1,
                    report_times = report_times - $4, changed_xid = pg_current_xact_id()
             WHERE id = $1 AND revision = $2 RETURNING id
         ), line AS (
             INSERT INTO status_history (at, resource_id, adapter, observed_generation, changes, phase, actor, request_id)
             SELECT $12, id, $4, $5, $13, $14, $15, $16 FROM resource WHERE $13 <> '[]'::jsonb
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
    .bind(report.adapter.as_str())
    .bind(report.observed_generation.get())
    .bind(Json(&report.conditions))
    .bind(Json(&report.data))
    .bind(report.metadata.as_ref().map(Json))
    .bind(report.created_time)
    .bind(report.last_report_time)
    .bind(new.aggregated.recheck)
    .bind(author.at)
    .bind(Json(new.changes))
    .bind(status.phase.as_str())
    .bind(author.actor)
    .bind(author.request_id)
    .execute(connection)
    .await?;
    Ok(stored.rows_affected() == 1)
}

/// A report that says something new, with what follows from it.
struct Changed<'a> {
    report: &'a AdapterStatus,
    aggregated: &'a Aggregated,
    changes: &'a [ConditionChange],
}
