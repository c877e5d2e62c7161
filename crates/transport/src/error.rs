//! Why a target did not do what was asked, precise enough to become a condition.

use std::fmt;
use std::time::Duration;

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Looking a kind up.
    Discover,
    /// Reading one object.
    Get,
    /// Searching by labels.
    List,
    /// Server-side apply.
    Apply,
    /// Plain creation.
    Create,
    /// Merge patch.
    Patch,
    /// Deletion.
    Delete,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discover => "look up",
            Self::Get => "read",
            Self::List => "list",
            Self::Apply => "apply",
            Self::Create => "create",
            Self::Patch => "patch",
            Self::Delete => "delete",
        })
    }
}

/// Which sort of target it was done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A Kubernetes API server.
    Kubernetes,
    /// A Maestro server.
    Maestro,
}

/// An operation that failed, on what, and how.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot {operation} {object}: {failure}")]
pub struct TransportError {
    /// Where.
    pub target: Target,
    /// What was being done.
    pub operation: Operation,
    /// To what, in words: `Job ns/name`.
    pub object: String,
    /// What went wrong.
    pub failure: Failure,
}

/// What went wrong. Messages are the target's own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The object, or the namespace it should be in, does not exist.
    #[error("not found: {message}")]
    NotFound {
        /// The target's words.
        message: String,
    },
    /// Somebody created it in the meantime.
    #[error("it exists already: {message}")]
    AlreadyExists {
        /// The target's words.
        message: String,
    },
    /// Somebody else changed the object or owns the fields.
    #[error("conflict: {message}")]
    Conflict {
        /// Who owns the fields, where the target says so.
        manager: Option<String>,
        /// The fields in question.
        fields: Vec<String>,
        /// The target's words.
        message: String,
    },
    /// We may not do this.
    #[error("forbidden: {message}; grant the adapter's account this permission")]
    Forbidden {
        /// The target's words.
        message: String,
    },
    /// The target does not know who we are.
    #[error("not authenticated: {message}; check the credentials the adapter runs with")]
    Unauthorized {
        /// The target's words.
        message: String,
    },
    /// The manifest is wrong.
    #[error("invalid: {message}")]
    Invalid {
        /// One entry per field at fault: `field: problem`.
        causes: Vec<String>,
        /// The target's words.
        message: String,
    },
    /// The target is busy.
    #[error("too many requests: {message}")]
    TooManyRequests {
        /// When to try again.
        retry_after: Option<Duration>,
        /// The target's words.
        message: String,
    },
    /// An admission webhook or policy said no.
    #[error("denied by {webhook}: {message}")]
    WebhookDenied {
        /// Which one.
        webhook: String,
        /// Its words.
        message: String,
    },
    /// The target has no such kind.
    #[error(
        "the cluster has no kind {kind} in {api_version}; is its CustomResourceDefinition installed?"
    )]
    UnknownKind {
        /// Group and version.
        api_version: String,
        /// Kind.
        kind: String,
    },
    /// A ResourceQuota is used up.
    #[error("quota exceeded: {message}")]
    QuotaExceeded {
        /// The target's words.
        message: String,
    },
    /// The namespace is on its way out and takes nothing new.
    #[error("namespace is being deleted: {message}")]
    NamespaceTerminating {
        /// The target's words.
        message: String,
    },
    /// The target cannot be reached, or is broken for now.
    #[error("the target is not available: {message}")]
    Unavailable {
        /// What was seen.
        message: String,
    },
    /// Anything else.
    #[error("{message}")]
    Other {
        /// HTTP status, where there is one.
        status: Option<u16>,
        /// The target's words.
        message: String,
    },
}

impl TransportError {
    /// Whether the same operation may succeed later without anybody changing configuration.
    pub fn is_transient(&self) -> bool {
        matches!(
            self.failure,
            Failure::Conflict { .. }
                | Failure::AlreadyExists { .. }
                | Failure::TooManyRequests { .. }
                | Failure::NamespaceTerminating { .. }
                | Failure::Unavailable { .. }
        )
    }

    /// Whether the target cannot be reached or does not let us in for now, as opposed to having
    /// looked at the object and refused it.
    pub fn is_outage(&self) -> bool {
        matches!(
            self.failure,
            Failure::TooManyRequests { .. } | Failure::Unavailable { .. }
        )
    }

    /// When the target asked to be tried again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.failure {
            Failure::TooManyRequests { retry_after, .. } => retry_after,
            _ => None,
        }
    }

    /// One word for a condition's `reason`.
    pub fn reason(&self) -> &'static str {
        match self.failure {
            Failure::NotFound { .. } => "NotFound",
            Failure::AlreadyExists { .. } => "AlreadyExists",
            Failure::Conflict { .. } => "Conflict",
            Failure::Forbidden { .. } => "Forbidden",
            Failure::Unauthorized { .. } => "Unauthorized",
            Failure::Invalid { .. } => "Invalid",
            Failure::TooManyRequests { .. } => "TooManyRequests",
            Failure::WebhookDenied { .. } => "AdmissionDenied",
            Failure::UnknownKind { .. } => "UnknownKind",
            Failure::QuotaExceeded { .. } => "QuotaExceeded",
            Failure::NamespaceTerminating { .. } => "NamespaceTerminating",
            Failure::Unavailable { .. } => match self.target {
                Target::Kubernetes => "KubernetesUnavailable",
                Target::Maestro => "MaestroUnavailable",
            },
            Failure::Other { .. } => match self.target {
                Target::Kubernetes => "KubernetesError",
                Target::Maestro => "MaestroError",
            },
        }
    }
}
