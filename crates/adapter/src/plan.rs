//! What to do about each resource, and why. Pure: configuration, values and what was found come
//! in, operations come out. This table is the whole order; `docs/lifecycle.md` draws it.
//!
//! ```text
//!  found ─┬─ detach.when true ──────────────► Detach     (all versions; before delete)
//!         ├─ delete.when true ──────────────► Delete     (all versions)
//!         ├─ owner is being deleted ────────► Nothing
//!         ├─ preconditions not met ─────────► Nothing
//!         ├─ still being deleted ───────────► Nothing
//!         ├─ when false ────────────────────► Skip
//!         ├─ there, recreate.when true ─────► Recreate │ Create beside it, with retention
//!         ├─ there, a patch's when true ────► Patch      (all that are; then no apply)
//!         ├─ apply.when false ──────────────► Skip
//!         ├─ absent, create.when false ─────► Skip
//!         ├─ absent ────────────────────────► Create
//!         ├─ other generation ──────────────► Update │ Recreate │ Create beside it
//!         ├─ same generation, drifted ──────► Update │ Recreate
//!         └─ same generation ───────────────► Skip
//!            then, with retention ──────────► Prune      (old versions, never the current one)
//!  a gate or template that fails ───────────► Blocked    (never falls through)
//! ```

mod decide;
mod prune;
mod render;

use hyperfleet_transport::{ObjectKind, ObjectRef, Propagation};
use serde::Serialize;
use serde_json::Value as Json;

pub use decide::decide;
pub use prune::prune;
pub(crate) use render::{RenderError, render, render_unowned};

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It does not exist, and shall.
    Create,
    /// It exists, and shall be different.
    Update,
    /// It exists, and shall be replaced.
    Recreate,
    /// It exists, and some of it shall change.
    Patch,
    /// It shall stay, and not be ours any more.
    Detach,
    /// Old versions of it shall go.
    Prune,
    /// It is as it shall be, or may not be created yet.
    Skip,
    /// It shall go.
    Delete,
    /// It is not touched.
    Nothing,
    /// Whether it may be touched could not be found out, so it is not.
    Blocked,
}

impl Action {
    /// Whether the target is asked for anything.
    pub(crate) fn touches(self) -> bool {
        !matches!(self, Self::Skip | Self::Nothing | Self::Blocked)
    }

    /// The word in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Recreate => "recreate",
            Self::Patch => "patch",
            Self::Detach => "detach",
            Self::Prune => "prune",
            Self::Skip => "skip",
            Self::Delete => "delete",
            Self::Nothing => "nothing",
            Self::Blocked => "blocked",
        }
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// Which resource of the configuration.
    pub resource: String,
    /// What is done.
    pub action: Action,
    /// Why.
    pub reason: String,
    /// Which gate decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<&'static str>,
    /// The object it is done to, as far as it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    /// What is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Json>,
    /// Merge patches, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Json>,
    /// What is deleted or detached, each only as long as it is the one that was seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// One word for a condition's reason, when blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
}

/// An object that is deleted or detached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// Its name.
    pub object: ObjectRef,
    /// Which object of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What happens to what it owns.
    pub propagation: Propagation,
}

/// What the target has for a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// All versions, the current one first.
    pub versions: Vec<Json>,
    /// How the current one differs from what was applied.
    pub drift: Drift,
}

impl Found {
    /// The version that counts.
    pub fn current(&self) -> Option<&Json> {
        self.versions.first()
    }
}

/// How an object of the right generation differs from its manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Drift {
    /// Not at all.
    #[default]
    None,
    /// In these fields.
    Fields(Vec<String>),
    /// In fields that cannot be changed any more, in the server's words.
    Immutable(String),
}

/// How much may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Everything.
    All,
    /// Preconditions are not met: only deletions, which are never held up by them.
    DeletesOnly,
}

impl Target {
    /// An object as it was found; `None` if it has no name.
    fn of(kind: &ObjectKind, version: &Json, propagation: Propagation) -> Option<Self> {
        let metadata = |key: &str| version["metadata"][key].as_str();
        Some(Self {
            object: kind.named(metadata("namespace"), metadata("name")?),
            uid: metadata("uid").map(str::to_owned),
            propagation,
        })
    }
}

pub(crate) fn is_terminating(object: &Json) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
