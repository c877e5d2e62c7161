//! POST of a new resource: every check that needs no table first, in the order of the contract.

use std::sync::Arc;

use std::collections::BTreeMap;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::{BASE_PATH, ObjectReference, Resource, ResourceStatus};
use hyperfleet_store::{Create, Created, Owner, Rules, Store, Stored};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::authz::Verb;
use crate::body::JsonObject;
use crate::caller::Caller;
use crate::dry_run::DryRun;
use crate::etag::tagged;
use crate::failure::Failure;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;
use crate::{references, schema, wanted};

/// The header that makes a create safe to repeat.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Says that the answer is that of an earlier request.
const REPLAYED: &str = "idempotency-replayed";
const MAX_KEY: usize = 255;

pub(crate) async fn create(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    DryRun(effect): DryRun,
    headers: HeaderMap,
    JsonObject(body): JsonObject,
) -> Result<Response, Failure> {
    let key = idempotency_key(&headers)?;
    let kind = kind_of(&state, &scope, &body)?.clone();
    caller.check_kind(Verb::Create, &kind.kind)?;
    let tenant = caller.within_tenant(&state.store);
    let name = name(&kind, &body)?;
    let spec = match body.get("spec") {
        None => {
            return Err(Failure::invalid(
                "spec",
                Some("required"),
                "spec is required",
            ));
        }
        Some(spec) => wanted::spec(spec)?,
    };
    schema::check(&state, &kind, &spec)?;
    let labels = match body.get("labels") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(labels) => wanted::labels(labels)?,
    };
    let owner = owner(&state, &tenant, &scope, &kind, &ids, &body).await?;
    let references = references::read(&state, &tenant, &kind, body.get("references")).await?;

    let now = state.now();
    let author = caller.author(now);
    let id = ResourceId(Uuid::now_v7());
    let base = owner
        .as_ref()
        .map_or(BASE_PATH, |owner| owner.href.as_str());
    let mut new = Stored {
        resource: Resource {
            id,
            href: format!("{base}/{}/{id}", kind.plural),
            kind: kind.kind,
            name,
            spec,
            labels,
            tenancy: caller.access.tenant.stamp(),
            generation: Generation::FIRST,
            status: ResourceStatus::unknown(now),
            owner_references: owner,
            references,
            created_time: now,
            updated_time: now,
            created_by: author.actor.to_owned(),
            updated_by: author.actor.to_owned(),
            deleted_time: None,
            deleted_by: None,
        },
        reports: Vec::new(),
        has_children: false,
    };
    caller.check(Verb::Create, &new.resource)?;
    let aggregated = state.aggregate(&new, now);
    new.resource.status = aggregated.status;
    let fingerprint = key
        .as_ref()
        .map(|_| fingerprint(&scope, &ids, &new.resource.tenancy, &body));
    let create = Create {
        resource: &new.resource,
        recheck: aggregated.recheck,
        idempotency: key.as_deref().zip(fingerprint.as_deref()),
        effect,
    };
    match state.store.create(&create, author).await? {
        Created::New => Ok(tagged(StatusCode::CREATED, &new.resource)),
        Created::Before(resource) => {
            let mut response = tagged(StatusCode::CREATED, &resource);
            response
                .headers_mut()
                .insert(REPLAYED, HeaderValue::from_static("true"));
            Ok(response)
        }
        Created::KeyTaken => Err(Failure::new(
            Code::KeyReused,
            "This Idempotency-Key was used for another request; use a new one",
        )),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(key) if !key.is_empty() && key.len() <= MAX_KEY => Ok(Some(key.to_owned())),
        _ => Err(Failure::new(
            Code::BadRequest,
            format!("Idempotency-Key must be 1 to {MAX_KEY} visible ASCII characters"),
        )),
    }
}

/// What the request asks for, so that a key cannot stand for two things.
fn fingerprint(
    scope: &Scope,
    ids: &[String],
    tenancy: &BTreeMap<String, String>,
    body: &Map<String, Value>,
) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(scope.noun());
    for (key, value) in tenancy {
        hash.update(format!("\0{key}={value}"));
    }
    for id in ids {
        hash.update([0]);
        hash.update(id);
    }
    hash.update([0]);
    // Keys of a JSON object are sorted, so the order in which they were written does not matter.
    hash.update(serde_json::to_vec(body).unwrap_or_default());
    hash.finalize().to_vec()
}

fn kind_of<'a>(
    state: &'a ApiState,
    scope: &'a Scope,
    body: &Map<String, Value>,
) -> Result<&'a Kind, Failure> {
    let given = match body.get("kind") {
        None | Some(Value::Null) => "",
        Some(Value::String(kind)) => kind.as_str(),
        Some(_) => {
            return Err(Failure::invalid(
                "kind",
                None,
                "field 'kind' must be a string",
            ));
        }
    };
    if given.is_empty() {
        return Err(Failure::invalid(
            "kind",
            Some("required"),
            "kind is required",
        ));
    }
    match &scope.kind {
        Some(kind) if kind.kind == given => Ok(kind),
        Some(kind) => Err(Failure::invalid(
            "kind",
            Some("enum"),
            format!("kind must be '{}'", kind.kind),
        )),
        None => state.kinds.kind(given).ok_or_else(|| {
            Failure::invalid(
                "kind",
                Some("enum"),
                format!("Unknown entity kind: {given}"),
            )
        }),
    }
}

fn name(kind: &Kind, body: &Map<String, Value>) -> Result<String, Failure> {
    let name = match body.get("name") {
        None | Some(Value::Null) => "",
        Some(Value::String(name)) => name.as_str(),
        Some(_) => {
            return Err(Failure::invalid(
                "name",
                None,
                "field 'name' must be a string",
            ));
        }
    };
    match kind.name_error(name) {
        None => Ok(name.to_owned()),
        Some((constraint, message)) => Err(Failure::invalid("name", Some(constraint), message)),
    }
}

/// The owner of a child: the one in the path, else the one the body names.
async fn owner(
    state: &ApiState,
    tenant: &Store,
    scope: &Scope,
    kind: &Kind,
    ids: &[String],
    body: &Map<String, Value>,
) -> Result<Option<ObjectReference>, Failure> {
    let Some(parent_kind) = state.kinds.parent(kind) else {
        return Ok(None);
    };
    let parent = match scope.parent(tenant, ids).await? {
        Some(parent) => parent,
        None => named_owner(tenant, kind, parent_kind, body).await?,
    };
    if parent.is_deleting() {
        let detail = format!("{} '{}' is marked for deletion", parent.kind, parent.id);
        return Err(Failure::new(Code::StateConflict, detail));
    }
    Ok(Some(ObjectReference {
        id: parent.id,
        kind: parent.kind,
        href: parent.href,
    }))
}

async fn named_owner(
    tenant: &Store,
    kind: &Kind,
    parent_kind: &Kind,
    body: &Map<String, Value>,
) -> Result<Resource, Failure> {
    let named = body
        .get("owner_references")
        .and_then(|owner| owner.get("id"))
        .and_then(Value::as_str);
    let Some(id) = named else {
        let (kind, plural, parents) = (&kind.kind, &kind.plural, &parent_kind.plural);
        let detail = format!(
            "kind \"{kind}\" is a child kind; create it via /{parents}/{{id}}/{plural}, \
             or name its owner in owner_references.id"
        );
        return Err(Failure::new(Code::Validation, detail).with_status(422));
    };
    let missing = || Failure::not_found(&parent_kind.kind, id);
    let owner = ResourceId::parse(id).ok_or_else(missing)?;
    tenant
        .resource(Some(&parent_kind.kind), Owner::Any, owner)
        .await?
        .ok_or_else(missing)
}
