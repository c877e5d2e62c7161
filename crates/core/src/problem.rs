//! Errors as the API tells them: RFC 9457 problem documents with stable codes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deletion::DeletionRecord;
use crate::time::Time;

/// What went wrong, stable across versions. `docs/errors/` has a page for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request is well formed and breaks a rule.
    Validation,
    /// A query cannot be understood, or asks for nothing.
    BadRequest,
    /// The body cannot be read.
    Malformed,
    /// The path does not exist.
    EndpointNotFound,
    /// The path does not take this method.
    MethodNotAllowed,
    /// The object does not exist.
    NotFound,
    /// Another object has that name.
    Duplicate,
    /// The object is not in the state the caller named.
    VersionConflict,
    /// The object is in a state that does not allow it.
    StateConflict,
    /// An idempotency key stands for another request already.
    KeyReused,
    /// A position of the change feed is too old to resume from.
    Expired,
    /// The body is larger than the server takes.
    TooLarge,
    /// Nobody says who asks.
    Unauthenticated,
    /// What says who asks does not prove it.
    InvalidCredentials,
    /// The token was good once.
    TokenExpired,
    /// Who asks may not do this.
    Forbidden,
    /// Who asks has asked too often.
    TooManyRequests,
    /// The server failed; the log says why.
    Internal,
    /// Something the server depends on is away; try again.
    Unavailable,
}

impl Code {
    pub const ALL: [Code; 19] = [
        Code::Validation,
        Code::BadRequest,
        Code::Malformed,
        Code::EndpointNotFound,
        Code::MethodNotAllowed,
        Code::NotFound,
        Code::Duplicate,
        Code::VersionConflict,
        Code::StateConflict,
        Code::KeyReused,
        Code::Expired,
        Code::TooLarge,
        Code::Unauthenticated,
        Code::InvalidCredentials,
        Code::TokenExpired,
        Code::Forbidden,
        Code::TooManyRequests,
        Code::Internal,
        Code::Unavailable,
    ];

    pub fn as_str(self) -> &'static str {
        self.row().0
    }

    pub fn http_status(self) -> u16 {
        self.row().1
    }

    pub fn slug(self) -> &'static str {
        self.row().2
    }

    pub fn title(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> (&'static str, u16, &'static str, &'static str) {
        match self {
            Code::Validation => (
                "HYPERFLEET-VAL-000",
                400,
                "validation-error",
                "Validation Failed",
            ),
            Code::BadRequest => ("HYPERFLEET-VAL-005", 400, "bad-request", "Bad Request"),
            Code::Malformed => (
                "HYPERFLEET-VAL-006",
                400,
                "malformed-request",
                "Malformed Request",
            ),
            Code::EndpointNotFound => {
                ("HYPERFLEET-NTF-000", 404, "not-found", "Endpoint Not Found")
            }
            Code::MethodNotAllowed => (
                "HYPERFLEET-VAL-008",
                405,
                "method-not-allowed",
                "Method Not Allowed",
            ),
            Code::NotFound => ("HYPERFLEET-NTF-001", 404, "not-found", "Resource Not Found"),
            Code::Duplicate => ("HYPERFLEET-CNF-001", 409, "conflict", "Resource Conflict"),
            Code::VersionConflict => (
                "HYPERFLEET-CNF-002",
                412,
                "version-conflict",
                "Version Conflict",
            ),
            Code::KeyReused => (
                "HYPERFLEET-CNF-004",
                422,
                "idempotency-key-reused",
                "Idempotency Key Reused",
            ),
            Code::Expired => ("HYPERFLEET-WCH-001", 410, "expired", "Position Expired"),
            Code::StateConflict => ("HYPERFLEET-CNF-003", 409, "conflict", "State Conflict"),
            Code::TooLarge => (
                "HYPERFLEET-VAL-009",
                413,
                "payload-too-large",
                "Payload Too Large",
            ),
            Code::Unauthenticated => (
                "HYPERFLEET-AUT-001",
                401,
                "authentication-error",
                "Authentication Required",
            ),
            Code::InvalidCredentials => (
                "HYPERFLEET-AUT-002",
                401,
                "authentication-error",
                "Invalid Credentials",
            ),
            Code::TokenExpired => (
                "HYPERFLEET-AUT-003",
                401,
                "authentication-error",
                "Invalid Token",
            ),
            Code::Forbidden => (
                "HYPERFLEET-AUZ-001",
                403,
                "permission-denied",
                "Permission Denied",
            ),
            Code::TooManyRequests => (
                "HYPERFLEET-LMT-001",
                429,
                "rate-limit-exceeded",
                "Rate Limit Exceeded",
            ),
            Code::Internal => (
                "HYPERFLEET-INT-001",
                500,
                "internal-error",
                "Internal Server Error",
            ),
            Code::Unavailable => (
                "HYPERFLEET-SVC-001",
                503,
                "service-unavailable",
                "Service Unavailable",
            ),
        }
    }
}

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldError {
    pub field: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
}

/// The body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    /// The path of the request.
    pub instance: String,
    pub code: String,
    pub timestamp: Time,
    /// The request id, as in the `X-Request-ID` header and in the log.
    pub trace_id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// On a 404 for something that existed once: how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion: Option<DeletionRecord>,
}

/// The start of the `type` of every problem.
pub const TYPE_BASE: &str = "https://api.hyperfleet.io/errors/";
