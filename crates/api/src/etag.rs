//! ETags: which state of what is wanted a caller speaks of.
//!
//! The tag of a resource is its generation: it changes with the spec, the labels, the references and with the first
//! DELETE, and not when an adapter reports. So a guarded write fails when somebody else changed what is wanted, and
//! not because the cluster is alive.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyperfleet_core::generation::Generation;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::Resource;
use serde::Serialize;

use crate::failure::Failure;

fn tag(generation: Generation) -> String {
    format!("\"{generation}\"")
}

/// An answer that is one resource, with its tag.
pub(crate) fn tagged(status: StatusCode, resource: &Resource) -> Response {
    tagged_as(status, resource.generation, resource)
}

/// An answer that is something made of one resource, with that resource's tag.
pub(crate) fn tagged_as(
    status: StatusCode,
    generation: Generation,
    body: impl Serialize,
) -> Response {
    let mut response = (status, Json(body)).into_response();
    if let Ok(value) = HeaderValue::try_from(tag(generation)) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

/// What `If-Match` demands, if it is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct IfMatch(Option<Vec<String>>);

impl IfMatch {
    /// Fails with 412 unless one of the tags is the resource's.
    pub(crate) fn check(&self, resource: &Resource) -> Result<(), Failure> {
        let Some(tags) = &self.0 else { return Ok(()) };
        let now = tag(resource.generation);
        if tags.iter().any(|given| given == "*" || *given == now) {
            return Ok(());
        }
        let given = tags.join(", ");
        Err(Failure::new(
            Code::VersionConflict,
            format!(
                "{} '{}' is at {now} and If-Match asks for {given}; read it again and decide anew",
                resource.kind, resource.id
            ),
        ))
    }

    fn read(headers: &HeaderMap) -> Result<IfMatch, Failure> {
        let mut tags = Vec::new();
        for value in headers.get_all(header::IF_MATCH) {
            let text = value.to_str().map_err(|_| {
                Failure::new(
                    Code::BadRequest,
                    "If-Match must hold entity tags such as \"3\"",
                )
            })?;
            tags.extend(text.split(',').map(|tag| tag.trim().to_owned()));
        }
        if !headers.contains_key(header::IF_MATCH) {
            return Ok(IfMatch(None));
        }
        tags.retain(|tag| !tag.is_empty());
        if tags.is_empty() {
            // A condition that was left out by mistake must not make the call unconditional.
            return Err(Failure::new(Code::BadRequest, "If-Match must not be empty"));
        }
        Ok(IfMatch(Some(tags)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        IfMatch::read(&parts.headers)
    }
}
