//! What stands in the way.

use serde::Serialize;

use super::{Adapter, Evidence, State};
use crate::operator::fleet::called;

/// What stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::operator::why) struct Blocker {
    pub(in crate::operator::why) what: &'static str,
    pub(in crate::operator::why) name: String,
    pub(in crate::operator::why) why: String,
}

pub(super) fn all(evidence: &Evidence<'_>, adapters: &[Adapter]) -> Vec<Blocker> {
    let mut blockers: Vec<Blocker> = evidence
        .children
        .iter()
        .map(|child| Blocker {
            what: "child",
            name: called(child),
            why: match child.is_deleting() {
                true => "is being deleted too".to_owned(),
                false => "is not being deleted".to_owned(),
            },
        })
        .collect();
    let references = evidence.resource.raw["references"].as_object();
    for (kind, targets) in references.into_iter().flatten() {
        let missing = targets.as_array().into_iter().flatten();
        for target in missing.filter(|target| target["missing"] == true) {
            blockers.push(Blocker {
                what: "reference",
                name: format!("{kind} {}", target["id"].as_str().unwrap_or_default()),
                why: "what it points at is gone".to_owned(),
            });
        }
    }
    let open = adapters
        .iter()
        .filter(|adapter| adapter.state != State::Done)
        .filter(|adapter| adapter.required || adapter.state == State::Unhealthy);
    blockers.extend(open.map(|adapter| Blocker {
        what: "adapter",
        name: adapter.name.clone(),
        why: adapter.says.clone(),
    }));
    blockers
}
