//! The same functions in a build without OTLP: nothing is exported, nothing is passed on.

use axum::http::HeaderMap;
use tracing::span::Id;
use tracing::{Dispatch, Span, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Identity;
use tracing_subscriber::registry::LookupSpan;

use super::{TraceError, TracingConfig};

/// The export of spans; in this build there is none.
#[derive(Debug)]
pub enum Traces {}

impl Traces {
    /// Nothing, if tracing is off; else an error.
    pub fn start(
        config: &TracingConfig,
        _component: &str,
        _version: &str,
    ) -> Result<Option<Self>, TraceError> {
        if config.enabled {
            Err(TraceError::NotBuilt)
        } else {
            Ok(None)
        }
    }

    /// The layer that hears spans.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        Identity::new()
    }

    /// Exports what is left.
    pub async fn shutdown(self) {
        match self {}
    }
}

/// The W3C `traceparent` of the current span.
pub fn current_traceparent() -> Option<String> {
    None
}

/// Makes `span` a child of the span a `traceparent` names.
pub fn set_parent(_span: &Span, _traceparent: &str) {}

/// Adds the context of the current span to the headers of a request.
pub fn inject(_headers: &mut HeaderMap) {}

/// Makes `span` a child of the span that the headers of a request name.
pub fn extract(_span: &Span, _headers: &HeaderMap) {}

/// Trace and span id of a span.
pub fn ids_of(_span: &Id, _dispatch: &Dispatch) -> Option<(String, String)> {
    None
}
