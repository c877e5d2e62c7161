//! What can be said in a path, a query string or a header.

use hyperfleet_core::kind::{Kind, Registry};
use hyperfleet_core::list::PageRequest;
use serde_json::{Value, json};

use crate::authz::Verb;
use crate::dry_run::DRY_RUN;
use crate::operation::{Endpoint, Operation};

/// The parameters of an operation.
pub(super) fn of(endpoint: &Endpoint, kinds: &Registry) -> Vec<Value> {
    let mut parameters = ids(endpoint);
    match endpoint.operation {
        Operation::List => {
            parameters.extend(list(endpoint, kinds));
            parameters.extend(watch());
        }
        Operation::Create => parameters.push(idempotency_key()),
        Operation::Patch | Operation::Delete => parameters.push(if_match()),
        Operation::ForceDelete => {}
        Operation::History => parameters.extend(newest()),
        Operation::Audit => {
            parameters.extend(newest());
            // A blank parameter counts as absent.
            let resource = json!({"type": "string", "pattern": "^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$"});
            parameters.push(query(
                "resource_id",
                "Only what was done to this resource.",
                resource,
            ));
            for (name, description) in [
                ("kind", "Only what was done to resources of this kind."),
                ("actor", "Only what this caller did."),
                ("action", "Only this action, for example `delete`."),
            ] {
                parameters.push(query(name, description, json!({"type": "string"})));
            }
        }
        Operation::CanI => {
            let verbs = Verb::ALL.map(Verb::as_str);
            let mut verb = query(
                "verb",
                "What would be done.",
                json!({"type": "string", "enum": verbs}),
            );
            verb["required"] = json!(true);
            let text = json!({"type": "string"});
            parameters.push(verb);
            parameters.push(query(
                "kind",
                "To which kind; to anything if it is left out.",
                text.clone(),
            ));
            parameters.push(query(
                "id",
                "To which resource; to any of the kind if it is left out.",
                text,
            ));
        }
        Operation::Read => parameters.push(fields()),
        Operation::ReadStatuses => {
            let number = json!({"type": "integer", "minimum": 1, "maximum": i32::MAX});
            let description = "Only reports on this generation.";
            parameters.push(query("generation", description, number));
        }
        Operation::PutStatus
        | Operation::PostStatus
        | Operation::Metadata
        | Operation::NoteInAudit
        | Operation::ListSentinels
        | Operation::AnnounceSentinel
        | Operation::WithdrawSentinel
        | Operation::OpenApi
        | Operation::OpenApiPage => {}
    }
    if endpoint.operation.can_be_tried() {
        parameters.push(query(
            DRY_RUN,
            "Check everything and answer as if it were done, and do nothing.",
            json!({"type": "boolean", "default": false}),
        ));
    }
    parameters
}

fn ids(endpoint: &Endpoint) -> Vec<Value> {
    let id = |name: &str, description: String| {
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": description,
            "schema": {"type": "string", "format": "uuid"},
        })
    };
    let Some(scope) = &endpoint.scope else {
        let named = endpoint.path.contains("{id}");
        return named
            .then(|| {
                id(
                    "id",
                    "The id of the Sentinel, which it made itself.".to_owned(),
                )
            })
            .into_iter()
            .collect();
    };
    let mut ids = Vec::new();
    if let Some(parent) = &scope.parent {
        ids.push(id("parent_id", format!("The id of the {}.", parent.kind)));
    }
    if endpoint.path.contains("{id}") {
        ids.push(id("id", format!("The id of the {}.", scope.noun())));
    }
    ids
}

fn query(name: &str, description: &str, schema: Value) -> Value {
    json!({"name": name, "in": "query", "description": description, "schema": schema})
}

fn list(endpoint: &Endpoint, kinds: &Registry) -> Vec<Value> {
    let default = PageRequest::default();
    let number = |most: u32| json!({"type": "integer", "minimum": 1, "maximum": most});
    let kind = endpoint
        .scope
        .as_ref()
        .and_then(|scope| scope.kind.as_ref());
    let mut parameters = vec![
        query(
            "page",
            &format!("Which page, from 1. {} if it is left out.", default.page),
            number(PageRequest::MAX_PAGE),
        ),
        query(
            "size",
            &format!(
                "How many items a page holds. {} if it is left out.",
                default.size
            ),
            number(PageRequest::MAX_SIZE),
        ),
        query(
            "limit",
            "How many items a stretch holds. A list that is walked with `limit` and `continue` meets every item once, \
             whatever else comes and goes; it cannot be combined with `page` and `size`.",
            number(1000),
        ),
        query(
            "continue",
            "The `continue` of the stretch before, with otherwise the same parameters.",
            json!({"type": "string"}),
        ),
        query(
            "search",
            "Which resources, for example `labels.env = 'prod' AND status.phase != 'Ready'`.",
            json!({"type": "string", "maxLength": 4096}),
        ),
        several(
            "order",
            "By which columns, each with `asc` or `desc`. `created_time desc` if it is left out.",
            json!({"type": "string", "pattern": "^ *([a-z_]+( +(asc|desc))?)? *$"}),
        ),
        fields(),
    ];
    if kind.is_none() {
        let names: Vec<&str> = kinds
            .kinds()
            .iter()
            .map(|kind| kind.kind.as_str())
            .collect();
        let schema = json!({"type": "string", "enum": names});
        parameters.push(query("kind", "Only resources of this kind.", schema));
    }
    parameters.extend(references(kind, kinds));
    parameters
}

/// Finding what points at something, where something can.
fn references(kind: Option<&Kind>, kinds: &Registry) -> Vec<Value> {
    let listed = kinds.kinds().iter();
    let listed = listed.filter(|listed| kind.is_none_or(|kind| kind.kind == listed.kind));
    let mut types: Vec<&str> = listed
        .flat_map(|kind| kind.references.iter().map(|rule| rule.ref_type.as_str()))
        .collect();
    types.sort_unstable();
    types.dedup();
    if types.is_empty() {
        return Vec::new();
    }
    vec![
        query(
            "ref_type",
            "Together with `ref_target_id`: only what points at that resource, by this type of reference.",
            json!({"type": "string", "enum": types}),
        ),
        query(
            "ref_target_id",
            "The id of the resource pointed at.",
            json!({"type": "string"}),
        ),
    ]
}

fn fields() -> Value {
    several(
        "fields",
        "Only these members of each resource, for example `name,status.phase`; `id` is always among them.",
        json!({"type": "string"}),
    )
}

/// A parameter with several values, separated by commas.
fn several(name: &str, description: &str, item: Value) -> Value {
    let mut parameter = query(name, description, json!({"type": "array", "items": item}));
    parameter["explode"] = json!(false);
    parameter
}

/// The changes of a list instead of the list.
fn watch() -> Vec<Value> {
    let position = json!({"type": "string"});
    let header = json!({
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The same as `since`, as browsers send it when they reconnect.",
        "schema": position,
    });
    vec![
        query(
            "watch",
            "With `true` the answer is a stream of changes (Server-Sent Events) that goes on until it is closed: \
             `event` is `upsert`, `delete` or `bookmark`, `id` the position after it, `data` the resource. Only \
             `search` and `since` are looked at.",
            json!({"type": "boolean", "default": false}),
        ),
        query(
            "since",
            "With `watch`: the position to resume from, the `id` of an event. Without it the stream begins now.",
            position,
        ),
        header,
    ]
}

/// Of what grows at its newest end.
fn newest() -> Vec<Value> {
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 100});
    vec![
        query("limit", "Most entries to answer.", limit),
        query(
            "continue",
            "The `continue` of the page before; without it the newest page is answered.",
            json!({"type": "string"}),
        ),
    ]
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes the request safe to repeat: with the same key and the same body the answer is that of the \
                        first request.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "example": "create-production-1",
    })
}

fn if_match() -> Value {
    json!({
        "name": "If-Match",
        "in": "header",
        "description": "The `ETag` of the resource as it was read; 412 if it has changed since.",
        "schema": {"type": "string", "minLength": 1, "pattern": "^(\\*|\"[0-9]+\")$"},
        "example": "*",
    })
}
