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
    Ok(match outcome.report {
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
        if outcome.gone {
            // What was reported went with the resource; the last word is what is left.
            let left: Vec<AdapterStatus> = outcome.report.into_iter().collect();
            return Ok(Json(document(&outcome.resource, &left)));
        }
        last = Some(outcome.resource);
    }
    let resource = last.ok_or_else(|| Failure::new(Code::BadRequest, "nothing was reported"))?;
    let reports = state.store.statuses(resource.id).await?;
    Ok(Json(document(&resource, &reports)))
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
    let reported = store
        .report(target, caller.author(now), state, |stored| {
            own_name(caller, report, &stored.resource)?;
            decide(state, report, stored, now)
        })
        .await?;
    match reported {
        Some(outcome) => outcome,
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

/// The resource after the report, and what is stored for the adapter now unless the report was discarded.
struct Outcome {
    resource: Resource,
    report: Option<AdapterStatus>,
    /// Whether the resource went with this report.
    gone: bool,
}

fn decide(
    state: &ApiState,
    report: &Report,
    stored: &Stored,
    now: Time,
) -> Result<Decision<Outcome>, Failure> {
    let resource = &stored.resource;
    let unchanged = |report: Option<AdapterStatus>| Decision {
        answer: Outcome {
            resource: resource.clone(),
            report,
            gone: false,
        },
        store: ReportWrite::Nothing,
    };
    let before = stored
        .reports
        .iter()
        .find(|other| other.adapter == report.adapter);
    let report = match report.clone().judge(resource.generation, before)? {
        Verdict::Accept(report) => report,
        Verdict::Repeated => return Ok(unchanged(before.cloned())),
        Verdict::Discard(why) => {
            tracing::debug!(adapter = %report.adapter, resource_id = %resource.id, ?why, "report discarded");
            return Ok(unchanged(None));
        }
    };
    let others = stored
        .reports
        .iter()
        .filter(|other| other.adapter != report.adapter);
    let mut after = Stored {
        resource: resource.clone(),
        reports: others.chain([&report]).cloned().collect(),
        has_children: stored.has_children,
    };
    after.reports.sort_by(|a, b| a.adapter.cmp(&b.adapter));
    let required = state.required(&resource.kind);
    if report.says(types::FINALIZED, ConditionStatus::True)
        && is_removable(resource, &required, &after.reports, stored.has_children)
    {
        return Ok(Decision {
            answer: Outcome {
                resource: resource.clone(),
                report: Some(report.clone()),
                gone: true,
            },
            store: ReportWrite::Last { report },
        });
    }
    let aggregated = state.aggregate(&after, now);
    let answer = Outcome {
        resource: Resource {
            status: aggregated.status.clone(),
            ..after.resource
        },
        report: Some(report.clone()),
        gone: false,
    };
    let repeats = before.is_some_and(|before| report.repeats(before))
        && aggregated.status.says_the_same(&resource.status);
    let store = if repeats {
        ReportWrite::Repeated { report, aggregated }
    } else {
        ReportWrite::Changed {
            changes: condition_changes(before, &report),
            report,
            aggregated,
        }
    };
    Ok(Decision { answer, store })
}
