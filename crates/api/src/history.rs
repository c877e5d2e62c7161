//! What happened: to one resource, and in the whole fleet.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use hyperfleet_core::audit_note::AuditNote;
use hyperfleet_core::history::{AuditEntry, HistoryEntry};
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::problem::Code;
use hyperfleet_store::{AuditQuery, HistoryCursor, Noted, Owner};
use serde::Serialize;
use serde_json::Value;

use crate::authz::Verb;
use crate::body::JsonObject;
use crate::caller::Caller;
use crate::dry_run::NotTried;
use crate::failure::Failure;
use crate::params::Pairs;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 1000;

/// A page of something that grows at its newest end.
#[derive(Debug, Serialize)]
pub(crate) struct Newest<T> {
    items: Vec<T>,
    /// Asks for the next, older page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#continue: Option<String>,
}

/// What happened to one resource, newest first; also when it is gone.
pub(crate) async fn history(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    query: Pairs,
) -> Result<Json<Newest<HistoryEntry>>, Failure> {
    let limit = limit(&query)?;
    let from = match query.get("continue") {
        None => HistoryCursor::NEWEST,
        Some(text) => cursor(text).ok_or_else(bad_continue)?,
    };
    let id = scope.item(&ids)?;
    let owner = scope.path_owner(&ids)?;
    let store = caller.reading(&state.store, Verb::Get, &scope);
    let known = store.resource(scope.kind_name(), owner, id).await?;
    if known.is_none() {
        let missing = scope.missing(&store, owner, id).await;
        if missing.deletion.is_none() {
            return Err(missing);
        }
    }
    let (items, next) = state.store.history(id, from, limit).await?;
    let next = next.map(|next| format!("{}.{}", next.audit, next.status));
    Ok(Json(Newest {
        items,
        r#continue: next,
    }))
}

/// Who did what, newest first. Takes `resource_id`, `kind`, `actor`, `action`.
pub(crate) async fn audit(
    State(state): State<ApiState>,
    caller: Caller,
    query: Pairs,
) -> Result<Json<Newest<AuditEntry>>, Failure> {
    let limit = limit(&query)?;
    let before = match query.get("continue") {
        None => None,
        Some(text) => Some(text.parse::<i64>().map_err(|_| bad_continue())?),
    };
    let resource = match query.get("resource_id") {
        None => None,
        Some(text) => Some(ResourceId::parse(text).ok_or_else(|| {
            Failure::invalid("resource_id", Some("format"), "resource_id must be an id")
        })?),
    };
    let sight = caller.access.sight(&[Verb::Audit], None);
    let mut items = state
        .store
        .seen_by(sight)
        .audit(&AuditQuery {
            resource,
            kind: query.get("kind"),
            actor: query.get("actor"),
            action: query.get("action"),
            before,
            limit: limit + 1,
        })
        .await?;
    let page = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > page;
    items.truncate(page);
    let next = items
        .last()
        .filter(|_| more)
        .map(|last| last.id.to_string());
    Ok(Json(Newest {
        items,
        r#continue: next,
    }))
}

/// A line that only the component that did it can write. Asked again about the same object, it answers the line that is
/// there: who did not hear the answer can ask again.
pub(crate) async fn note(
    State(state): State<ApiState>,
    caller: Caller,
    _: NotTried,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<AuditEntry>), Failure> {
    let note: AuditNote = serde_json::from_value(Value::Object(body))
        .map_err(|error| Failure::new(Code::Validation, error.to_string()))?;
    if let Some((field, most)) = note.broken_rule() {
        let message = format!("{field} must have 1 to {most} characters");
        return Err(Failure::invalid(field, Some("length"), message));
    }
    let author = caller.author(state.now());
    Ok(match state.store.note(&note, author).await? {
        Noted::New(entry) => (StatusCode::CREATED, Json(entry)),
        Noted::Before(entry) => (StatusCode::OK, Json(entry)),
    })
}

fn limit(query: &Pairs) -> Result<u32, Failure> {
    let Some(text) = query.get("limit") else {
        return Ok(DEFAULT_LIMIT);
    };
    match text.parse() {
        Ok(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
        _ => Err(Failure::invalid(
            "limit",
            Some("format"),
            format!("limit must be a whole number from 1 to {MAX_LIMIT}"),
        )),
    }
}

fn cursor(text: &str) -> Option<HistoryCursor> {
    let (audit, status) = text.split_once('.')?;
    Some(HistoryCursor {
        audit: audit.parse().ok()?,
        status: status.parse().ok()?,
    })
}

fn bad_continue() -> Failure {
    Failure::new(
        Code::BadRequest,
        "continue is not the token of an earlier page; leave it out to begin with the newest",
    )
}

impl Scope {
    /// The owner in the path, which need not exist any longer.
    fn path_owner(&self, ids: &[String]) -> Result<Owner, Failure> {
        let (Some(parent), Some(id)) = (&self.parent, ids.first()) else {
            return Ok(Owner::Any);
        };
        let id = ResourceId::parse(id).ok_or_else(|| Failure::not_found(&parent.kind, id))?;
        Ok(Owner::Is(id))
    }
}
