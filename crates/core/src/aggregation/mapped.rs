//! Conditions of a resource that are mapped from what adapters reported: `entities[].conditions`.

use hyperfleet_expr::cel::{Bindings, Environment, Problems, Program, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Subject;
use super::rule::{LONGEST_REASON, Words, computed};
use crate::condition::{ConditionStatus, ResourceCondition};

/// The reason of a condition whose expressions could not be evaluated.
const MAPPING_FAILED: &str = "ConditionMappingFailed";

/// A condition that is computed from what adapters reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConditionMapping {
    /// The type of the condition.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether the resource has the condition at all. Always, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// What the condition says.
    pub output: MappingOutput,
}

/// What a mapped condition says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MappingOutput {
    /// `True` or `False`, as text or as a truth value.
    pub status: Expression,
    /// The reason. A condition whose reason is longer than 256 bytes is left out.
    pub reason: Expression,
    /// The message. Cut after 2048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Expression>,
}

/// A CEL expression over `statuses` and `resource`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expression {
    /// The text of the expression.
    pub expression: String,
}

/// A [`ConditionMapping`] that is compiled.
#[derive(Debug, Clone)]
pub(super) struct Mapped {
    kind: String,
    when: Option<Program>,
    status: Program,
    reason: Program,
    message: Option<Program>,
}

/// Where in a mapping an expression is, and what is wrong with it.
pub(super) type Wrong = (&'static str, Problems);

impl Mapped {
    /// All mistakes of all its expressions at once.
    pub(super) fn compile(
        mapping: &ConditionMapping,
        environment: &Environment,
    ) -> Result<Mapped, Vec<Wrong>> {
        let mut wrong = Vec::new();
        let mut keep = |place, outcome: Result<Program, Problems>| {
            outcome
                .map_err(|problems| wrong.push((place, problems)))
                .ok()
        };
        let compile = |expression: &Expression| environment.compile(&expression.expression);
        let output = &mapping.output;
        let when = mapping.when.as_ref().map(|when| {
            let compiled = environment.compile_predicate(&when.expression);
            keep("when/expression", compiled)
        });
        let status = keep("output/status/expression", compile(&output.status));
        let reason = keep("output/reason/expression", compile(&output.reason));
        let message = output
            .message
            .as_ref()
            .map(|message| keep("output/message/expression", compile(message)));
        match (when.flatten(), status, reason, message.flatten()) {
            (when, Some(status), Some(reason), message) if wrong.is_empty() => Ok(Mapped {
                kind: mapping.kind.clone(),
                when,
                status,
                reason,
                message,
            }),
            _ => Err(wrong),
        }
    }

    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        [&self.status, &self.reason]
            .into_iter()
            .chain(&self.when)
            .chain(&self.message)
    }

    /// `None` when the resource does not have it. What cannot be evaluated is False and says why.
    pub(super) fn condition(
        &self,
        subject: &Subject<'_>,
        bindings: &Bindings<'_>,
        before: &[ResourceCondition],
    ) -> Option<ResourceCondition> {
        let (status, words) = match self.evaluate(bindings) {
            Ok((_, words)) if words.reason.len() > LONGEST_REASON => return None,
            Ok(said) => said,
            Err(Absent::NotNow) => return None,
            Err(Absent::Failed(message)) => {
                let reason = MAPPING_FAILED.to_owned();
                (ConditionStatus::False, Words { reason, message })
            }
        };
        let now = bindings.now();
        Some(computed(&self.kind, status, words, subject, before, now))
    }

    fn evaluate(&self, bindings: &Bindings<'_>) -> Result<(ConditionStatus, Words), Absent> {
        if let Some(when) = &self.when {
            let applies = when.evaluate_bool(bindings);
            if !applies.map_err(|error| failed("when", &error.message))? {
                return Err(Absent::NotNow);
            }
        }
        let status = evaluated(&self.status, "status", bindings)?;
        let words = Words {
            reason: text(&self.reason, "reason", bindings)?,
            message: match &self.message {
                Some(message) => text(message, "message", bindings)?,
                None => String::new(),
            },
        };
        Ok((truth(&status)?, words))
    }
}

/// Why a mapping has nothing to say.
enum Absent {
    NotNow,
    Failed(String),
}

fn failed(part: &str, message: &str) -> Absent {
    Absent::Failed(format!("`{part}` could not be evaluated: {message}"))
}

fn evaluated<'a>(
    program: &'a Program,
    part: &str,
    bindings: &Bindings<'a>,
) -> Result<Value<'a>, Absent> {
    let outcome = program.evaluate(bindings);
    outcome.map_err(|error| failed(part, &error.message))
}

fn text(program: &Program, part: &str, bindings: &Bindings<'_>) -> Result<String, Absent> {
    let value = evaluated(program, part, bindings)?;
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(failed(
            part,
            &format!("it gave {}, not text", value.type_of()),
        )),
    }
}

fn truth(value: &Value<'_>) -> Result<ConditionStatus, Absent> {
    match (value.as_bool(), value.as_str()) {
        (Some(truth), _) => Ok(truth.into()),
        (_, Some(word)) if word.eq_ignore_ascii_case("true") => Ok(ConditionStatus::True),
        (_, Some(word)) if word.eq_ignore_ascii_case("false") => Ok(ConditionStatus::False),
        _ => Err(failed("status", "it must give \"True\" or \"False\"")),
    }
}
