//! The standard report, for configurations that do not write their own.
//!
//! | what happened | Applied | Available | Health |
//! |---|---|---|---|
//! | preconditions not met | False | False, `PreconditionsNotMet` | True |
//! | objects applied, workload not done | True | False, `JobRunning`, `Progressing`, … | True |
//! | workload succeeded | True | True, `AllResourcesAvailable` | True |
//! | workload failed | True | False, `JobFailed`, … | True |
//! | the adapter failed | False | False, the failure | False, the failure |
//!
//! `Finalized` is True when the owner is being deleted and every object that has a
//! `lifecycle.delete` or `lifecycle.detach` is gone or was let go.

use chrono::TimeDelta;
use hyperfleet_core::time::Time;
use serde_json::{Value as Json, json};

use crate::context::{Context, Fault};
use crate::workload::{State, state};

/// What is known about one resource at the end of an event.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// `resources.<name>`.
    pub name: &'a str,
    /// The object, if there is one that is ours.
    pub object: Option<&'a Json>,
    /// Whether it goes, or is let go, when the owner goes.
    pub deletable: bool,
    /// Why it does not exist although nothing failed: its `lifecycle.create.when`.
    pub withheld: Option<&'a str>,
}

/// How the event went.
#[derive(Clone, Debug)]
pub enum Course<'a> {
    /// Nothing failed.
    Ran,
    /// Preconditions are not met; says which and why.
    NotMet(&'a str),
    /// Something failed.
    Failed(&'a Fault),
}

struct Condition {
    kind: &'static str,
    holds: bool,
    reason: String,
    message: String,
}

impl Condition {
    fn new(kind: &'static str, holds: bool, reason: &str, message: &str) -> Self {
        Self {
            kind,
            holds,
            reason: reason.to_owned(),
            message: shortened(message),
        }
    }

    fn json(&self) -> Json {
        json!({
            "type": self.kind,
            "status": if self.holds { "True" } else { "False" },
            "reason": self.reason,
            "message": self.message,
        })
    }
}

/// A webhook may answer with a page; a condition is for reading.
const LONGEST: usize = 2000;

fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

/// The report of an event.
pub fn report(
    adapter: &str,
    context: &Context,
    course: &Course<'_>,
    observed: &[Observed<'_>],
) -> Json {
    let mut conditions = match course {
        Course::Failed(fault) => failed(fault),
        _ if context.deleting => deleting(context, observed),
        Course::NotMet(why) => not_met(why),
        Course::Ran => ran(observed),
    };
    conditions.push(finalized(context, course, observed));
    let conditions: Vec<Json> = conditions.iter().map(Condition::json).collect();
    json!({
        "adapter": adapter,
        "observed_generation": context.generation.unwrap_or(1),
        "observed_time": context.now.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        "conditions": conditions,
        "data": data(observed),
    })
}

fn failed(fault: &Fault) -> Vec<Condition> {
    ["Applied", "Available", "Health"]
        .map(|kind| Condition::new(kind, false, &fault.reason, &fault.message))
        .into()
}

fn healthy() -> Condition {
    Condition::new("Health", true, "Healthy", "the adapter works")
}

fn not_met(why: &str) -> Vec<Condition> {
    let reason = "PreconditionsNotMet";
    vec![
        Condition::new("Applied", false, reason, why),
        Condition::new("Available", false, reason, why),
        healthy(),
    ]
}

fn deleting(context: &Context, observed: &[Observed<'_>]) -> Vec<Condition> {
    let left = left(context, observed.iter());
    let message = match left.is_empty() {
        true => "the owner is being deleted and nothing is left".to_owned(),
        false => format!("the owner is being deleted; left: {left}"),
    };
    vec![
        Condition::new("Applied", !left.is_empty(), "Deleting", &message),
        Condition::new("Available", false, "Deleting", &message),
        healthy(),
    ]
}

fn ran(observed: &[Observed<'_>]) -> Vec<Condition> {
    let wanted = || observed.iter().filter(|one| one.withheld.is_none());
    let missing = names(wanted().filter(|one| one.object.is_none()));
    let applied = match missing.is_empty() {
        true => Condition::new("Applied", true, "ResourcesApplied", "all objects exist"),
        false => {
            let message = format!("not there: {missing}");
            Condition::new("Applied", false, "ResourcesMissing", &message)
        }
    };
    vec![applied, available(observed), healthy()]
}

/// The worst of all: a failure, then something missing, then work under way.
fn available(observed: &[Observed<'_>]) -> Condition {
    let mut waiting: Option<(String, String)> = None;
    for one in observed {
        let told = |message: &str| format!("{}: {message}", one.name);
        let now = match (one.object, one.withheld) {
            (None, Some(why)) => State::progress("Waiting", why),
            (None, None) => State::progress("Waiting", "it does not exist yet"),
            (Some(object), _) => state(object),
        };
        match now {
            State::Ready => {}
            State::Failed { reason, message } => {
                return Condition::new("Available", false, &reason, &told(&message));
            }
            State::Progress { reason, message } => {
                waiting.get_or_insert_with(|| (reason, told(&message)));
            }
        }
    }
    match waiting {
        Some((reason, message)) => Condition::new("Available", false, &reason, &message),
        None => {
            let message = "all objects are as they should be";
            Condition::new("Available", true, "AllResourcesAvailable", message)
        }
    }
}

fn finalized(context: &Context, course: &Course<'_>, observed: &[Observed<'_>]) -> Condition {
    let not = |reason: &str, message: &str| Condition::new("Finalized", false, reason, message);
    if let Course::Failed(fault) = course {
        return not("AdapterUnhealthy", &fault.message);
    }
    if !context.deleting {
        return not("NotDeleting", "the owner is not being deleted");
    }
    match left(context, observed.iter().filter(|one| one.deletable)) {
        left if left.is_empty() => {
            Condition::new("Finalized", true, "CleanupConfirmed", "nothing is left")
        }
        left => not("CleanupInProgress", &format!("left: {left}")),
    }
}

/// What is still there, and what each of it waits for.
fn left<'a>(context: &Context, observed: impl Iterator<Item = &'a Observed<'a>>) -> String {
    let left = observed.filter_map(|one| {
        let held = held(one.object?, context);
        Some(held.map_or_else(
            || one.name.to_owned(),
            |held| format!("{} ({held})", one.name),
        ))
    });
    left.collect::<Vec<_>>().join(", ")
}

/// `deleted 5m ago, held by the finalizer example.io/volumes`
fn held(object: &Json, context: &Context) -> Option<String> {
    let metadata = &object["metadata"];
    let deleted: Time = metadata["deletionTimestamp"].as_str()?.parse().ok()?;
    let finalizers = metadata["finalizers"].as_array();
    let finalizers: Vec<&str> = finalizers
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let by = match finalizers.as_slice() {
        [] => String::new(),
        [one] => format!(", held by the finalizer {one}"),
        many => format!(", held by the finalizers {}", many.join(", ")),
    };
    Some(format!("deleted {} ago{by}", age(context.now - deleted)))
}

/// As people say it: one unit is enough.
fn age(age: TimeDelta) -> String {
    match age.num_seconds().max(0) {
        seconds if seconds < 120 => format!("{seconds}s"),
        seconds if seconds < 7200 => format!("{}m", seconds / 60),
        seconds if seconds < 172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

fn names<'a>(observed: impl Iterator<Item = &'a Observed<'a>>) -> String {
    let names: Vec<&str> = observed.map(|one| one.name).collect();
    names.join(", ")
}

/// Which objects there are, for people and for other adapters.
fn data(observed: &[Observed<'_>]) -> Json {
    let objects = observed.iter().filter_map(|one| {
        let metadata = &one.object?["metadata"];
        let mut entry = json!({"name": metadata["name"]});
        if let Some(namespace) = metadata["namespace"].as_str() {
            entry["namespace"] = json!(namespace);
        }
        Some((one.name.to_owned(), entry))
    });
    Json::Object(objects.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_any_length_stays_readable() {
        assert_eq!(shortened("é"), "é");
        let long = shortened(&"é".repeat(9000));
        assert_eq!(long.chars().count(), LONGEST + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn the_worst_object_decides_whether_all_is_available() {
        let job =
            |status: Json| json!({"kind": "Job", "metadata": {"name": "j"}, "status": status});
        let running = job(json!({"active": 1}));
        let failed = job(json!({"conditions": [{"type": "Failed", "status": "True"}]}));
        let done = job(json!({"conditions": [{"type": "Complete", "status": "True"}]}));
        let reason = |objects: &[Option<&Json>]| {
            let observed: Vec<Observed<'_>> = objects
                .iter()
                .map(|object| Observed {
                    name: "job",
                    object: *object,
                    deletable: true,
                    withheld: None,
                })
                .collect();
            available(&observed).reason
        };
        assert_eq!(reason(&[Some(&running), Some(&failed)]), "JobFailed");
        assert_eq!(reason(&[Some(&done), Some(&running)]), "JobRunning");
        assert_eq!(reason(&[Some(&done), None]), "Waiting");
        assert_eq!(reason(&[Some(&done), Some(&done)]), "AllResourcesAvailable");
        assert_eq!(reason(&[]), "AllResourcesAvailable");
    }
}
