//! What to do about each resource, and why. Pure: configuration, values and what was found come
//! in, operations come out.
//!
//! ```text
//!  found ─┬─ delete.when true ──────────────► Delete     (all versions)
//!         ├─ owner is being deleted ────────► Nothing
//!         ├─ preconditions not met ─────────► Nothing
//!         ├─ still being deleted ───────────► Nothing
//!         ├─ absent, create.when false ─────► Skip
//!         ├─ absent ────────────────────────► Create
//!         ├─ other generation ──────────────► Update │ Recreate
//!         ├─ same generation, drifted ──────► Update │ Recreate
//!         └─ same generation ───────────────► Skip
//!  a gate or template that fails ───────────► Blocked    (never falls through)
//! ```

use hyperfleet_transport::{ObjectRef, Propagation};
use serde::Serialize;
use serde_json::Value as Json;

use crate::context::Context;
use crate::judge::{Answer, judge};
use crate::stamp::{Stamp, generation_of};
use crate::task::{Manifest, Resource, Test};

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
    /// The word in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Recreate => "recreate",
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
    /// The object it is done to, as far as it has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectRef>,
    /// What is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Json>,
    /// What is deleted: all versions, each only as long as it is the one that was seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// One word for a condition's reason, when blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
}

/// An object that is deleted.
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

/// The whole plan, assuming that every operation succeeds at once.
pub fn plan(
    resources: &[Resource],
    context: &Context,
    stamp: &Stamp<'_>,
    found: &[Found],
    permit: Permit,
) -> Vec<Operation> {
    let mut context = context.clone();
    let mut operations = Vec::with_capacity(resources.len());
    for (resource, found) in resources.iter().zip(found) {
        let operation = decide(resource, &context, stamp, found, permit);
        match operation.action {
            Action::Create | Action::Recreate => {
                context.set_resource(&resource.name, operation.manifest.clone());
            }
            Action::Delete => context.set_resource(&resource.name, None),
            Action::Update | Action::Skip | Action::Nothing | Action::Blocked => {}
        }
        operations.push(operation);
    }
    operations
}

/// One step: what to do about one resource, as things stand.
pub fn decide(
    resource: &Resource,
    context: &Context,
    stamp: &Stamp<'_>,
    found: &Found,
    permit: Permit,
) -> Operation {
    let step = Step {
        resource,
        found,
        context,
    };
    if let Some(gate) = &resource.delete {
        match step.gate("lifecycle.delete.when", &gate.when) {
            Ok(Answer::Yes) => return step.delete(gate.propagation),
            Ok(_) => {}
            Err(blocked) => return *blocked,
        }
    }
    if context.deleting {
        let reason = match &resource.delete {
            Some(_) => "the owner is being deleted, and lifecycle.delete.when does not hold yet",
            None => "the owner is being deleted",
        };
        return step.leave(Action::Nothing, reason.to_owned());
    }
    if permit == Permit::DeletesOnly {
        return step.leave(Action::Nothing, "preconditions are not met".to_owned());
    }
    match found.current() {
        None => step.absent(stamp),
        Some(live) if is_terminating(live) => {
            let reason = "it is still being deleted; it is created again when it is gone";
            step.leave(Action::Nothing, reason.to_owned())
        }
        Some(live) => step.present(live, stamp),
    }
}

/// Renders and stamps a resource's manifest.
pub fn render(resource: &Resource, context: &Context, stamp: &Stamp<'_>) -> Result<Json, String> {
    let data = context.data();
    let rendered = match &resource.manifest {
        Manifest::Structure(structure) => structure.render(&data, context.now),
        Manifest::Text(template) => template.render_yaml(&data, context.now),
    };
    let mut manifest = rendered.map_err(|error| {
        let said = error.to_string();
        match context.why_absent(&said) {
            Some(why) => format!("{said}; {why}"),
            None => said,
        }
    })?;
    ObjectRef::of(&manifest).map_err(|error| error.to_string())?;
    stamp
        .apply(&mut manifest)
        .map_err(|error| error.to_string())?;
    Ok(manifest)
}

struct Step<'a> {
    resource: &'a Resource,
    found: &'a Found,
    context: &'a Context,
}

impl Step<'_> {
    fn leave(&self, action: Action, reason: String) -> Operation {
        Operation {
            resource: self.resource.name.clone(),
            action,
            reason,
            object: self.object(),
            manifest: None,
            targets: Vec::new(),
            cause: None,
        }
    }

    fn blocked(&self, cause: &'static str, reason: String) -> Operation {
        Operation {
            cause: Some(cause),
            ..self.leave(Action::Blocked, reason)
        }
    }

    fn object(&self) -> Option<ObjectRef> {
        let current = self.found.current()?;
        let metadata = |key: &str| current["metadata"][key].as_str();
        let kind = &self.resource.kind;
        Some(kind.named(metadata("namespace"), metadata("name")?))
    }

    /// A gate that cannot be answered stops the resource.
    fn gate(&self, gate: &str, test: &Test) -> Result<Answer, Box<Operation>> {
        match judge(test, self.context) {
            Answer::Unknown(why) => {
                let reason = format!(
                    "{gate} of `{}` cannot be answered: {why}",
                    self.resource.name
                );
                Err(Box::new(self.blocked("GateError", reason)))
            }
            answer => Ok(answer),
        }
    }

    fn delete(&self, propagation: Propagation) -> Operation {
        let versions = self.found.versions.iter();
        let targets: Vec<Target> = versions
            .filter(|version| !is_terminating(version))
            .filter_map(|version| {
                let metadata = |key: &str| version["metadata"][key].as_str();
                Some(Target {
                    object: (self.resource.kind).named(metadata("namespace"), metadata("name")?),
                    uid: metadata("uid").map(str::to_owned),
                    propagation,
                })
            })
            .collect();
        if self.found.versions.is_empty() {
            return self.leave(Action::Nothing, "it is gone".to_owned());
        }
        if targets.is_empty() {
            return self.leave(Action::Nothing, "it is being deleted already".to_owned());
        }
        Operation {
            targets,
            ..self.leave(Action::Delete, "lifecycle.delete.when holds".to_owned())
        }
    }

    fn absent(&self, stamp: &Stamp<'_>) -> Operation {
        if let Some(test) = &self.resource.create_when {
            match self.gate("lifecycle.create.when", test) {
                Ok(Answer::Yes) => {}
                Ok(Answer::No(why)) | Ok(Answer::Unknown(why)) => {
                    let name = &self.resource.name;
                    let reason = format!("{name}: lifecycle.create.when does not hold: {why}");
                    return self.leave(Action::Skip, reason);
                }
                Err(blocked) => return *blocked,
            }
        }
        self.apply(Action::Create, "it does not exist".to_owned(), stamp)
    }

    fn present(&self, live: &Json, stamp: &Stamp<'_>) -> Operation {
        let change = match self.resource.recreate_on_change {
            true => Action::Recreate,
            false => Action::Update,
        };
        let wanted = match render(self.resource, self.context, stamp) {
            Ok(manifest) => manifest,
            Err(error) => return self.blocked("TemplateError", error),
        };
        let (is, should) = (generation_of(live), generation_of(&wanted));
        if is != should {
            let reason = format!("generation changed from {} to {}", shown(is), shown(should));
            return self.with_manifest(change, reason, wanted);
        }
        match &self.found.drift {
            Drift::None => self.leave(Action::Skip, format!("generation {} unchanged", shown(is))),
            Drift::Fields(fields) => {
                let reason = format!("somebody changed {}", fields.join(", "));
                self.with_manifest(Action::Update, reason, wanted)
            }
            Drift::Immutable(message) if self.resource.recreate_on_change => {
                let reason = format!("it differs in fields that cannot be changed: {message}");
                self.with_manifest(Action::Recreate, reason, wanted)
            }
            Drift::Immutable(message) => self.blocked(
                "ImmutableField",
                format!(
                    "`{}` differs from its manifest in fields that cannot be changed, and \
                     recreate_on_change is not set: {message}",
                    self.resource.name
                ),
            ),
        }
    }

    fn apply(&self, action: Action, reason: String, stamp: &Stamp<'_>) -> Operation {
        match render(self.resource, self.context, stamp) {
            Ok(manifest) => self.with_manifest(action, reason, manifest),
            Err(error) => self.blocked("TemplateError", error),
        }
    }

    fn with_manifest(&self, action: Action, reason: String, manifest: Json) -> Operation {
        Operation {
            object: ObjectRef::of(&manifest).ok(),
            targets: match action {
                // Replaced objects go like deleted ones, but what they own must be gone first.
                Action::Recreate => self.delete(Propagation::Foreground).targets,
                _ => Vec::new(),
            },
            manifest: Some(manifest),
            ..self.leave(action, reason)
        }
    }
}

pub(crate) fn is_terminating(object: &Json) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn shown(generation: Option<i64>) -> String {
    generation.map_or_else(|| "none".to_owned(), |generation| generation.to_string())
}

#[cfg(test)]
mod tests;
