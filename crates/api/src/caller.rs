//! Who asks, in which request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use hyperfleet_core::identity::ANONYMOUS;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use hyperfleet_store::{Author, Store};

use crate::access::Access;
use crate::authz::Verb;
use crate::failure::Failure;
use crate::scope::Scope;

/// The id of the request, put there by `observe` before anything else looks at it.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) Arc<str>);

/// The caller of a request. Put there by `admit`, which is not in the way while nothing has to be checked.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) identity: Arc<str>,
    pub(crate) request_id: Arc<str>,
    pub(crate) access: Access,
}

impl Caller {
    /// Somebody who need not say who they are.
    pub(crate) fn anonymous(request_id: Arc<str>) -> Caller {
        Caller {
            identity: ANONYMOUS.into(),
            request_id,
            access: Access::OPEN,
        }
    }

    pub(crate) fn author(&self, at: Time) -> Author<'_> {
        Author {
            actor: &self.identity,
            request_id: &self.request_id,
            at,
        }
    }

    /// The store as whoever reads sees it.
    pub(crate) fn reading(&self, store: &Store, verb: Verb, scope: &Scope) -> Store {
        store.seen_by(self.access.sight(&[verb], scope.kind_name()))
    }

    /// The store for a write to one resource: what can be read or written is there. Whether it can be written is to be
    /// asked when it is at hand ([`check`](Caller::check)).
    pub(crate) fn writing(&self, store: &Store, verb: Verb, scope: &Scope) -> Store {
        store.seen_by(self.access.sight(&[Verb::Get, verb], scope.kind_name()))
    }

    /// The store with everything of the tenant: for what a request refers to.
    pub(crate) fn within_tenant(&self, store: &Store) -> Store {
        store.seen_by(self.access.tenant_sight())
    }

    /// Refuses a verb that is not allowed on any resource of a kind.
    pub(crate) fn check_kind(&self, verb: Verb, kind: &str) -> Result<(), Failure> {
        match self.access.may(verb, Some(kind)) {
            true => Ok(()),
            false => Err(self.lacks(verb, kind)),
        }
    }

    /// Refuses a verb that is not allowed on this resource.
    pub(crate) fn check(&self, verb: Verb, resource: &Resource) -> Result<(), Failure> {
        match self.access.permits(verb, resource) {
            true => Ok(()),
            false => Err(self.lacks(verb, &format!("{} '{}'", resource.kind, resource.id))),
        }
    }

    /// The refusal that names what is missing.
    pub(crate) fn lacks(&self, verb: Verb, what: &str) -> Failure {
        let who = &self.identity;
        Failure::new(
            Code::Forbidden,
            format!("{who} lacks the permission to {verb} {what}"),
        )
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if let Some(caller) = parts.extensions.get::<Caller>() {
            return Ok(caller.clone());
        }
        let request_id = parts.extensions.get::<RequestId>().cloned();
        let request_id = request_id.map_or_else(|| "".into(), |RequestId(id)| id);
        Ok(Caller::anonymous(request_id))
    }
}
