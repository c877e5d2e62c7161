//! What an operation answers.

use hyperfleet_core::kind::{Kind, OnParentDelete, Registry, Strength};
use serde_json::{Map, Value, json};

use super::components::{Components, reference};
use super::examples;
use crate::operation::{Endpoint, Operation};

/// An answer that is a problem document: its status, its name among the components, and when it is given.
const PROBLEMS: [(u16, &str, &str); 12] = [
    (
        400,
        "BadRequest",
        "The request cannot be understood, or breaks a rule.",
    ),
    (
        401,
        "Unauthenticated",
        "Nobody says who asks, or what says so does not prove it.",
    ),
    (403, "Forbidden", "Who asks may not do this."),
    (404, "NotFound", "There is no such resource, or none there."),
    (
        409,
        "Conflict",
        "Something else has that name, or the state of the resource does not allow it.",
    ),
    (410, "Gone", "The position is too old to resume from."),
    (
        412,
        "VersionConflict",
        "The resource has changed since it was read.",
    ),
    (413, "TooLarge", "The body is larger than 1 MiB."),
    (
        422,
        "Unprocessable",
        "A child kind was created without its owner, or the idempotency key stands for another request.",
    ),
    (
        429,
        "TooManyRequests",
        "Who asks has asked too often; `Retry-After` says how long to wait.",
    ),
    (
        500,
        "InternalError",
        "The server failed; its log has the reason under the request id.",
    ),
    (
        503,
        "Unavailable",
        "Something the server depends on is away; try again.",
    ),
];

/// The problems an operation can answer with.
fn problems(endpoint: &Endpoint, kinds: &Registry) -> Vec<u16> {
    let nested = endpoint
        .scope
        .as_ref()
        .is_some_and(|scope| scope.parent.is_some());
    let kind = endpoint
        .scope
        .as_ref()
        .and_then(|scope| scope.kind.as_ref());
    let mut statuses: Vec<u16> = match endpoint.operation {
        Operation::List if nested => vec![400, 404, 410],
        Operation::List => vec![400, 410],
        Operation::Audit | Operation::CanI => vec![400],
        Operation::NoteInAudit => vec![400, 413],
        Operation::ListSentinels => Vec::new(),
        Operation::AnnounceSentinel => vec![400, 404, 413],
        Operation::WithdrawSentinel => vec![404],
        Operation::Create => {
            // An owner can be missing only where one is named.
            let owned = kind.map_or_else(
                || kinds.kinds().iter().any(|kind| kind.parent_kind.is_some()),
                |kind| kind.parent_kind.is_some(),
            );
            let owner = owned.then_some(404);
            [400, 409, 413, 422].into_iter().chain(owner).collect()
        }
        Operation::Read => vec![400, 404],
        Operation::ReadStatuses => vec![400, 404],
        Operation::Patch => vec![400, 404, 409, 412, 413],
        Operation::Delete => {
            let refusable = match kind {
                Some(kind) => can_refuse_to_go(kind, kinds, kinds.kinds().len()),
                None => kinds
                    .kinds()
                    .iter()
                    .any(|kind| can_refuse_to_go(kind, kinds, kinds.kinds().len())),
            };
            [400, 404, 412]
                .into_iter()
                .chain(refusable.then_some(409))
                .collect()
        }
        Operation::ForceDelete => vec![400, 404, 409, 413],
        Operation::History => vec![400, 404],
        Operation::PutStatus | Operation::PostStatus => vec![400, 404, 413],
        Operation::Metadata | Operation::OpenApi | Operation::OpenApiPage => return Vec::new(),
    };
    statuses.extend([401, 403, 429, 500, 503]);
    statuses
}

/// Whether something can keep a resource of this kind from being deleted: its children, or what points at it or them.
fn can_refuse_to_go(kind: &Kind, kinds: &Registry, levels: usize) -> bool {
    let pointed_at = kinds.kinds().iter().any(|other| {
        other
            .references
            .iter()
            .any(|rule| rule.target_kind == kind.kind && rule.strength == Strength::Strong)
    });
    let by_children = kinds
        .children(&kind.kind)
        .any(|child| match child.on_parent_delete {
            Some(OnParentDelete::Restrict) => true,
            Some(OnParentDelete::Cascade) => {
                levels > 0 && can_refuse_to_go(child, kinds, levels - 1)
            }
            _ => false,
        });
    pointed_at || by_children
}

/// The responses of an operation.
pub(super) fn of(endpoint: &Endpoint, kinds: &Registry, components: &Components) -> Value {
    let scope = endpoint.scope.as_ref();
    let names = components.names(scope.and_then(|scope| scope.kind.as_ref()));
    let mut responses = Map::new();
    for (status, response) in successes(endpoint.operation, names.resource.as_str(), &names.list) {
        responses.insert(status.to_string(), response);
    }
    for status in problems(endpoint, kinds) {
        let component = PROBLEMS.iter().find(|(known, ..)| *known == status);
        let name = component.map_or("", |(_, name, _)| name);
        let reference = json!({ "$ref": format!("#/components/responses/{name}") });
        responses.insert(status.to_string(), reference);
    }
    Value::Object(responses)
}

fn successes(operation: Operation, resource: &str, list: &str) -> Vec<(u16, Value)> {
    let one = |status: u16, description: &str| {
        let mut answer = json_answer(description, reference(resource));
        answer["headers"]["ETag"] = json!({"$ref": "#/components/headers/ETag"});
        vec![(status, answer)]
    };
    let empty = |description: &str| json!({"description": description, "headers": request_id()});
    match operation {
        Operation::List => {
            let mut answer = json_answer(
                "A page of the list; with `watch` the changes of it.",
                reference(list),
            );
            answer["content"]["text/event-stream"] = json!({"schema": {"type": "string"}});
            vec![(200, answer)]
        }
        Operation::Create => {
            let mut answers = one(
                201,
                "It was made, or had been made by the same request before.",
            );
            answers[0].1["headers"]["Idempotency-Replayed"] =
                json!({"$ref": "#/components/headers/Idempotency-Replayed"});
            answers
        }
        Operation::Read => {
            let mut answers = one(
                200,
                "The resource, or the members of it that were asked for.",
            );
            answers[0].1["content"]["application/json"]["schema"] = whole_or_part(resource);
            answers
        }
        Operation::Patch => one(200, "The resource as it is now."),
        Operation::Delete => one(
            202,
            "Its deletion was asked for. It goes when every required adapter has cleaned up.",
        ),
        Operation::ForceDelete => vec![(204, empty("It is gone, with everything below it."))],
        Operation::History => vec![(
            200,
            json_answer("What happened to it, newest first.", reference("History")),
        )],
        Operation::Audit => vec![(
            200,
            json_answer("Who did what, newest first.", reference("AuditLog")),
        )],
        Operation::NoteInAudit => vec![
            (
                200,
                json_answer("It was noted before.", reference("AuditEntry")),
            ),
            (201, json_answer("It is noted.", reference("AuditEntry"))),
        ],
        Operation::ListSentinels => vec![(
            200,
            json_answer("Those whose time has not passed.", reference("Sentinels")),
        )],
        Operation::AnnounceSentinel => vec![(
            200,
            json_answer(
                "What it holds, and whom it overlaps.",
                reference("Standing"),
            ),
        )],
        Operation::WithdrawSentinel => vec![(204, empty("It is not there, or no longer."))],
        Operation::ReadStatuses => vec![(
            200,
            json_answer(
                "What adapters said about it: a page of reports where the server is configured so.",
                json!({"oneOf": [reference("StatusDocument"), reference("AdapterStatusList")]}),
            ),
        )],
        Operation::PostStatus => vec![(
            200,
            json_answer(
                "What adapters said about it, whether or not this report changed it.",
                reference("StatusDocument"),
            ),
        )],
        Operation::PutStatus => vec![
            (
                201,
                json_answer("The report was taken.", reference("AdapterStatus")),
            ),
            (
                204,
                empty("The report was discarded: newer is known, or it says nothing yet."),
            ),
        ],
        Operation::Metadata => {
            vec![(200, json_answer("What this API is.", reference("Metadata")))]
        }
        Operation::CanI => vec![(
            200,
            json_answer(
                "Whether it is allowed, and why not.",
                reference("Permission"),
            ),
        )],
        Operation::OpenApi => {
            let any = json!({"type": "object", "additionalProperties": true});
            vec![(200, json_answer("This document.", any))]
        }
        Operation::OpenApiPage => {
            let html = json!({"text/html": {"schema": {"type": "string"}}});
            vec![(
                200,
                json!({"description": "This document as a page.", "headers": request_id(), "content": html}),
            )]
        }
    }
}

/// With `fields`, a resource has only the members that were asked for.
pub(super) fn whole_or_part(resource: &str) -> Value {
    json!({"anyOf": [reference(resource), reference("PartOfResource")]})
}

fn json_answer(description: &str, schema: Value) -> Value {
    json!({
        "description": description,
        "headers": request_id(),
        "content": {"application/json": {"schema": schema}},
    })
}

fn request_id() -> Value {
    json!({"X-Request-ID": {"$ref": "#/components/headers/X-Request-ID"}})
}

/// A page of what grows at its newest end.
pub(super) fn newest(entry: &str) -> Value {
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {"type": "array", "items": reference(entry)},
            "continue": {
                "type": "string",
                "description": "Asks for the next, older page; absent on the last one.",
            },
        },
    })
}

/// The components that every operation refers to.
pub(super) fn components() -> Value {
    let problems = PROBLEMS.map(|(status, name, description)| {
        let content = json!({"schema": reference("Problem"), "example": examples::problem(status)});
        let response = json!({
            "description": description,
            "headers": request_id(),
            "content": {"application/problem+json": content},
        });
        (name.to_owned(), response)
    });
    Value::Object(problems.into_iter().collect())
}

pub(super) fn headers() -> Value {
    let header =
        |description: &str, schema: Value| json!({"description": description, "schema": schema});
    json!({
        "X-Request-ID": header(
            "The id of this request, as in the log.",
            json!({"type": "string", "format": "uuid"}),
        ),
        "ETag": header("The generation of the resource.", json!({"type": "string", "pattern": "^\"[0-9]+\"$"})),
        "Idempotency-Replayed": header(
            "Present when the answer is that of an earlier request with the same key.",
            json!({"type": "string", "enum": ["true"]}),
        ),
    })
}

/// What adapters said about one resource, as a page of reports.
pub(super) fn status_list() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    json!({
        "type": "object",
        "required": ["page", "size", "total", "items"],
        "properties": {
            "page": count,
            "size": count,
            "total": count,
            "items": {"type": "array", "items": reference("AdapterStatus")},
        },
    })
}

/// What adapters said about one resource. The key of its id depends on its kind: `cluster_id`.
pub(super) fn status_document() -> Value {
    let time = json!({"type": "string", "format": "date-time"});
    json!({
        "type": "object",
        "required": ["id", "type", "href", "adapter_statuses", "last_updated_time"],
        "properties": {
            "id": {"type": "string", "description": "`status-` and the id of the resource."},
            "type": {"type": "string", "description": "For example `clusterStatus`."},
            "href": {"type": "string"},
            "adapter_statuses": {
                "type": "array",
                "items": {
                    "allOf": [
                        reference("AdapterStatus"),
                        {"required": ["last_updated_time"], "properties": {"last_updated_time": time}},
                    ],
                },
            },
            "last_updated_time": time,
        },
        "additionalProperties": true,
    })
}

pub(super) fn sentinels() -> Value {
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {"items": {"type": "array", "items": reference("Presence")}},
    })
}
