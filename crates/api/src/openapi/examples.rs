//! Examples, made from the types where there is one, so that they cannot be wrong.

use std::collections::BTreeMap;

use chrono::DateTime;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::problem::{Code, FieldError, Problem, TYPE_BASE};
use hyperfleet_core::resource::{BASE_PATH, Resource, ResourceStatus};
use hyperfleet_core::time::Time;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::schema::SpecSchemas;

const ID: Uuid = Uuid::from_u128(0x0192_e4f0_7b1c_7d3a_8f7e_1c2d_3e4f_5a6b);

fn time() -> Time {
    DateTime::from_timestamp(1_767_225_600, 0).unwrap_or_default()
}

pub(super) fn resource() -> Value {
    let id = ResourceId(ID);
    json!(Resource {
        id,
        kind: "Cluster".to_owned(),
        name: "production-1".to_owned(),
        href: format!("{BASE_PATH}/clusters/{id}"),
        spec: Map::from_iter([("region".to_owned(), json!("us-east1"))]),
        labels: BTreeMap::from([("env".to_owned(), "production".to_owned())]),
        tenancy: BTreeMap::new(),
        generation: Generation::FIRST,
        status: ResourceStatus::unknown(time()),
        owner_references: None,
        references: BTreeMap::new(),
        created_time: time(),
        updated_time: time(),
        created_by: "ada@example.com".to_owned(),
        updated_by: "ada@example.com".to_owned(),
        deleted_time: None,
        deleted_by: None,
    })
}

/// A body that makes a resource of the kind, if one is known: a schema may ask for what nobody can guess.
pub(super) fn create(kind: &Kind, specs: &SpecSchemas) -> Option<Value> {
    if kind.parent_kind.is_some() || kind.references.iter().any(|rule| rule.min > 0) {
        return None; // it takes ids of what exists
    }
    let mut name = kind.kind.to_lowercase() + "-1";
    while name.len() < kind.name_min_len {
        name.push('0');
    }
    let given = specs.get(&kind.kind).and_then(|schema| {
        let document = schema.document();
        let first = document.get("examples").and_then(|list| list.get(0));
        first.or(document.get("example")).cloned()
    });
    let spec = given.unwrap_or_else(|| json!({}));
    let fits = spec
        .as_object()
        .is_some_and(|spec| specs.check(&kind.kind, spec).is_ok());
    (fits && kind.name_error(&name).is_none())
        .then(|| json!({"kind": kind.kind, "name": name, "spec": spec}))
}

pub(super) fn report() -> Value {
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "reason": reason, "message": message});
    json!({
        "adapter": "validation",
        "observed_generation": 1,
        "conditions": [
            condition("Available", "JobSucceeded", "the validation job has succeeded"),
            condition("Applied", "JobApplied", "the validation job was created"),
            condition("Health", "NoErrors", "all is well"),
        ],
        "data": {"validation": {"checks": 12}},
    })
}

/// A problem with this status.
pub(super) fn problem(status: u16) -> Value {
    let code = Code::ALL
        .into_iter()
        .find(|code| code.http_status() == status && *code != Code::EndpointNotFound)
        .unwrap_or(Code::Internal);
    let cluster = format!("Cluster '{ID}'");
    let (detail, errors) = match code {
        Code::Validation => {
            let message = "name must be at least 3 characters";
            let error = FieldError {
                field: "name".to_owned(),
                message: message.to_owned(),
                value: None,
                constraint: Some("min_length".to_owned()),
            };
            (message.to_owned(), vec![error])
        }
        Code::NotFound => (format!("Cluster with id='{ID}' not found"), vec![]),
        Code::Duplicate => ("This Cluster already exists".to_owned(), vec![]),
        Code::VersionConflict => (
            format!(
                "{cluster} is at \"3\" and If-Match asks for \"2\"; read it again and decide anew"
            ),
            vec![],
        ),
        _ => (code.title().to_owned(), vec![]),
    };
    json!(Problem {
        kind: format!("{TYPE_BASE}{}", code.slug()),
        title: code.title().to_owned(),
        status,
        detail,
        instance: format!("{BASE_PATH}/clusters"),
        code: code.as_str().to_owned(),
        timestamp: time(),
        trace_id: ID.to_string(),
        errors,
        deletion: None,
    })
}
