//! Everything that can be asked of the API: the one table that the routes and the OpenAPI document are made from.

use axum::http::Method;
use hyperfleet_core::kind::{Kind, Registry};
use hyperfleet_core::resource::BASE_PATH;

use crate::authz::Verb;
use crate::scope::Scope;

/// One thing that can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    List,
    Create,
    Read,
    Patch,
    Delete,
    ForceDelete,
    History,
    ReadStatuses,
    PutStatus,
    PostStatus,
    Metadata,
    Audit,
    NoteInAudit,
    ListSentinels,
    AnnounceSentinel,
    WithdrawSentinel,
    OpenApi,
    OpenApiPage,
    CanI,
}

/// Who may ask for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Everybody, without saying who they are.
    Nobody,
    /// Whoever says who they are.
    Anybody,
    /// Whoever is allowed this.
    Verb(Verb),
}

impl Operation {
    /// What every kind takes.
    const OF_KINDS: [Operation; 10] = [
        Operation::List,
        Operation::Create,
        Operation::Read,
        Operation::Patch,
        Operation::Delete,
        Operation::ForceDelete,
        Operation::History,
        Operation::ReadStatuses,
        Operation::PutStatus,
        Operation::PostStatus,
    ];

    /// What is there whatever the kinds are.
    const FIXED: [Operation; 9] = [
        Operation::Metadata,
        Operation::Audit,
        Operation::NoteInAudit,
        Operation::ListSentinels,
        Operation::AnnounceSentinel,
        Operation::WithdrawSentinel,
        Operation::OpenApi,
        Operation::OpenApiPage,
        Operation::CanI,
    ];

    /// Every operation needs something, be it nothing: a new one does not compile without an answer.
    pub(crate) fn requirement(self) -> Requirement {
        Requirement::Verb(match self {
            Operation::Metadata | Operation::OpenApi | Operation::OpenApiPage => {
                return Requirement::Nobody;
            }
            Operation::CanI => return Requirement::Anybody,
            Operation::List => Verb::List,
            Operation::Create => Verb::Create,
            Operation::Read | Operation::History | Operation::ReadStatuses => Verb::Get,
            Operation::Patch => Verb::Patch,
            Operation::Delete => Verb::Delete,
            Operation::ForceDelete => Verb::ForceDelete,
            Operation::PutStatus | Operation::PostStatus => Verb::Report,
            Operation::Audit => Verb::Audit,
            Operation::NoteInAudit => Verb::Note,
            Operation::ListSentinels => Verb::List,
            Operation::AnnounceSentinel | Operation::WithdrawSentinel => Verb::Announce,
        })
    }

    /// Whether it takes `dry_run`. The others that write refuse it.
    pub(crate) fn can_be_tried(self) -> bool {
        matches!(
            self,
            Operation::Create | Operation::Patch | Operation::Delete | Operation::ForceDelete
        )
    }

    /// What it is done to, in a sentence.
    pub(crate) fn object(self, kind: Option<&str>) -> &str {
        match self {
            Operation::Audit | Operation::NoteInAudit => "the audit log",
            Operation::ListSentinels
            | Operation::AnnounceSentinel
            | Operation::WithdrawSentinel => "Sentinels",
            _ => kind.unwrap_or("resources"),
        }
    }

    /// The method, and what follows the path of the scope; the whole path where there is no scope.
    fn route(self) -> (Method, &'static str) {
        match self {
            Operation::List => (Method::GET, ""),
            Operation::Create => (Method::POST, ""),
            Operation::Read => (Method::GET, "/{id}"),
            Operation::Patch => (Method::PATCH, "/{id}"),
            Operation::Delete => (Method::DELETE, "/{id}"),
            Operation::ForceDelete => (Method::POST, "/{id}/force-delete"),
            Operation::History => (Method::GET, "/{id}/history"),
            Operation::ReadStatuses => (Method::GET, "/{id}/statuses"),
            Operation::PutStatus => (Method::PUT, "/{id}/statuses"),
            Operation::PostStatus => (Method::POST, "/{id}/statuses"),
            Operation::Metadata => (Method::GET, "/api/hyperfleet"),
            Operation::Audit => (Method::GET, "/api/hyperfleet/v1/audit"),
            Operation::NoteInAudit => (Method::POST, "/api/hyperfleet/v1/audit"),
            Operation::ListSentinels => (Method::GET, "/api/hyperfleet/v1/sentinels"),
            Operation::AnnounceSentinel => (Method::PUT, "/api/hyperfleet/v1/sentinels/{id}"),
            Operation::WithdrawSentinel => (Method::DELETE, "/api/hyperfleet/v1/sentinels/{id}"),
            Operation::OpenApi => (Method::GET, "/api/hyperfleet/v1/openapi"),
            Operation::OpenApiPage => (Method::GET, "/api/hyperfleet/v1/openapi.html"),
            Operation::CanI => (Method::GET, "/api/hyperfleet/v1/can-i"),
        }
    }
}

/// An operation at a path.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) method: Method,
    /// With `{id}` and `{parent_id}` where ids go.
    pub(crate) path: String,
    pub(crate) operation: Operation,
    /// Which resources it speaks of; none for the fixed ones.
    pub(crate) scope: Option<Scope>,
}

/// All of them: for every kind the same set, flat and under its parent, and once for all kinds.
pub(crate) fn endpoints(kinds: &Registry) -> Vec<Endpoint> {
    let fixed = Operation::FIXED.into_iter().map(|operation| {
        let (method, path) = operation.route();
        Endpoint {
            method,
            path: path.to_owned(),
            operation,
            scope: None,
        }
    });
    let scoped = scopes(kinds).into_iter().flat_map(|(base, scope)| {
        Operation::OF_KINDS.into_iter().map(move |operation| {
            let (method, suffix) = operation.route();
            Endpoint {
                method,
                path: format!("{base}{suffix}"),
                operation,
                scope: Some(scope.clone()),
            }
        })
    });
    fixed.chain(scoped).collect()
}

fn scopes(kinds: &Registry) -> Vec<(String, Scope)> {
    let scope = |kind: Option<&Kind>, parent: Option<&Kind>| Scope {
        kind: kind.cloned(),
        parent: parent.cloned(),
    };
    let mut scopes = Vec::new();
    for kind in kinds.kinds() {
        let plural = &kind.plural;
        scopes.push((format!("{BASE_PATH}/{plural}"), scope(Some(kind), None)));
        if let Some(parent) = kinds.parent(kind) {
            let path = format!("{BASE_PATH}/{}/{{parent_id}}/{plural}", parent.plural);
            scopes.push((path, scope(Some(kind), Some(parent))));
        }
    }
    scopes.push((format!("{BASE_PATH}/resources"), scope(None, None)));
    scopes
}
