//! A resource on its way out.

use serde::Serialize;
use serde_json::value::RawValue;

use super::ObjectReference;
use crate::generation::Generation;
use crate::identity::ResourceId;
use crate::time::Time;

/// A JSON document that is passed on as it was written.
pub type Document = Box<RawValue>;

/// A [`Resource`](super::Resource) that nobody looks into: reads decode nothing, and encode only what is around its
/// documents. Its members are those of the resource, in the same order.
#[derive(Debug, Clone, Serialize)]
pub struct WrittenResource {
    pub id: ResourceId,
    pub kind: String,
    pub name: String,
    pub href: String,
    pub spec: Document,
    #[serde(skip_serializing_if = "is_empty")]
    pub labels: Document,
    pub tenancy: Document,
    pub generation: Generation,
    pub status: Document,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_references: Option<ObjectReference>,
    #[serde(skip_serializing_if = "is_empty")]
    pub references: Document,
    pub created_time: Time,
    pub updated_time: Time,
    pub created_by: String,
    pub updated_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_time: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<String>,
}

/// Whether an object has no members. PostgreSQL writes no blanks between its braces.
fn is_empty(document: &Document) -> bool {
    document.get() == "{}"
}
