//! What was reported.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `report` | 2, shared with reports on other resources | by key; one row write when nothing but its time is new, else two, and a line of history when a condition changed |
//! | `report`, the last of a deletion | 6 and 2 for each ancestor that goes with it | by key |
//! | `statuses` | 1 | by key, one row per adapter |

mod line;
mod together;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::history::ConditionChange;
use hyperfleet_core::identity::ResourceId;
use sqlx::Row;
use sqlx::types::Json;

use crate::attempt::Attempt;
use crate::author::{Aggregated, Author, Rules, Stored};
use crate::database::Store;
use crate::deletion;
use crate::error::StoreError;
use crate::observe::{Operation, undoes};
use crate::resources::Owner;
use crate::stored::{self, ReportTimes, report_columns};
use line::Line;
pub(crate) use together::Reports;

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
                // At first together with others, then alone.
                let mut alone = match number {
                    1 => None,
                    _ => Some(Attempt::begin(self, number, id).await?),
                };
                let found = match &mut alone {
                    None => match self.read_together((kind, owner, id)).await? {
                        Some(found) => found,
                        None => continue,
                    },
                    Some(attempt) => {
                        stored::read(&mut **attempt, kind, owner, id, self.sight()).await?
                    }
                };
                let Some((revision, stored)) = found else {
                    return Ok(None);
                };
                let decision = match decide(&stored) {
                    Ok(decision) => decision,
                    Err(refused) => return Ok(Some(Err(refused))),
                };
                let at = (id, revision);
                let line = match &decision.store {
                    ReportWrite::Nothing => return Ok(Some(Ok(decision.answer))),
                    ReportWrite::Repeated { report, aggregated } => {
                        Line::new(at, author, report, aggregated, None)?
                    }
                    ReportWrite::Changed {
                        report,
                        aggregated,
                        changes,
                    } => Line::new(at, author, report, aggregated, Some(changes))?,
                    ReportWrite::Last { report } => {
                        // Takes its locks itself, from the outermost ancestor in.
                        drop(alone);
                        if deletion::finalize(self, &stored, revision, report, author, rules)
                            .await?
                        {
                            self.changed();
                            return Ok(Some(Ok(decision.answer)));
                        }
                        continue;
                    }
                };
                let settled = match alone {
                    None => self.store_together(line).await.unwrap_or(false),
                    Some(mut attempt) => {
                        let stored = line::store(&mut attempt, &[&line]).await?;
                        attempt.finish(!stored.is_empty()).await?
                    }
                };
                if settled {
                    if let ReportWrite::Changed { aggregated, .. } = &decision.store {
                        self.changed();
                        if undoes(Some(&stored.resource.status), &aggregated.status) {
                            self.unreconciled(&stored.resource);
                        }
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
