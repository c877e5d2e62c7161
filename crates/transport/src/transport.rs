//! What every target of managed objects must offer.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ObjectKind, ObjectRef, Selector, TransportError};

/// A place where managed objects live.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Whether objects of the kind live in namespaces.
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError>;

    /// The object, or `None` when the target says that it does not exist.
    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError>;

    /// All objects of the kind that carry the labels, in one namespace or in all.
    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Value>, TransportError>;

    /// Server-side apply: the fields of the manifest become ours, whoever set them before; fields
    /// we applied earlier and no longer mention go away; everything else stays.
    async fn apply(&self, manifest: &Value, mode: Mode) -> Result<Value, TransportError>;

    /// Creates the object; fails if it exists.
    async fn create(&self, manifest: &Value) -> Result<Value, TransportError>;

    /// JSON merge patch (RFC 7396).
    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, TransportError>;

    /// Deletes the object. One that is not there counts as deleted.
    async fn delete(
        &self,
        object: &ObjectRef,
        options: &Delete,
    ) -> Result<Deletion, TransportError>;
}

/// Whether a change is to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// For real.
    Commit,
    /// Everything is checked and computed, nothing is kept.
    DryRun,
}

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// What happens to the objects an object owns when it is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Propagation {
    /// They are deleted afterwards.
    #[default]
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

/// How to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delete {
    /// What happens to owned objects.
    pub propagation: Propagation,
    /// Only if the object is still this one, and not another of the same name.
    pub uid: Option<String>,
    /// Only if nobody changed the object since.
    pub resource_version: Option<String>,
}

/// What came of a deletion.
#[derive(Clone, Debug, PartialEq)]
pub enum Deletion {
    /// It was not there.
    Absent,
    /// The target accepted the deletion. Whether the object is gone already, only a look tells:
    /// finalizers, owned objects and running pods can hold it.
    Accepted,
}
