//! Who asks, in which request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use hyperfleet_core::time::Time;
use hyperfleet_store::Author;

use crate::failure::Failure;

/// Who does everything while nobody has to say who they are.
const ANONYMOUS: &str = "system@hyperfleet.local";

/// The id of the request, put there by `observe` before anything else looks at it.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) Arc<str>);

/// The caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) identity: Arc<str>,
    request_id: Arc<str>,
}

impl Caller {
    pub(crate) fn author(&self, at: Time) -> Author<'_> {
        Author {
            actor: &self.identity,
            request_id: &self.request_id,
            at,
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let request_id = parts.extensions.get::<RequestId>().cloned();
        Ok(Caller {
            identity: ANONYMOUS.into(),
            request_id: request_id.map_or_else(|| "".into(), |RequestId(id)| id),
        })
    }
}
