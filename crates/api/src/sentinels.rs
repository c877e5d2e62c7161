//! Sentinels that announce themselves: who is there, who holds which shards, who overlaps whom.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::presence::{Announcement, Presence, Standing};
use hyperfleet_core::problem::Code;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::body::JsonObject;
use crate::caller::Caller;
use crate::dry_run::NotTried;
use crate::failure::Failure;
use crate::scope::Ids;
use crate::state::ApiState;

#[derive(Debug, Serialize)]
pub(crate) struct Sentinels {
    items: Vec<Presence>,
}

/// Everyone whose time has not passed.
pub(crate) async fn list(State(state): State<ApiState>) -> Result<Json<Sentinels>, Failure> {
    let items = state.store.sentinels().await?;
    Ok(Json(Sentinels { items }))
}

/// One is there, and is told what it holds.
pub(crate) async fn announce(
    State(state): State<ApiState>,
    Ids(ids): Ids,
    caller: Caller,
    _: NotTried,
    JsonObject(body): JsonObject,
) -> Result<Json<Standing>, Failure> {
    let id = one(&ids)?;
    let said: Announcement = serde_json::from_value(Value::Object(body))
        .map_err(|error| Failure::new(Code::Validation, error.to_string()))?;
    check(&said)?;
    let author = caller.author(state.now());
    let standing = state.store.announce_sentinel(id, &said, author).await?;
    Ok(Json(standing))
}

/// One is gone, or never was there.
pub(crate) async fn withdraw(
    State(state): State<ApiState>,
    Ids(ids): Ids,
    caller: Caller,
    _: NotTried,
) -> Result<StatusCode, Failure> {
    let author = caller.author(state.now());
    state.store.withdraw_sentinel(one(&ids)?, author).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn one(ids: &[String]) -> Result<Uuid, Failure> {
    let id = ids.last().map_or("", String::as_str);
    ResourceId::parse(id)
        .map(|id| id.0)
        .ok_or_else(|| Failure::not_found("Sentinel", id))
}

fn check(said: &Announcement) -> Result<(), Failure> {
    for (field, text) in [("name", &said.name), ("resource_type", &said.resource_type)] {
        if !(1..=Announcement::MAX_NAME).contains(&text.chars().count()) {
            let most = Announcement::MAX_NAME;
            let message = format!("{field} must have 1 to {most} characters");
            return Err(Failure::invalid(field, Some("length"), message));
        }
    }
    if said.selector.len() > Announcement::MAX_LABELS {
        let most = Announcement::MAX_LABELS;
        let message = format!("selector must have at most {most} labels");
        return Err(Failure::invalid("selector", Some("max_length"), message));
    }
    if !(1..=Announcement::MAX_SECONDS).contains(&said.duration_seconds) {
        let message = format!(
            "duration_seconds must be 1 to {}",
            Announcement::MAX_SECONDS
        );
        return Err(Failure::invalid("duration_seconds", Some("range"), message));
    }
    let most = Announcement::MAX_DECIDES;
    if serde_json::to_vec(&said.decides).is_ok_and(|written| written.len() > most) {
        let message = format!("decides must be at most {most} bytes");
        return Err(Failure::invalid("decides", Some("max_length"), message));
    }
    Ok(())
}
