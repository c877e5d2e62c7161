//! One operation at one path.

use axum::http::Method;
use hyperfleet_core::kind::Registry;
use serde_json::{Value, json};

use super::components::{Components, reference};
use super::{parameters, responses};
use crate::operation::{Endpoint, Operation, Requirement};
use crate::scope::Scope;

/// The tag of the routes that take every kind, and of those that take none.
pub(super) const ANY_KIND: &str = "All kinds";
pub(super) const SERVER: &str = "API";

pub(super) fn operation(endpoint: &Endpoint, kinds: &Registry, components: &Components) -> Value {
    let scope = endpoint.scope.as_ref();
    let tag = match scope {
        None => SERVER,
        Some(scope) => scope.kind_name().unwrap_or(ANY_KIND),
    };
    let mut described = json!({
        "operationId": id(endpoint),
        "tags": [tag],
        "summary": summary(endpoint.operation, scope),
        "responses": responses::of(endpoint, kinds, components),
    });
    if endpoint.operation.requirement() == Requirement::Nobody {
        described["security"] = json!([]);
    }
    let parameters = parameters::of(endpoint, kinds);
    if !parameters.is_empty() {
        described["parameters"] = json!(parameters);
    }
    if let Some(schema) = body(endpoint, components) {
        described["requestBody"] = json!({
            "required": true,
            "content": {"application/json": {"schema": schema}},
        });
    }
    described
}

/// `listClusters`, `getNodePoolOfCluster`, `patchResource`; fixed names for what is there whatever the kinds are.
pub(super) fn id(endpoint: &Endpoint) -> String {
    let Some(scope) = &endpoint.scope else {
        return match endpoint.operation {
            Operation::Metadata => "readMetadata",
            Operation::Audit => "readAudit",
            Operation::NoteInAudit => "noteInAudit",
            Operation::ListSentinels => "listSentinels",
            Operation::AnnounceSentinel => "announceSentinel",
            Operation::WithdrawSentinel => "withdrawSentinel",
            Operation::OpenApi => "readOpenApi",
            Operation::CanI => "canI",
            _ => "readOpenApiPage",
        }
        .to_owned();
    };
    let many = scope
        .kind
        .as_ref()
        .map_or_else(|| "Resources".to_owned(), |kind| pascal(&kind.plural));
    let one = scope.noun();
    let of = scope
        .parent
        .as_ref()
        .map_or_else(String::new, |parent| format!("Of{}", parent.kind));
    let name = match endpoint.operation {
        Operation::List => format!("list{many}"),
        Operation::Create => format!("create{one}"),
        Operation::Read => format!("get{one}"),
        Operation::Patch => format!("patch{one}"),
        Operation::Delete => format!("delete{one}"),
        Operation::ForceDelete => format!("forceDelete{one}"),
        Operation::History => format!("listHistoryOf{one}"),
        Operation::ReadStatuses => format!("getStatusesOf{one}"),
        Operation::PutStatus => format!("putStatusOf{one}"),
        Operation::PostStatus => format!("postStatusOf{one}"),
        Operation::Metadata
        | Operation::Audit
        | Operation::NoteInAudit
        | Operation::ListSentinels
        | Operation::AnnounceSentinel
        | Operation::WithdrawSentinel
        | Operation::OpenApi
        | Operation::OpenApiPage
        | Operation::CanI => String::new(),
    };
    format!("{name}{of}")
}

/// `release-channels` → `ReleaseChannels`.
fn pascal(plural: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    plural.split('-').map(word).collect()
}

fn summary(operation: Operation, scope: Option<&Scope>) -> String {
    let one = scope.map_or("", Scope::noun);
    let of = scope
        .and_then(|scope| scope.parent.as_ref())
        .map_or_else(String::new, |parent| format!(" of a {}", parent.kind));
    match operation {
        Operation::List => match scope.and_then(|scope| scope.kind.as_ref()) {
            Some(kind) => format!("List the {}{of}", kind.plural),
            None => "List resources of every kind".to_owned(),
        },
        Operation::Create => format!("Create a {one}{of}"),
        Operation::Read => format!("Read a {one}{of}"),
        Operation::Patch => format!("Change the spec, labels or references of a {one}{of}"),
        Operation::Delete => format!("Ask for the deletion of a {one}{of}"),
        Operation::ForceDelete => {
            format!("Remove a {one}{of} that is being deleted, without waiting for its adapters")
        }
        Operation::History => format!("Read what happened to a {one}{of}, also after it is gone"),
        Operation::ReadStatuses => format!("Read what adapters said about a {one}{of}"),
        Operation::PutStatus => format!("Report on a {one}{of}; answers the report"),
        Operation::PostStatus => format!("Report on a {one}{of}; answers all reports"),
        Operation::Metadata => "Read what this API is".to_owned(),
        Operation::Audit => "Read who did what".to_owned(),
        Operation::NoteInAudit => {
            "Have something remembered that a component did to an object of a resource".to_owned()
        }
        Operation::ListSentinels => "List the Sentinels that are there".to_owned(),
        Operation::AnnounceSentinel => {
            "Say that a Sentinel is there, and hear which shards it holds".to_owned()
        }
        Operation::WithdrawSentinel => {
            "Say that a Sentinel is gone; what it held is free".to_owned()
        }
        Operation::OpenApi => "Read this document".to_owned(),
        Operation::OpenApiPage => "Read this document as a page".to_owned(),
        Operation::CanI => "Ask whether the caller may do something".to_owned(),
    }
}

fn body(endpoint: &Endpoint, components: &Components) -> Option<Value> {
    match endpoint.operation {
        Operation::AnnounceSentinel => return Some(reference("Announcement")),
        Operation::NoteInAudit => return Some(reference("AuditNote")),
        _ => {}
    }
    let scope = endpoint.scope.as_ref()?;
    let names = components.names(scope.kind.as_ref());
    Some(match endpoint.operation {
        Operation::Create if scope.parent.is_some() => reference(&names.create),
        Operation::Create => reference(&names.flat),
        Operation::Patch => reference(&names.patch),
        Operation::ForceDelete => reference("ForceDeleteRequest"),
        Operation::PutStatus => reference("AdapterStatusRequest"),
        Operation::PostStatus => json!({
            "oneOf": [reference("AdapterStatusRequest"), reference("AdapterStatusesRequest")],
        }),
        _ => {
            debug_assert!(endpoint.method == Method::GET || endpoint.method == Method::DELETE);
            return None;
        }
    })
}
