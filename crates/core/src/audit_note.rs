//! What a component did outside the API and wants remembered in its audit log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::identity::ResourceId;
use crate::time::Time;

/// What was done. Only these can be noted: everything else the API sees itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NotedAction {
    /// An object that a resource had left behind was deleted from its cluster.
    #[serde(rename = "object.deleted")]
    ObjectDeleted,
}

impl NotedAction {
    pub fn as_str(self) -> &'static str {
        match self {
            NotedAction::ObjectDeleted => "object.deleted",
        }
    }
}

/// One thing done to one object of one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditNote {
    pub action: NotedAction,
    /// The resource it was made for. It may be gone, or never have been known.
    pub resource_id: ResourceId,
    /// When it was done, by the clock of who did it.
    pub done_time: Time,
    /// Why, for people.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"\S"))]
    pub reason: String,
    /// What it was done to.
    pub object: NotedObject,
}

/// An object on a cluster. Its `uid` tells one note from the next: the same action on the same object is noted once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotedObject {
    #[schemars(length(min = 1, max = 255))]
    pub api_version: String,
    #[schemars(length(min = 1, max = 255))]
    pub kind: String,
    /// Absent for what is in no namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub namespace: Option<String>,
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    #[schemars(length(min = 1, max = 255))]
    pub uid: String,
    /// The adapter that made it.
    #[schemars(length(min = 1, max = 255))]
    pub adapter: String,
}

impl AuditNote {
    /// The most characters of a reason, and of anything else.
    pub const MAX_REASON: usize = 1024;
    pub const MAX_TEXT: usize = 255;

    /// The first field whose text is empty or too long, and how long it may be.
    pub fn broken_rule(&self) -> Option<(&'static str, usize)> {
        let object = &self.object;
        let texts = [
            ("reason", Some(&self.reason), Self::MAX_REASON),
            (
                "object.api_version",
                Some(&object.api_version),
                Self::MAX_TEXT,
            ),
            ("object.kind", Some(&object.kind), Self::MAX_TEXT),
            (
                "object.namespace",
                object.namespace.as_ref(),
                Self::MAX_TEXT,
            ),
            ("object.name", Some(&object.name), Self::MAX_TEXT),
            ("object.uid", Some(&object.uid), Self::MAX_TEXT),
            ("object.adapter", Some(&object.adapter), Self::MAX_TEXT),
        ];
        texts.into_iter().find_map(|(field, text, most)| {
            let text = text?;
            let fits = !text.trim().is_empty() && text.chars().count() <= most;
            (!fits).then_some((field, most))
        })
    }
}
