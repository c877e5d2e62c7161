//! Reports on a resource, and the document they make.

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::aggregation::{self, Subject};
use hyperfleet_core::report::{Report, Verdict};
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use hyperfleet_store::{Decision, Reported};
use serde_json::{Map, Value, json};

use crate::body::JsonObject;
use crate::failure::Failure;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

/// PUT: 201 with the adapter's status, 204 when the report was discarded.
pub(crate) async fn put(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Path(ids): Path<Ids>,
    JsonObject(body): JsonObject,
) -> Result<Response, Failure> {
    let (_, outcome) = report(&state, &scope, &ids, body).await?;
    Ok(match outcome {
        Some(status) => (StatusCode::CREATED, Json(status)).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// POST: 200 with the whole status document, whether or not the report changed it.
pub(crate) async fn post(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Path(ids): Path<Ids>,
    JsonObject(body): JsonObject,
) -> Result<Json<Value>, Failure> {
    let (resource, _) = report(&state, &scope, &ids, body).await?;
    let reports = state.store.statuses(resource.id).await?;
    Ok(Json(document(&resource, &reports)))
}

/// GET: the whole status document.
pub(crate) async fn read(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Path(ids): Path<Ids>,
) -> Result<Json<Value>, Failure> {
    let owner = scope.owner(&state, &ids).await?;
    let id = scope.item(&ids)?;
    let resource = state
        .store
        .resource(scope.kind_name(), owner, id)
        .await?
        .ok_or_else(|| Failure::not_found(scope.noun(), &id.to_string()))?;
    let reports = state.store.statuses(id).await?;
    Ok(Json(document(&resource, &reports)))
}

/// Judges a report and stores it. The resource, and what is stored for the adapter now unless it was discarded.
async fn report(
    state: &ApiState,
    scope: &Scope,
    ids: &[String],
    body: Map<String, Value>,
) -> Result<(Resource, Option<AdapterStatus>), Failure> {
    let now = state.now();
    let report = Report::decode(&Value::Object(body), now)?;
    let owner = scope.owner(state, ids).await?;
    let id = scope.item(ids)?;
    state
        .store
        .report(scope.kind_name(), owner, id, |stored| {
            decide(state, &report, stored, now)
        })
        .await?
        .unwrap_or_else(|| Err(Failure::not_found(scope.noun(), &id.to_string())))
}

type Outcome = (Resource, Option<AdapterStatus>);

fn decide(
    state: &ApiState,
    report: &Report,
    stored: &Reported,
    now: Time,
) -> Result<Decision<Outcome>, Failure> {
    let resource = &stored.resource;
    let unchanged = |report: Option<AdapterStatus>| Decision {
        answer: (resource.clone(), report),
        store: None,
    };
    let before = stored
        .reports
        .iter()
        .find(|other| other.adapter == report.adapter);
    let adapter = match report.clone().judge(resource.generation, before)? {
        Verdict::Accept(adapter) => adapter,
        Verdict::Repeated => return Ok(unchanged(before.cloned())),
        Verdict::Discard(why) => {
            tracing::debug!(adapter = %report.adapter, resource_id = %resource.id, ?why, "report discarded");
            return Ok(unchanged(None));
        }
    };
    let others = stored
        .reports
        .iter()
        .filter(|other| other.adapter != adapter.adapter);
    let reports: Vec<AdapterStatus> = others.chain([&adapter]).cloned().collect();
    let required = state
        .kinds
        .kind(&resource.kind)
        .map_or(&[][..], |kind| &kind.required_adapters);
    let subject = Subject {
        generation: resource.generation,
        updated_time: resource.updated_time,
        deleting: resource.is_deleting(),
        has_children: stored.has_children,
        required,
    };
    let status = aggregation::status(&subject, &reports, Some(&resource.status), now);
    let updated = Resource {
        status: status.clone(),
        ..resource.clone()
    };
    Ok(Decision {
        answer: (updated, Some(adapter.clone())),
        store: Some((adapter, status)),
    })
}

/// `clusterStatus`, `nodePoolStatus`: everything adapters said about one resource.
fn document(resource: &Resource, reports: &[AdapterStatus]) -> Value {
    let mut letters = resource.kind.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let kind: String = first.into_iter().chain(letters).collect();
    let statuses: Vec<Value> = reports.iter().map(entry).collect();
    let mut document = json!({
        "id": format!("status-{}", resource.id),
        "type": format!("{kind}Status"),
        "href": format!("{}/statuses", resource.href),
        "adapter_statuses": statuses,
        "last_updated_time": resource.status.last_updated_time,
    });
    document[format!("{}_id", resource.kind.to_lowercase())] = json!(resource.id);
    document
}

fn entry(report: &AdapterStatus) -> Value {
    let mut entry = json!(report);
    entry["last_updated_time"] = json!(report.last_report_time);
    entry
}
