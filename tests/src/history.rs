//! After all is done: what was acknowledged is there, and nothing else is.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::audit;
use crate::kubernetes::{KINDS, metadata, owner};
use crate::ledger::Known;
use crate::process::wait_as_long_as;
use crate::stack::{Parts, Stack};

/// The last deletions may just be under way.
const PATIENCE: Duration = Duration::from_secs(120);

/// Compares ledger, API, audit logs, events, Kubernetes and the observer's notes; every difference is told.
pub fn check(stack: &Stack) -> Result<String> {
    let known = stack.ledger.all();
    let mut wrong = Vec::new();
    for (what, differences) in [
        ("everything to be as it was acknowledged", as_acknowledged),
        ("nothing to be left behind", left_behind),
        ("every change to be followed by an event", untold),
    ] as [(&str, Differences); 3]
    {
        let settled = wait_as_long_as(PATIENCE, what, || {
            let found = differences(stack, &known)?;
            anyhow::ensure!(found.is_empty(), "{}", found.join("\n"));
            Ok(())
        });
        wrong.extend(settled.err().map(|error| format!("{error:#}")));
    }
    wrong.extend(stack.observer.violations());
    for (id, one) in &known {
        wrong.extend(audited(stack, id, one)?);
    }
    let looks = stack.observer.looks();
    let mut told = format!("{} resources, {looks} looks", known.len());
    if let Parts::Real(real) = &*stack.parts() {
        let (early, deletions) = audit::check(&real.audit_log(), &known)?;
        wrong.extend(early);
        let events = real.events.count();
        told = format!("{told}, {events} events, {deletions} deletions on Kubernetes");
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(told)
}

/// What is not yet, or not, as it should be.
type Differences = fn(&Stack, &BTreeMap<String, Known>) -> Result<Vec<String>>;

/// What the broker was not told. Nobody listens in where it is part of the process.
fn untold(stack: &Stack, known: &BTreeMap<String, Known>) -> Result<Vec<String>> {
    Ok(match &*stack.parts() {
        Parts::Real(real) => real.events.missing(known),
        Parts::Fast(_) => Vec::new(),
    })
}

fn as_acknowledged(stack: &Stack, known: &BTreeMap<String, Known>) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (id, one) in known {
        wrong.extend(resource(stack, id, one)?);
    }
    Ok(wrong)
}

/// No acknowledged change is lost.
fn resource(stack: &Stack, id: &str, one: &Known) -> Result<Option<String>> {
    let place = format!("/{}/{id}", one.plural);
    let answer = stack.call("GET", &place, None)?;
    let told = format!("{}/{} ({id})", one.plural, one.name);
    Ok(match (one.deleted, answer.status) {
        (true, 404) => None,
        (true, status) => Some(format!("{told} was deleted, and is answered with {status}")),
        // Its deletion was asked for and never answered: both are right.
        (false, 404) if one.deletion_asked.is_some() => None,
        (false, 200) => {
            let spec = &answer.body["spec"];
            let taken = *spec == one.spec || one.maybe.contains(spec);
            let generation = answer.body["generation"].as_i64().unwrap_or_default();
            if !taken {
                Some(format!(
                    "{told}: {} was acknowledged, and it is {spec}",
                    one.spec
                ))
            } else if generation < one.generation {
                Some(format!(
                    "{told}: generation {} became {generation}",
                    one.generation
                ))
            } else {
                None
            }
        }
        (false, status) => Some(format!("{told} was created, and is answered with {status}")),
    })
}

/// What was acknowledged is in the audit log.
fn audited(stack: &Stack, id: &str, one: &Known) -> Result<Option<String>> {
    let log = stack.get(&format!("/audit?resource_id={id}&limit=1000"))?;
    let entries = log["items"].as_array().cloned().unwrap_or_default();
    let has = |word: &str| {
        let mut actions = entries.iter().filter_map(|entry| entry["action"].as_str());
        actions.any(|action| action.contains(word))
    };
    let told = format!("{}/{} ({id})", one.plural, one.name);
    Ok(if !has("create") {
        Some(format!("{told}: its creation is not in the audit log"))
    } else if one.deleted && !has("delete") {
        Some(format!("{told}: its deletion is not in the audit log"))
    } else {
        None
    })
}

/// Objects whose owner is gone.
fn left_behind(stack: &Stack, known: &BTreeMap<String, Known>) -> Result<Vec<String>> {
    let on = stack.connect()?;
    let mut left = Vec::new();
    for (kind, path) in KINDS {
        for object in on.list(&format!("{path}?labelSelector=hyperfleet.io%2Fresource-id"))? {
            let owner = owner(&object);
            // Whose creation was never answered may exist all the same.
            let gone = match known.get(owner) {
                Some(one) => one.deleted,
                None => {
                    stack
                        .call("GET", &format!("/resources/{owner}"), None)?
                        .status
                        == 404
                }
            };
            if gone {
                let name = metadata(&object, "name");
                left.push(format!("{kind} {name} of {owner} is left behind"));
            }
        }
    }
    Ok(left)
}

/// The seed of a run: `HYPERFLEET_E2E_SEED`, else any. Printed, so that it can be given.
pub fn seed() -> u64 {
    let given = std::env::var("HYPERFLEET_E2E_SEED").ok();
    let seed = given.and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(1..1_000_000));
    eprintln!("seed {seed} (HYPERFLEET_E2E_SEED={seed} repeats it)");
    seed
}
