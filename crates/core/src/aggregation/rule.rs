//! One condition that configuration computes, in either language.

use hyperfleet_expr::cel::{Bindings, Program};
use hyperfleet_expr::rules::Rule;

use super::Subject;
use crate::condition::{self, ConditionStatus, ResourceCondition};
use crate::time::Time;

/// Longest message of a computed condition, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 2048;
/// Longest reason of a computed condition, in bytes.
pub(super) const LONGEST_REASON: usize = 256;
/// Longest type of a computed condition, in characters.
pub(super) const LONGEST_TYPE: usize = 100;

/// The reason of a condition whose rule could not be evaluated.
const RULE_FAILED: &str = "RuleFailed";

/// What a rule asks.
#[derive(Debug, Clone)]
pub(super) enum Test {
    /// In the status guide's language.
    Expr(Rule),
    Cel(Program),
}

impl Test {
    fn holds(&self, bindings: &Bindings<'_>) -> Result<bool, String> {
        match self {
            Test::Expr(rule) => rule.evaluate(bindings).map_err(|error| error.message),
            Test::Cel(program) => program
                .evaluate_bool(bindings)
                .map_err(|error| error.message),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Test::Expr(rule) => rule.text(),
            Test::Cel(program) => program.source(),
        }
    }

    pub(super) fn references(&self) -> Vec<&str> {
        match self {
            Test::Expr(rule) => rule.references().collect(),
            Test::Cel(program) => program.references().collect(),
        }
    }

    pub(super) fn keys_of(&self, variable: &str) -> Vec<&str> {
        match self {
            Test::Expr(rule) => rule.keys_of(variable),
            Test::Cel(program) => program.keys_of(variable),
        }
    }
}

/// What a condition says besides its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) reason: String,
    pub(super) message: String,
}

/// One entry of `clusterConditions`.
#[derive(Debug, Clone)]
pub(super) struct ConditionRule {
    pub(super) kind: String,
    pub(super) test: Test,
    pub(super) when_true: Words,
    pub(super) when_false: Words,
}

impl ConditionRule {
    /// A rule that fails on the data is False and says why.
    pub(super) fn condition(
        &self,
        subject: &Subject<'_>,
        bindings: &Bindings<'_>,
        before: &[ResourceCondition],
    ) -> ResourceCondition {
        let (status, words) = match self.test.holds(bindings) {
            Ok(true) => (ConditionStatus::True, self.when_true.clone()),
            Ok(false) => (ConditionStatus::False, self.when_false.clone()),
            Err(message) => (
                ConditionStatus::False,
                Words {
                    reason: RULE_FAILED.to_owned(),
                    message: format!("The rule could not be evaluated: {message}"),
                },
            ),
        };
        computed(&self.kind, status, words, subject, before, bindings.now())
    }
}

/// A condition that a rule computed. Its times stand still while it says the same, whatever else is reported.
pub(super) fn computed(
    kind: &str,
    status: ConditionStatus,
    words: Words,
    subject: &Subject<'_>,
    before: &[ResourceCondition],
    now: Time,
) -> ResourceCondition {
    let previous = condition::find(before, kind);
    let last_transition_time = previous
        .filter(|before| before.status == status)
        .map_or(now, |before| before.last_transition_time);
    ResourceCondition {
        kind: kind.to_owned(),
        status,
        reason: (!words.reason.is_empty()).then_some(words.reason),
        message: (!words.message.is_empty()).then(|| shortened(words.message)),
        observed_generation: subject.generation(),
        created_time: previous.map_or(now, |before| before.created_time),
        last_updated_time: last_transition_time.max(subject.updated_time()),
        last_transition_time,
    }
}

/// Cut between two characters.
fn shortened(mut message: String) -> String {
    let mut end = LONGEST_MESSAGE.min(message.len());
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.truncate(end);
    message
}
