//! What can go wrong with a statement, in the words of a caller.

use crate::deletion::Refusal;

/// Why a statement did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An active resource has that name.
    #[error("a {kind} named `{name}` already exists")]
    NameTaken { kind: String, name: String },
    /// The owner went away between the check and the write.
    #[error("the owner of the new {kind} no longer exists or is being deleted")]
    OwnerGone { kind: String },
    /// The target of a reference went away between the check and the write.
    #[error("a resource that this {kind} refers to no longer exists or is being deleted")]
    TargetGone { kind: String },
    /// A deletion that the rules forbid.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Too many writers at one row; the caller may try again.
    #[error("resource {id} changed {attempts} times while a write to it was being decided")]
    Contended { id: String, attempts: u32 },
    /// The database is away, or too busy to answer in time; the caller may try again.
    #[error("the database is not available: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// A statement failed in a way no caller can mend.
    #[error("a database statement failed: {0}")]
    Statement(#[source] sqlx::Error),
    /// A row holds what this version cannot read.
    #[error("row {id} cannot be read: {what}")]
    Unreadable { id: String, what: String },
}

impl StoreError {
    /// Whether the statement lost against another transaction and nothing is wrong with it.
    pub(crate) fn is_deadlock(&self) -> bool {
        match self {
            StoreError::Statement(sqlx::Error::Database(error)) => error
                .code()
                .is_some_and(|code| matches!(code.as_ref(), "40P01" | "40001")),
            _ => false,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        if is_unavailable(&error) {
            StoreError::Unavailable(error)
        } else {
            StoreError::Statement(error)
        }
    }
}

/// Whether nobody answers, or the server has no time: trying again may help.
pub(crate) fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        // A connection that ends in the middle of an exchange can look like any of these.
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::BeginFailed
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // 08: connection; 53: resources exhausted; 57: operator intervention (shutdown, statement timeout); 58: the
        // server's disk; XX: the server itself; 26: a prepared statement of another connection.
        sqlx::Error::Database(database) => database.code().is_some_and(|code| {
            matches!(
                &code.as_bytes()[..2],
                b"08" | b"53" | b"57" | b"58" | b"XX" | b"26"
            )
        }),
        _ => false,
    }
}
