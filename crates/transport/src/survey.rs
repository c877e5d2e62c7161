//! Finding objects of every kind, for whoever cleans up.

use async_trait::async_trait;
use serde_json::Value;

use crate::{ObjectKind, Transport, TransportError};

/// A target that can say what there is in it, whatever its kind.
#[async_trait]
pub trait Survey: Transport {
    /// Every kind of which objects can be listed, read and deleted, each in one version. Fails only
    /// when nothing can be learned at all.
    async fn kinds(&self) -> Result<Kinds, TransportError>;

    /// A page of the objects of a kind that carry a label, whatever its value, in all namespaces.
    /// `from` is the end of the page before.
    async fn page(
        &self,
        kind: &ObjectKind,
        label: &str,
        from: Option<&str>,
    ) -> Result<Page, TransportError>;
}

/// The kinds of a target.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// In the order of the target.
    pub kinds: Vec<ObjectKind>,
    /// API versions whose kinds could not be learned.
    pub failed: Vec<TransportError>,
}

/// Some objects, and where the next ones begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// As the target has them, with kind and version.
    pub items: Vec<Value>,
    /// `None` on the last page.
    pub next: Option<String>,
}
