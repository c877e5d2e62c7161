//! POST of a new resource: every check that needs no table first, in the order of the contract.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use hyperfleet_core::aggregation::{self, Subject};
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::label;
use hyperfleet_core::problem::{Code, FieldError};
use hyperfleet_core::resource::{BASE_PATH, ObjectReference, Resource};
use hyperfleet_store::{NewResource, Owner};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::body::JsonObject;
use crate::failure::Failure;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

/// Who does everything while nobody has to say who they are.
pub(crate) const ANONYMOUS: &str = "system@hyperfleet.local";

pub(crate) async fn create(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Path(ids): Path<Ids>,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<Resource>), Failure> {
    let kind = kind_of(&state, &scope, &body)?.clone();
    let name = name(&kind, &body)?;
    let spec = spec(&body)?;
    let labels = labels(&body)?;
    let owner = owner(&state, &scope, &kind, &ids, &body).await?;

    let id = ResourceId(Uuid::now_v7());
    let now = state.now();
    let base = owner
        .as_ref()
        .map_or(BASE_PATH, |owner| owner.href.as_str());
    let subject = Subject {
        generation: Generation::FIRST,
        updated_time: now,
        deleting: false,
        has_children: false,
        required: &kind.required_adapters,
    };
    let new = NewResource {
        resource: Resource {
            id,
            href: format!("{base}/{}/{id}", kind.plural),
            name,
            spec,
            labels,
            tenancy: BTreeMap::new(),
            generation: Generation::FIRST,
            status: aggregation::status(&subject, &[], None, now),
            owner_references: owner,
            references: BTreeMap::new(),
            created_time: now,
            updated_time: now,
            created_by: ANONYMOUS.to_owned(),
            updated_by: ANONYMOUS.to_owned(),
            deleted_time: None,
            deleted_by: None,
            kind: kind.kind,
        },
    };
    state.store.create(&new).await?;
    Ok((StatusCode::CREATED, Json(new.resource)))
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

fn spec(body: &Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    match body.get("spec") {
        None => Err(Failure::invalid(
            "spec",
            Some("required"),
            "spec is required",
        )),
        Some(Value::Object(spec)) => Ok(spec.clone()),
        Some(_) => Err(Failure::invalid(
            "spec",
            None,
            "spec field must be an object",
        )),
    }
}

fn labels(body: &Map<String, Value>) -> Result<BTreeMap<String, String>, Failure> {
    let given = match body.get("labels") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(labels)) => labels,
        Some(_) => {
            return Err(Failure::invalid(
                "labels",
                None,
                "field 'labels' must be an object",
            ));
        }
    };
    let mut labels = BTreeMap::new();
    let mut errors = Vec::new();
    for (key, value) in given {
        let Value::String(value) = value else {
            return Err(Failure::invalid(
                &format!("labels.{key}"),
                None,
                format!("field 'labels.{key}' must be a string"),
            ));
        };
        let mistakes = [
            (label::key_error(key), key),
            (label::value_error(value), value),
        ];
        for (message, text) in mistakes {
            if let Some(message) = message {
                errors.push(FieldError {
                    field: format!("labels.{key}"),
                    message,
                    value: Some(text.as_str().into()),
                    constraint: Some("pattern".to_owned()),
                });
            }
        }
        labels.insert(key.clone(), value.clone());
    }
    if errors.is_empty() {
        Ok(labels)
    } else {
        Err(Failure::new(Code::Validation, "label validation failed").with_errors(errors))
    }
}

/// The owner of a child: the one in the path, else the one the body names.
async fn owner(
    state: &ApiState,
    scope: &Scope,
    kind: &Kind,
    ids: &[String],
    body: &Map<String, Value>,
) -> Result<Option<ObjectReference>, Failure> {
    let Some(parent_kind) = state.kinds.parent(kind) else {
        return Ok(None);
    };
    let parent = match scope.parent(state, ids).await? {
        Some(parent) => parent,
        None => named_owner(state, kind, parent_kind, body).await?,
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
    state: &ApiState,
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
    state
        .store
        .resource(Some(&parent_kind.kind), Owner::Any, owner)
        .await?
        .ok_or_else(missing)
}
