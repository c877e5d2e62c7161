//! PATCH: each field given replaces the old one whole.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::patch::Patch;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::{References, Resource};
use hyperfleet_store::{Author, Patched, Rules, Store, Stored};
use serde_json::{Map, Value};

use crate::authz::Verb;
use crate::body::JsonObject;
use crate::caller::Caller;
use crate::dry_run::DryRun;
use crate::etag::{IfMatch, tagged};
use crate::failure::Failure;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;
use crate::{references, schema, wanted};

pub(crate) async fn patch(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    DryRun(effect): DryRun,
    if_match: IfMatch,
    JsonObject(body): JsonObject,
) -> Result<Response, Failure> {
    let fields = fields(&body)?;
    let tenant = caller.within_tenant(&state.store);
    let owner = scope.owner(&tenant, &ids).await?;
    let store = caller.writing(&state.store, Verb::Patch, &scope);
    let id = scope.item(&ids)?;
    let kind = match &scope.kind {
        Some(kind) => kind.clone(),
        None => kind_of(&state, &store, &scope, id).await?,
    };
    let patch = read(&state, &tenant, &kind, &fields).await?;
    let author = caller.author(state.now());
    let patched: Option<Result<Resource, Failure>> = store
        .patch((scope.kind_name(), owner, id), author, effect, |stored| {
            caller.check(Verb::Patch, &stored.resource)?;
            let patched = decide(&state, &patch, stored, author, &if_match)?;
            // Nobody moves a resource out of their own reach, or into it.
            if let Some(patched) = &patched {
                caller.check(Verb::Patch, &patched.resource)?;
            }
            Ok(patched)
        })
        .await?;
    match patched {
        Some(outcome) => Ok(tagged(StatusCode::OK, &outcome?)),
        None => Err(scope.missing(&store, owner, id).await),
    }
}

/// The fields of the body, which must be known and not all absent.
fn fields(body: &Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    for name in body.keys() {
        if !Patch::FIELDS.contains(&name.as_str()) {
            let known = Patch::FIELDS.join(", ");
            let detail = format!("unknown field '{name}'; a PATCH may hold {known}");
            return Err(Failure::new(Code::Malformed, detail));
        }
    }
    let given: Map<String, Value> = body
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if given.is_empty() {
        let detail = "at least one field must be provided for update";
        return Err(Failure::new(Code::BadRequest, detail));
    }
    Ok(given)
}

/// The kind of a resource that is addressed by its id alone.
async fn kind_of(
    state: &ApiState,
    store: &Store,
    scope: &Scope,
    id: ResourceId,
) -> Result<Kind, Failure> {
    let owner = hyperfleet_store::Owner::Any;
    let Some(resource) = store.resource(None, owner, id).await? else {
        return Err(scope.missing(store, owner, id).await);
    };
    state.kinds.kind(&resource.kind).cloned().ok_or_else(|| {
        let detail = format!("kind {} is not configured", resource.kind);
        Failure::new(Code::StateConflict, detail)
    })
}

async fn read(
    state: &ApiState,
    tenant: &Store,
    kind: &Kind,
    fields: &Map<String, Value>,
) -> Result<Patch, Failure> {
    let spec = fields.get("spec").map(wanted::spec).transpose()?;
    if let Some(spec) = &spec {
        schema::check(state, kind, spec)?;
    }
    let labels = fields.get("labels").map(wanted::labels).transpose()?;
    let references = match fields.get("references") {
        None => None,
        given => Some(references::read(state, tenant, kind, given).await?),
    };
    Ok(Patch {
        spec,
        labels,
        references,
    })
}

fn decide(
    state: &ApiState,
    patch: &Patch,
    stored: &Stored,
    author: Author<'_>,
    if_match: &IfMatch,
) -> Result<Option<Patched>, Failure> {
    let before = &stored.resource;
    if_match.check(before)?;
    if before.is_deleting() {
        let detail = format!("{} '{}' is marked for deletion", before.kind, before.id);
        return Err(Failure::new(Code::StateConflict, detail));
    }
    let Some((resource, detail)) = patch.apply(before, author.actor, author.at) else {
        return Ok(None);
    };
    let targets = new_targets(&before.references, &resource.references);
    let changed = Stored {
        resource,
        ..stored.clone()
    };
    let aggregated = state.aggregate(&changed, author.at);
    Ok(Some(Patched {
        resource: Resource {
            status: aggregated.status,
            ..changed.resource
        },
        recheck: aggregated.recheck,
        detail,
        targets,
    }))
}

fn new_targets(before: &References, after: &References) -> Vec<ResourceId> {
    let ids = |references: &References| -> Vec<ResourceId> {
        references
            .values()
            .flatten()
            .map(|reference| reference.target.id)
            .collect()
    };
    let known = ids(before);
    let mut new = ids(after);
    new.retain(|id| !known.contains(id));
    new.sort_unstable();
    new.dedup();
    new
}
