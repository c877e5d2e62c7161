//! What one waits for.

use std::str::FromStr;

use hyperfleet_client::RemoteResource;

/// When waiting is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Goal {
    Phase(String),
    Condition { kind: String, status: String },
    Gone,
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Goal, String> {
        let mut words = text.splitn(3, '=');
        let word = words.next().unwrap_or_default();
        match (word, words.next(), words.next()) {
            ("delete", None, None) => Ok(Goal::Gone),
            ("phase", Some(phase), None) if !phase.is_empty() => Ok(Goal::Phase(phase.to_owned())),
            ("condition", Some(kind), status) if !kind.is_empty() => Ok(Goal::Condition {
                kind: kind.to_owned(),
                status: status.unwrap_or("True").to_owned(),
            }),
            _ => Err(
                "write phase=PHASE, condition=TYPE, condition=TYPE=STATUS, or delete".to_owned(),
            ),
        }
    }
}

impl Goal {
    pub(crate) fn ready() -> Goal {
        Goal::Phase("Ready".to_owned())
    }

    /// Whether a resource that is there is as it should be. What was said about an older generation does not count.
    pub(crate) fn is_met(&self, resource: &RemoteResource) -> bool {
        match self {
            Goal::Phase(phase) => resource
                .status
                .phase
                .as_deref()
                .is_some_and(|is| is.eq_ignore_ascii_case(phase)),
            Goal::Condition { kind, status } => {
                resource.status.conditions.iter().any(|condition| {
                    condition.kind.eq_ignore_ascii_case(kind)
                        && condition.status.eq_ignore_ascii_case(status)
                        && (condition.observed_generation == 0
                            || condition.observed_generation >= resource.generation)
                })
            }
            Goal::Gone => false,
        }
    }

    pub(crate) fn words(&self) -> String {
        match self {
            Goal::Phase(phase) => phase.clone(),
            Goal::Condition { kind, status } => format!("{kind}={status}"),
            Goal::Gone => "gone".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn goals_are_read_as_kubectl_reads_them() {
        let read = |text: &str| text.parse::<Goal>();
        assert_eq!(read("phase=Ready").unwrap(), Goal::ready());
        assert_eq!(read("delete").unwrap(), Goal::Gone);
        let condition = |status: &str| Goal::Condition {
            kind: "Reconciled".to_owned(),
            status: status.to_owned(),
        };
        assert_eq!(read("condition=Reconciled").unwrap(), condition("True"));
        assert_eq!(
            read("condition=Reconciled=False").unwrap(),
            condition("False")
        );
        for wrong in ["", "phase", "phase=", "condition=", "ready", "delete=now"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_condition_of_an_older_generation_does_not_count() {
        let with = |observed: i64| {
            RemoteResource::from_json(
                json!({"generation": 2, "status": {"phase": "Ready", "conditions": [
                {"type": "Reconciled", "status": "True", "observed_generation": observed}]}}),
            )
            .unwrap()
        };
        let goal: Goal = "condition=reconciled".parse().unwrap();
        assert!(!goal.is_met(&with(1)));
        assert!(goal.is_met(&with(2)));
        assert!(Goal::ready().is_met(&with(2)));
        assert!(!Goal::Gone.is_met(&with(2)));
    }
}
