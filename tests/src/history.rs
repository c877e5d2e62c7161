//! After all is done: what was acknowledged is there, and nothing else is.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::kubernetes::{KINDS, metadata, owner};
use crate::ledger::Known;
use crate::process::wait_for;
use crate::stack::Stack;

/// Compares ledger, API, audit log, Kubernetes and the observer's notes; every difference is told.
pub fn check(stack: &Stack) -> Result<String> {
    let known = stack.ledger.all();
    let mut wrong = stack.observer.violations();
    for (id, one) in &known {
        wrong.extend(resource(stack, id, one)?);
        wrong.extend(audited(stack, id, one)?);
    }
    // What a sweeper is about to take may still be there for a moment.
    let left = wait_for("nothing to be left behind", || {
        let left = left_behind(stack, &known)?;
        anyhow::ensure!(left.is_empty(), "{}", left.join("\n"));
        Ok(())
    });
    wrong.extend(left.err().map(|error| format!("{error:#}")));
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    let looks = stack.observer.looks();
    Ok(format!("{} resources, {looks} looks", known.len()))
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
        (false, 404) if one.deletion_asked => None,
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
