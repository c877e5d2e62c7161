//! Telling somebody what the store does and how long it takes.

use std::fmt;
use std::time::{Duration, Instant};

use hyperfleet_core::condition::{self, ConditionStatus, types};
use hyperfleet_core::resource::{Resource, ResourceStatus};

use crate::database::Store;
use crate::error::StoreError;

/// What a call does to its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Create,
    Query,
    Update,
    Delete,
}

impl Operation {
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Query => "query",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }
}

/// Hears of every call of a store.
pub trait Observer: Send + Sync + fmt::Debug {
    /// A call ended, well or not.
    fn call(
        &self,
        operation: Operation,
        table: &'static str,
        elapsed: Duration,
        error: Option<&StoreError>,
    );

    /// A report was stored, on a resource that had to be read for it or was remembered.
    fn reported(&self, remembered: bool);

    /// A resource that was reconciled, or new, is not reconciled now.
    fn unreconciled(&self, kind: &str, deleting: bool);
}

impl Store {
    /// Measures a call.
    pub(crate) async fn timed<T>(
        &self,
        operation: Operation,
        table: &'static str,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let Some(observer) = &self.observer else {
            return call.await;
        };
        let started = Instant::now();
        let outcome = call.await;
        observer.call(operation, table, started.elapsed(), outcome.as_ref().err());
        outcome
    }

    /// Tells the observer when a write that was stored undid `Reconciled`.
    pub(crate) fn settled(&self, before: Option<&ResourceStatus>, after: &Resource) {
        if undoes(before, &after.status) {
            self.unreconciled(after);
        }
    }

    pub(crate) fn reported(&self, remembered: bool) {
        if let Some(observer) = &self.observer {
            observer.reported(remembered);
        }
    }

    pub(crate) fn unreconciled(&self, resource: &Resource) {
        if let Some(observer) = &self.observer {
            observer.unreconciled(&resource.kind, resource.is_deleting());
        }
    }
}

/// Whether a status is not reconciled where the one before was, or was not there.
pub(crate) fn undoes(before: Option<&ResourceStatus>, after: &ResourceStatus) -> bool {
    is_unreconciled(after) && !before.is_some_and(is_unreconciled)
}

pub(crate) fn is_unreconciled(status: &ResourceStatus) -> bool {
    condition::find(&status.conditions, types::RECONCILED)
        .is_some_and(|reconciled| reconciled.status == ConditionStatus::False)
}
