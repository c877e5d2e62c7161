//! What was reported.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `report` | 2, or 1 if its resource is remembered; shared with reports on other resources | by key; one row write when nothing but its time is new, else two, and a line of history when a condition changed |
//! | `report`, the last of a deletion | 6 and 2 for each ancestor that goes with it | by key |
//! | `statuses` | 1 | by key, one row per adapter |

mod hearing;
mod known;
mod line;
mod together;

use std::sync::Arc;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::history::ConditionChange;
use hyperfleet_core::identity::{AdapterName, ResourceId};
use hyperfleet_core::time::Time;
use sqlx::Row;
use sqlx::types::Json;

use crate::author::{Author, Rules, Stored};
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::resources::Owner;
use crate::stored::{self, ReportTimes, report_columns};
use hearing::Hearing;
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
    Repeated,
    /// It says something new.
    Changed {
        changes: Vec<ConditionChange>,
        /// When the passing of time alone may change the status.
        recheck: Option<Time>,
    },
    /// It was the last that a deletion waited for.
    Last(AdapterStatus),
}

impl Store {
    /// Lets `decide` judge a report of `adapter` on what is stored now, and stores the outcome if that is still so.
    ///
    /// `decide` makes of what is stored what it shall be, if its decision is to store the report: with the report in
    /// it, and the status it leads to. Otherwise it leaves it as it is. It runs again after a lost race, on what is
    /// stored then.
    ///
    /// Gives the answer, and what is stored now; whether it has children is true of what is being deleted only, since
    /// nobody asks for the rest. `None` when there is no such resource.
    pub async fn report<T, E>(
        &self,
        target: (Option<&str>, Owner, ResourceId),
        adapter: &AdapterName,
        author: Author<'_>,
        rules: &dyn Rules,
        decide: impl FnMut(&mut Stored) -> Result<Decision<T>, E>,
    ) -> Result<Option<Result<(T, Arc<Stored>), E>>, StoreError> {
        let hearing = Hearing {
            store: self,
            target,
            adapter,
            author,
            rules,
            decide,
        };
        self.timed(Operation::Update, "adapter_statuses", hearing.run())
            .await
    }

    /// About how many bytes of memory resources take that were reported on lately.
    pub fn report_memory(&self) -> usize {
        self.reports.memory.bytes()
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
