//! What can be said in a path, a query string or a header.

use hyperfleet_core::list::PageRequest;
use serde_json::{Value, json};

use crate::operation::{Endpoint, Operation};

/// The parameters of an operation.
pub(super) fn of(endpoint: &Endpoint) -> Vec<Value> {
    let mut parameters = ids(endpoint);
    match endpoint.operation {
        Operation::List => {
            parameters.extend(list());
            parameters.extend(watch());
        }
        Operation::Create => parameters.push(idempotency_key()),
        Operation::Patch | Operation::Delete => parameters.push(if_match()),
        Operation::History => parameters.extend(newest()),
        Operation::Audit => {
            parameters.extend(newest());
            let resource = json!({"type": "string", "format": "uuid"});
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
        Operation::Read
        | Operation::ForceDelete
        | Operation::ReadStatuses
        | Operation::PutStatus
        | Operation::PostStatus
        | Operation::Metadata
        | Operation::OpenApi
        | Operation::OpenApiPage => {}
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
        return Vec::new();
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

fn list() -> Vec<Value> {
    let default = PageRequest::default();
    let number = |most: u32, default: u32| json!({"type": "integer", "minimum": 1, "maximum": most, "default": default});
    vec![
        query(
            "page",
            "Which page, from 1.",
            number(PageRequest::MAX_PAGE, default.page),
        ),
        query(
            "size",
            "How many items a page holds.",
            number(PageRequest::MAX_SIZE, default.size),
        ),
    ]
}

/// The changes of a list instead of the list.
fn watch() -> Vec<Value> {
    let position = json!({"type": "string", "minLength": 1});
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
        "schema": {"type": "string", "pattern": "^(\\*|\"[0-9]+\")$"},
        "example": "*",
    })
}
