//! One step of a plan: what to do about one resource, as things stand.

use hyperfleet_transport::{ObjectRef, Propagation};
use serde_json::Value as Json;

use super::render::{RenderError, refuse_dangers, render};
use super::{Action, Drift, Found, Operation, Permit, Target, is_terminating};
use crate::context::Context;
use crate::judge::{Answer, judge};
use crate::stamp::{Stamp, generation_of, is_marked};
use crate::task::{Resource, Test};

/// The gate of a whole resource.
pub(super) const WHEN: &str = "when";
const APPLY: &str = "lifecycle.apply.when";
const CREATE: &str = "lifecycle.create.when";
const PATCH: &str = "lifecycle.patch.when";
const RECREATE: &str = "lifecycle.recreate.when";
const DETACH: &str = "lifecycle.detach.when";
const DELETE: &str = "lifecycle.delete.when";

/// The reason of an object that asks for a power it is not allowed.
const DANGEROUS: &str = "DangerousManifest";

/// An operation that ends the search for one.
type Stop = Box<Operation>;

/// In the order of the table of the module above.
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
        stamp,
    };
    step.decide(permit).unwrap_or_else(|stop| *stop)
}

struct Step<'a> {
    resource: &'a Resource,
    found: &'a Found,
    context: &'a Context,
    stamp: &'a Stamp<'a>,
}

impl Step<'_> {
    fn decide(&self, permit: Permit) -> Result<Operation, Stop> {
        let lifecycle = &self.resource.lifecycle;
        // What is deleted or let go is held up by nothing but its own gate.
        if self.holds(DETACH, lifecycle.detach.as_ref())? {
            return Ok(self.detach());
        }
        if let Some(delete) = &lifecycle.delete
            && self.holds(DELETE, Some(&delete.when))?
        {
            return Ok(self.delete(delete.propagation));
        }
        if self.context.deleting {
            let reason = match &lifecycle.delete {
                Some(_) => {
                    "the owner is being deleted, and lifecycle.delete.when does not hold yet"
                }
                None => "the owner is being deleted",
            };
            return Ok(self.leave(Action::Nothing, reason.to_owned()));
        }
        if permit == Permit::DeletesOnly {
            return Ok(self.leave(Action::Nothing, "preconditions are not met".to_owned()));
        }
        let current = self.found.current();
        if current.is_some_and(is_terminating) {
            let reason = "it is still being deleted; it is created again when it is gone";
            return Ok(self.leave(Action::Nothing, reason.to_owned()));
        }
        self.must(WHEN, self.resource.when.as_ref())?;
        if let Some(live) = current {
            if self.holds(RECREATE, lifecycle.recreate.as_ref())? {
                return self.replace(live);
            }
            if let Some(patch) = self.patch()? {
                return Ok(patch);
            }
        }
        self.must(APPLY, lifecycle.apply.as_ref())?;
        match current {
            None => self.absent(),
            Some(live) => self.present(live),
        }
    }

    /// Whether a gate that is there is open. One that cannot be answered stops the resource.
    fn holds(&self, gate: &'static str, test: Option<&Test>) -> Result<bool, Stop> {
        match test.map(|test| judge(test, self.context)) {
            None | Some(Answer::No(_)) => Ok(false),
            Some(Answer::Yes) => Ok(true),
            Some(Answer::Unknown(why)) => Err(self.unanswered(gate, &why)),
        }
    }

    /// A gate that is there must be open for the resource to be touched.
    fn must(&self, gate: &'static str, test: Option<&Test>) -> Result<(), Stop> {
        match test.map(|test| judge(test, self.context)) {
            None | Some(Answer::Yes) => Ok(()),
            Some(Answer::No(why)) => {
                let reason = format!("{}: {gate} does not hold: {why}", self.resource.name);
                Err(Box::new(Operation {
                    gate: Some(gate),
                    ..self.leave(Action::Skip, reason)
                }))
            }
            Some(Answer::Unknown(why)) => Err(self.unanswered(gate, &why)),
        }
    }

    fn unanswered(&self, gate: &'static str, why: &str) -> Stop {
        let reason = format!(
            "{gate} of `{}` cannot be answered: {why}",
            self.resource.name
        );
        Box::new(Operation {
            gate: Some(gate),
            ..self.blocked("GateError", reason)
        })
    }

    fn leave(&self, action: Action, reason: String) -> Operation {
        Operation {
            resource: self.resource.name.clone(),
            action,
            reason,
            gate: None,
            object: self.object(),
            manifest: None,
            patches: Vec::new(),
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
        let target = Target::of(
            &self.resource.kind,
            self.found.current()?,
            Propagation::default(),
        )?;
        Some(target.object)
    }

    fn targets(&self, propagation: Propagation, wanted: impl Fn(&&Json) -> bool) -> Vec<Target> {
        let versions = self.found.versions.iter().filter(wanted);
        versions
            .filter_map(|version| Target::of(&self.resource.kind, version, propagation))
            .collect()
    }

    fn detach(&self) -> Operation {
        let targets = self.targets(Propagation::Orphan, |version| is_marked(version));
        let (action, reason) = match (targets.is_empty(), self.found.versions.is_empty()) {
            (false, _) => (Action::Detach, "lifecycle.detach.when holds"),
            (true, false) => (Action::Nothing, "it is not ours any more"),
            (true, true) => (Action::Nothing, "it is gone"),
        };
        Operation {
            targets,
            gate: Some(DETACH),
            ..self.leave(action, reason.to_owned())
        }
    }

    fn delete(&self, propagation: Propagation) -> Operation {
        let targets = self.targets(propagation, |version| !is_terminating(version));
        let (action, reason) = match (targets.is_empty(), self.found.versions.is_empty()) {
            (false, _) => (Action::Delete, "lifecycle.delete.when holds"),
            (true, false) => (Action::Nothing, "it is being deleted already"),
            (true, true) => (Action::Nothing, "it is gone"),
        };
        Operation {
            targets,
            gate: Some(DELETE),
            ..self.leave(action, reason.to_owned())
        }
    }

    /// Every patch whose gate is open; `None` when none is.
    fn patch(&self) -> Result<Option<Operation>, Stop> {
        let mut patches = Vec::new();
        let mut fired = Vec::new();
        for (index, entry) in self.resource.lifecycle.patch.iter().enumerate() {
            if !self.holds(PATCH, Some(&entry.when))? {
                continue;
            }
            let document = entry
                .document
                .render(&self.context.data(), self.context.now);
            let document = document.map_err(|error| {
                let said = self.context.with_cause(error.to_string());
                Box::new(self.blocked("TemplateError", format!("lifecycle.patch[{index}]: {said}")))
            })?;
            refuse_dangers(self.resource, &document).map_err(|error| {
                let said = format!("lifecycle.patch[{index}]: {error}");
                Box::new(self.blocked(DANGEROUS, said))
            })?;
            patches.push(document);
            fired.push(index.to_string());
        }
        if patches.is_empty() {
            return Ok(None);
        }
        let reason = format!("when of lifecycle.patch[{}] holds", fired.join(", "));
        Ok(Some(Operation {
            gate: Some(PATCH),
            patches,
            ..self.leave(Action::Patch, reason)
        }))
    }

    fn wanted(&self) -> Result<Json, Stop> {
        render(self.resource, self.context, self.stamp).map_err(|error| {
            let name = &self.resource.name;
            Box::new(match error {
                RenderError::None => {
                    let reason = format!("{name}: there is nothing to apply, it has no manifest");
                    self.leave(Action::Skip, reason)
                }
                RenderError::NoOwner(_) => self.leave(Action::Skip, format!("{name}: {error}")),
                RenderError::Failed(why) => self.blocked("TemplateError", why),
                RenderError::ForeignOwner(why) => self.blocked("OwnerInOtherNamespace", why),
                RenderError::Dangerous(_) => self.blocked(DANGEROUS, error.to_string()),
            })
        })
    }

    fn absent(&self) -> Result<Operation, Stop> {
        self.must(CREATE, self.resource.lifecycle.create.as_ref())?;
        let wanted = self.wanted()?;
        Ok(self.with_manifest(Action::Create, "it does not exist".to_owned(), wanted))
    }

    /// `lifecycle.recreate.when` holds.
    fn replace(&self, live: &Json) -> Result<Operation, Stop> {
        let wanted = self.wanted()?;
        let reason = "lifecycle.recreate.when holds".to_owned();
        let operation = match self.resource.retention {
            Some(_) => self.beside(live, reason, wanted),
            None => self.with_manifest(Action::Recreate, reason, wanted),
        };
        Ok(Operation {
            gate: Some(RECREATE),
            ..operation
        })
    }

    /// A new version while the old ones stay, which needs a name of its own.
    fn beside(&self, live: &Json, reason: String, wanted: Json) -> Operation {
        let place = |object: &Json| {
            let metadata = &object["metadata"];
            (metadata["namespace"].clone(), metadata["name"].clone())
        };
        let taken = (self.found.versions.iter()).any(|version| place(version) == place(&wanted));
        if taken {
            let reason = format!(
                "a new version of `{}` would have the name of an old one, {}, which `retention` keeps: let \
                 metadata.name change from one version to the next",
                self.resource.name, wanted["metadata"]["name"]
            );
            return self.blocked("NameTaken", reason);
        }
        let reason = format!(
            "{reason}; {} stays",
            live["metadata"]["name"].as_str().unwrap_or("it")
        );
        self.with_manifest(Action::Create, reason, wanted)
    }

    fn present(&self, live: &Json) -> Result<Operation, Stop> {
        let wanted = self.wanted()?;
        let (is, should) = (generation_of(live), generation_of(&wanted));
        if is != should {
            let reason = format!("generation changed from {} to {}", shown(is), shown(should));
            return Ok(self.renew(live, reason, wanted));
        }
        Ok(match &self.found.drift {
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
        })
    }

    /// Another generation is wanted. Under another name it is another object: beside the old one where old ones are
    /// kept, in its place where there is to be one only and the old one is certainly ours.
    fn renew(&self, live: &Json, reason: String, wanted: Json) -> Operation {
        let renamed = live["metadata"]["name"] != wanted["metadata"]["name"] && is_marked(live);
        match (&self.resource.retention, renamed) {
            (Some(_), true) => self.beside(live, reason, wanted),
            (Some(_), false) if self.resource.recreate_on_change => {
                self.beside(live, reason, wanted)
            }
            (None, true) => self.with_manifest(Action::Recreate, reason, wanted),
            (None, false) if self.resource.recreate_on_change => {
                self.with_manifest(Action::Recreate, reason, wanted)
            }
            (_, false) => self.with_manifest(Action::Update, reason, wanted),
        }
    }

    fn with_manifest(&self, action: Action, reason: String, manifest: Json) -> Operation {
        Operation {
            object: ObjectRef::of(&manifest).ok(),
            targets: match action {
                // Replaced objects go like deleted ones, but what they own must be gone first.
                Action::Recreate => {
                    self.targets(Propagation::Foreground, |version| !is_terminating(version))
                }
                _ => Vec::new(),
            },
            manifest: Some(manifest),
            ..self.leave(action, reason)
        }
    }
}

fn shown(generation: Option<i64>) -> String {
    generation.map_or_else(|| "none".to_owned(), |generation| generation.to_string())
}
