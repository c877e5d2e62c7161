//! Reports on a resource, and the document they make.

mod document;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::condition::{ConditionStatus, types};
use hyperfleet_core::deletion::is_removable;
use hyperfleet_core::history::condition_changes;
use hyperfleet_core::problem::Code;
use hyperfleet_core::report::{Report, Verdict};
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use hyperfleet_store::{Decision, ReportWrite, Rules, Stored};
use serde_json::Value;

use crate::authz::Verb;
use crate::body::JsonObject;
use crate::caller::Caller;
use crate::config::StatusesFormat;
use crate::dry_run::NotTried;
use crate::failure::Failure;
use crate::params::Pairs;
use crate::query::StatusesQuery;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;
use document::document;

/// PUT: 201 with the adapter's status, 204 when the report was discarded.
pub(crate) async fn put(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    _: NotTried,
    JsonObject(body): JsonObject,
) -> Result<Response, Failure> {
    let now = state.now();
    let report = Report::decode(&Value::Object(body), now)?;
    let outcome = take(&state, &scope, &ids, &caller, &report, now).await?;
    Ok(match outcome.said(&report) {
        Some(status) => (StatusCode::CREATED, Json(status)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// POST: 200 with the whole status document, whether or not the report changed it.
pub(crate) async fn post(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    _: NotTried,
    JsonObject(body): JsonObject,
) -> Result<Json<Value>, Failure> {
    let now = state.now();
    let mut last = None;
    for report in Report::decode_all(&Value::Object(body), now)? {
        let outcome = take(&state, &scope, &ids, &caller, &report, now).await?;
        if let Taken::Last(report) = outcome.taken {
            // What was reported went with the resource; the last word is what is left.
            return Ok(Json(document(&outcome.stored.resource, &[report])));
        }
        last = Some(outcome.stored);
    }
    let last = last.ok_or_else(|| Failure::new(Code::BadRequest, "nothing was reported"))?;
    Ok(Json(document(&last.resource, &last.reports)))
}

/// GET: the whole status document, or a page of reports where clients expect one.
pub(crate) async fn read(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    pairs: Pairs,
) -> Result<Response, Failure> {
    let query = StatusesQuery::read(&pairs)?;
    let owner = scope
        .owner(&caller.within_tenant(&state.store), &ids)
        .await?;
    let store = caller.reading(&state.store, Verb::Get, &scope);
    let id = scope.item(&ids)?;
    let Some(resource) = store.resource(scope.kind_name(), owner, id).await? else {
        return Err(scope.missing(&store, owner, id).await);
    };
    let mut reports = state.store.statuses(id).await?;
    if let Some(generation) = query.generation {
        reports.retain(|report| report.observed_generation == generation);
    }
    Ok(match state.statuses_format {
        StatusesFormat::Document => Json(document(&resource, &reports)).into_response(),
        StatusesFormat::List => Json(query.page(reports)).into_response(),
    })
}

/// Judges a report and stores it.
async fn take(
    state: &ApiState,
    scope: &Scope,
    ids: &[String],
    caller: &Caller,
    report: &Report,
    now: Time,
) -> Result<Outcome, Failure> {
    let owner = scope
        .owner(&caller.within_tenant(&state.store), ids)
        .await?;
    let store = caller.writing(&state.store, Verb::Report, scope);
    let id = scope.item(ids)?;
    let target = (scope.kind_name(), owner, id);
    let judge = |stored: &mut Stored| {
        own_name(caller, report, &stored.resource)?;
        decide(state, report, stored, now)
    };
    let reported = store
        .report(target, &report.adapter, caller.author(now), state, judge)
        .await?;
    match reported {
        Some(reported) => reported.map(|(taken, stored)| Outcome { taken, stored }),
        None => Err(scope.missing(&store, owner, id).await),
    }
}

/// Refuses a report in a name that is not the caller's.
fn own_name(caller: &Caller, report: &Report, resource: &Resource) -> Result<(), Failure> {
    if caller.access.reports_as(&report.adapter, resource) {
        return Ok(());
    }
    let what = format!(
        "{} '{}' as adapter '{}'",
        resource.kind, resource.id, report.adapter
    );
    Err(caller.lacks(Verb::Report, &what))
}

/// What became of a report, and the resource with all reports after it.
struct Outcome {
    taken: Taken,
    stored: Arc<Stored>,
}

enum Taken {
    /// What is stored for the adapter is what it said.
    Said,
    Discarded,
    /// The resource went with this report.
    Last(AdapterStatus),
}

impl Outcome {
    /// What the adapter has said, unless the report was discarded.
    fn said(&self, report: &Report) -> Option<&AdapterStatus> {
        match &self.taken {
            Taken::Said => self.stored.report(&report.adapter),
            Taken::Discarded => None,
            Taken::Last(report) => Some(report),
        }
    }
}

fn decide(
    state: &ApiState,
    report: &Report,
    stored: &mut Stored,
    now: Time,
) -> Result<Decision<Taken>, Failure> {
    let unchanged = |answer: Taken| Decision {
        answer,
        store: ReportWrite::Nothing,
    };
    let before = stored.report(&report.adapter);
    let report = match report.clone().judge(stored.resource.generation, before)? {
        Verdict::Accept(report) => report,
        Verdict::Repeated => return Ok(unchanged(Taken::Said)),
        Verdict::Discard(why) => {
            let resource_id = stored.resource.id;
            tracing::debug!(adapter = %report.adapter, %resource_id, ?why, "report discarded");
            return Ok(unchanged(Taken::Discarded));
        }
    };
    if report.says(types::FINALIZED, ConditionStatus::True) && is_last(state, &report, stored) {
        return Ok(Decision {
            answer: Taken::Last(report.clone()),
            store: ReportWrite::Last(report),
        });
    }
    let repeats = before.is_some_and(|before| report.repeats(before));
    let changes = condition_changes(before, &report);
    stored.put(report);
    let aggregated = state.aggregate(stored, now);
    let status = std::mem::replace(&mut stored.resource.status, aggregated.status);
    let store = if repeats && stored.resource.status.says_the_same(&status) {
        ReportWrite::Repeated
    } else {
        ReportWrite::Changed {
            changes,
            recheck: aggregated.recheck,
        }
    };
    Ok(Decision {
        answer: Taken::Said,
        store,
    })
}

/// Whether a deletion waits for nothing but this report.
fn is_last(state: &ApiState, report: &AdapterStatus, stored: &Stored) -> bool {
    let mut after = stored.clone();
    after.put(report.clone());
    let required = state.required(&after.resource.kind);
    is_removable(
        &after.resource,
        &required,
        &after.reports,
        after.has_children,
    )
}
