//! Failures, as the caller gets them.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyperfleet_core::deletion::DeletionRecord;
use hyperfleet_core::problem::{Code, FieldError, Problem, TYPE_BASE};
use hyperfleet_core::report::ReportError;
use hyperfleet_store::StoreError;

/// A request that did not succeed. Becomes a problem document when it leaves (see `observe`), because only there are
/// the path and the request id known.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    /// Differs from the code's own only where the contract says so (422 for a child created on its flat route).
    pub(crate) status: u16,
    pub(crate) detail: String,
    pub(crate) errors: Vec<FieldError>,
    /// What remains of the resource that was not found.
    pub(crate) deletion: Option<Box<DeletionRecord>>,
    /// In how many seconds it is worth trying again.
    pub(crate) retry_after: Option<u64>,
}

impl Failure {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Failure {
        Failure {
            code,
            status: code.http_status(),
            detail: detail.into(),
            errors: Vec::new(),
            deletion: None,
            retry_after: None,
        }
    }

    pub(crate) fn not_found(kind: &str, id: &str) -> Failure {
        Failure::new(Code::NotFound, format!("{kind} with id='{id}' not found"))
    }

    /// One broken rule about one field.
    pub(crate) fn invalid(
        field: &str,
        constraint: Option<&str>,
        message: impl Into<String>,
    ) -> Failure {
        let message = message.into();
        let mut failure = Failure::new(Code::Validation, message.clone());
        failure.errors.push(FieldError {
            field: field.to_owned(),
            message,
            value: None,
            constraint: constraint.map(str::to_owned),
        });
        failure
    }

    pub(crate) fn with_status(mut self, status: u16) -> Failure {
        self.status = status;
        self
    }

    pub(crate) fn with_errors(mut self, errors: Vec<FieldError>) -> Failure {
        self.errors = errors;
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Failure {
        self.retry_after = Some(seconds);
        self
    }

    /// Whether it is about who asks, and not about what is asked.
    pub(crate) fn is_denial(&self) -> bool {
        matches!(
            self.code,
            Code::Unauthenticated
                | Code::InvalidCredentials
                | Code::TokenExpired
                | Code::Forbidden
                | Code::TooManyRequests
        )
    }

    /// The document for a request.
    pub(crate) fn problem(
        self,
        path: &str,
        request_id: &str,
        now: hyperfleet_core::time::Time,
    ) -> Problem {
        Problem {
            kind: format!("{TYPE_BASE}{}", self.code.slug()),
            title: self.code.title().to_owned(),
            status: self.status,
            detail: self.detail,
            instance: path.to_owned(),
            code: self.code.as_str().to_owned(),
            timestamp: now,
            trace_id: request_id.to_owned(),
            errors: self.errors,
            deletion: self.deletion.map(|record| *record),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match error {
            StoreError::NameTaken { kind, .. } => {
                Failure::new(Code::Duplicate, format!("This {kind} already exists"))
            }
            StoreError::OwnerGone { kind } => Failure::new(
                Code::StateConflict,
                format!("The owner of this {kind} is marked for deletion"),
            ),
            StoreError::TargetGone { kind } => Failure::new(
                Code::StateConflict,
                format!("Something this {kind} refers to is marked for deletion"),
            ),
            StoreError::Refused(refusal) => Failure::new(Code::StateConflict, refusal.to_string()),
            StoreError::Unavailable(cause) => {
                tracing::warn!(error = %cause, "the database is not available");
                Failure::new(
                    Code::Unavailable,
                    "Database connection unavailable; try again",
                )
            }
            contended @ StoreError::Contended { .. } => {
                tracing::warn!(error = %contended, "a write lost every race");
                Failure::new(
                    Code::Unavailable,
                    "Too many writes to this resource at once; try again",
                )
            }
            // What failed is for the log: a caller cannot act on it and must not learn about the tables.
            broken @ (StoreError::Statement(_) | StoreError::Unreadable { .. }) => {
                tracing::error!(error = %broken, "a request failed in the database");
                Failure::new(
                    Code::Internal,
                    "The server failed to handle the request; its log has the reason",
                )
            }
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        Failure::invalid(&error.field, None, error.message)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// The answer with a problem document as its body.
pub(crate) fn render(problem: &Problem, mut response: Response) -> Response {
    let body = serde_json::to_vec(problem).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    headers.insert(header::VARY, HeaderValue::from_static("Authorization"));
    *response.body_mut() = body.into();
    response
}

/// The header every answer carries its request id in.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
