//! Whether the caller may do something, without doing it.

use axum::Json;
use axum::extract::State;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::Kind;
use hyperfleet_store::Owner;
use schemars::JsonSchema;
use serde::Serialize;

use crate::authz::Verb;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::params::Pairs;
use crate::scope::Scope;
use crate::state::ApiState;

/// What the caller may do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Permission {
    /// Who asks.
    identity: String,
    allowed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Takes `verb`, and `kind` and `id` of what it would be done to.
pub(crate) async fn can_i(
    State(state): State<ApiState>,
    caller: Caller,
    query: Pairs,
) -> Result<Json<Permission>, Failure> {
    let verb = query.get("verb").and_then(Verb::parse).ok_or_else(|| {
        let known = Verb::ALL.map(Verb::as_str).join(", ");
        Failure::invalid("verb", Some("enum"), format!("verb must be one of {known}"))
    })?;
    let kind = query
        .get("kind")
        .map(|name| known(&state, name))
        .transpose()?;
    let refused = match (kind, query.get("id")) {
        (None, None) if caller.access.may(verb, None) => None,
        (None, None) => Some(caller.lacks(verb, "resources")),
        (Some(kind), None) => caller.check_kind(verb, &kind.kind).err(),
        (kind, Some(id)) => about_one(&state, &caller, verb, kind, id).await?,
    };
    Ok(Json(Permission {
        identity: caller.identity.to_string(),
        allowed: refused.is_none(),
        reason: refused.map(|failure| failure.detail),
    }))
}

/// A kind by its name, its plural, or its name in lower case, as people type it.
fn known<'a>(state: &'a ApiState, name: &str) -> Result<&'a Kind, Failure> {
    let is = |kind: &&Kind| kind.plural == name || kind.kind.eq_ignore_ascii_case(name);
    state.kinds.kinds().iter().find(is).ok_or_else(|| {
        Failure::invalid("kind", Some("enum"), format!("Unknown entity kind: {name}"))
    })
}

/// What would be answered to the verb on one resource; nothing when it would be done.
async fn about_one(
    state: &ApiState,
    caller: &Caller,
    verb: Verb,
    kind: Option<&Kind>,
    id: &str,
) -> Result<Option<Failure>, Failure> {
    let scope = Scope {
        kind: kind.cloned(),
        parent: None,
    };
    let missing = || Some(Failure::not_found(scope.noun(), id));
    let Some(parsed) = ResourceId::parse(id) else {
        return Ok(missing());
    };
    let store = caller.writing(&state.store, verb, &scope);
    let found = store
        .resource(scope.kind_name(), Owner::Any, parsed)
        .await?;
    Ok(match found {
        None => missing(),
        Some(resource) => caller.check(verb, &resource).err(),
    })
}
