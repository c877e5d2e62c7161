//! A target that is not there, for adapters that have no use for it.

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Scope, Selector, Target,
    Transport, TransportError,
};

/// Refuses everything: nobody configured this target.
#[derive(Clone, Copy, Debug)]
pub struct Unconnected(pub Target);

impl Unconnected {
    fn refuse<T>(self, operation: Operation, object: impl ToString) -> Result<T, TransportError> {
        let (name, key) = match self.0 {
            Target::Kubernetes => ("Kubernetes", "clients.kubernetes"),
            Target::Maestro => ("Maestro", "clients.maestro"),
        };
        Err(TransportError {
            target: self.0,
            operation,
            object: object.to_string(),
            failure: Failure::Other {
                status: None,
                message: format!("there is no connection to {name}; configure {key}"),
            },
        })
    }
}

#[async_trait]
impl Transport for Unconnected {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        self.refuse(Operation::Discover, kind)
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError> {
        self.refuse(Operation::Get, object)
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        _namespace: Option<&str>,
        _selector: &Selector,
    ) -> Result<Vec<Value>, TransportError> {
        self.refuse(Operation::List, kind)
    }

    async fn apply(&self, _manifest: &Value, _mode: Mode) -> Result<Value, TransportError> {
        self.refuse(Operation::Apply, "the manifest")
    }

    async fn create(&self, _manifest: &Value) -> Result<Value, TransportError> {
        self.refuse(Operation::Create, "the manifest")
    }

    async fn patch(&self, object: &ObjectRef, _patch: &Value) -> Result<Value, TransportError> {
        self.refuse(Operation::Patch, object)
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        _options: &Delete,
    ) -> Result<Deletion, TransportError> {
        self.refuse(Operation::Delete, object)
    }
}
