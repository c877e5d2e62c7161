//! `message_decision`: named expressions in order, and one that decides.

use hyperfleet_core::time::Time;
use hyperfleet_expr::cel::{
    Bindings, Environment, Function, Key, List, Map, Problems, Program, Str, Type, Value as Cel,
};
use serde_json::Value;

use crate::options::{DecisionRules, Param};

/// Names of the default parameters and their expressions, in order.
const DEFAULT_PARAMS: [(&str, &str); 7] = [
    ("ref_time", r#"condition("Reconciled").last_updated_time"#),
    (
        "is_reconciled",
        r#"condition("Reconciled").status == "True""#,
    ),
    ("has_ref_time", r#"ref_time != """#),
    (
        "is_new_resource",
        "resource.generation == 1 && !has_ref_time",
    ),
    (
        "generation_mismatch",
        r#"resource.generation > condition("Reconciled").observed_generation"#,
    ),
    (
        "reconciled_and_stale",
        r#"is_reconciled && has_ref_time && now - timestamp(ref_time) > duration("30m")"#,
    ),
    (
        "not_reconciled_and_debounced",
        r#"!is_reconciled && has_ref_time && now - timestamp(ref_time) > duration("10s")"#,
    ),
];

const DEFAULT_RESULT: &str = "is_new_resource || generation_mismatch || reconciled_and_stale || not_reconciled_and_debounced";

impl DecisionRules {
    /// The rules of v1.0, asked for by `message_decision: default`.
    pub fn standard() -> DecisionRules {
        DecisionRules {
            params: DEFAULT_PARAMS
                .map(|(name, expr)| Param {
                    name: name.to_owned(),
                    expr: expr.to_owned(),
                })
                .to_vec(),
            result: DEFAULT_RESULT.to_owned(),
        }
    }
}

/// Compiled rules.
#[derive(Debug)]
pub(crate) struct Rules {
    params: Vec<(String, Program)>,
    result: Program,
}

/// What is wrong with the rules, found when they are loaded.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("message_decision.params[{0}].name is required")]
    NoName(usize),
    #[error("message_decision.params: `{0}` is not a name an expression can use")]
    BadName(String),
    #[error("message_decision.params: `{0}` is defined more than once")]
    Twice(String),
    #[error("message_decision.params: `{0}` is taken; expressions know it as something else")]
    Taken(String),
    #[error("message_decision.{key} is required")]
    NoExpression { key: String },
    #[error("message_decision.{key}: {problems}")]
    Expression { key: String, problems: Problems },
}

/// Why a resource could not be decided on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvaluationError {
    #[error("param {name:?} evaluation failed: {message}")]
    Param { name: String, message: String },
    #[error("result evaluation failed: {message}")]
    Result { message: String },
}

/// What expressions about a resource may use: `resource`, `now` and `condition(type)`.
pub(crate) fn environment() -> Environment {
    Environment::standard()
        .with_variables([("resource", Type::Dyn), ("now", Type::Timestamp)])
        .with_function(
            Function::new("condition", 1, |call| {
                let name = call.args()[0].as_str().unwrap_or_default();
                Ok(condition(call.variable("resource"), name))
            })
            .returning(Type::Map),
        )
}

impl Rules {
    /// Compiles in order: an expression sees the parameters before it.
    pub(crate) fn compile(rules: &DecisionRules) -> Result<Rules, RulesError> {
        let mut environment = environment();
        let mut params: Vec<(String, Program)> = Vec::new();
        for (index, Param { name, expr }) in rules.params.iter().enumerate() {
            check_name(index, name, &params)?;
            let key = format!("params.{name}");
            let program = compile(&environment, key, expr)?;
            environment = environment.with_variables([(name.clone(), program.result_type())]);
            params.push((name.clone(), program));
        }
        if rules.result.trim().is_empty() {
            return Err(RulesError::NoExpression {
                key: "result".to_owned(),
            });
        }
        let result = environment
            .compile_predicate(&rules.result)
            .map_err(|problems| RulesError::Expression {
                key: "result".to_owned(),
                problems,
            })?;
        Ok(Rules { params, result })
    }

    /// What every parameter is, for people; one that fails, and those after it, say so.
    pub(crate) fn values(&self, resource: &Value, now: Time) -> serde_json::Map<String, Value> {
        let mut bindings = Bindings::new(now)
            .bind("resource", resource)
            .bind_value("now", Cel::Timestamp(now));
        let mut values = serde_json::Map::new();
        for (name, program) in &self.params {
            let shown = match program.evaluate(&bindings) {
                Ok(value) => {
                    let shown = value.to_json();
                    bindings.set(name.as_str(), value);
                    shown
                }
                Err(error) => Value::String(format!("error: {}", error.message)),
            };
            values.insert(name.clone(), shown);
        }
        values
    }

    /// Whether the resource must be looked at. Every parameter is evaluated, so one that fails
    /// decides, whether or not the result needs it.
    pub(crate) fn matches(&self, resource: &Value, now: Time) -> Result<bool, EvaluationError> {
        let mut bindings = Bindings::new(now)
            .bind("resource", resource)
            .bind_value("now", Cel::Timestamp(now));
        for (name, program) in &self.params {
            let value = program
                .evaluate(&bindings)
                .map_err(|error| EvaluationError::Param {
                    name: name.clone(),
                    message: error.message,
                })?;
            bindings.set(name.as_str(), value);
        }
        self.result
            .evaluate_bool(&bindings)
            .map_err(|error| EvaluationError::Result {
                message: error.message,
            })
    }
}

fn check_name(index: usize, name: &str, known: &[(String, Program)]) -> Result<(), RulesError> {
    if name.trim().is_empty() {
        return Err(RulesError::NoName(index));
    }
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if !is_name {
        return Err(RulesError::BadName(name.to_owned()));
    }
    if matches!(name, "resource" | "now") {
        return Err(RulesError::Taken(name.to_owned()));
    }
    if known.iter().any(|(known, _)| known == name) {
        return Err(RulesError::Twice(name.to_owned()));
    }
    Ok(())
}

fn compile(environment: &Environment, key: String, source: &str) -> Result<Program, RulesError> {
    if source.trim().is_empty() {
        return Err(RulesError::NoExpression { key });
    }
    environment
        .compile(source)
        .map_err(|problems| RulesError::Expression { key, problems })
}

/// The condition of a type, the last one of several. Every field is there, whether or not the
/// condition is: rules compare, they do not test for presence.
fn condition<'a>(resource: Option<&Cel<'a>>, name: &str) -> Cel<'a> {
    let conditions = resource
        .and_then(|resource| resource.field("status"))
        .and_then(|status| status.field("conditions"));
    let found = match conditions {
        Some(Cel::List(list)) => find(&list, name),
        _ => None,
    };
    let field = |name: &'static str, default: Cel<'a>| {
        let value = found
            .as_ref()
            .and_then(|condition| condition.field(name))
            .filter(|value| !matches!(value, Cel::Null))
            .unwrap_or(default);
        (Key::String(Str::Borrowed(name)), value)
    };
    Cel::Map(Map::from_entries([
        field("status", Cel::str("")),
        field("reason", Cel::str("")),
        field("message", Cel::str("")),
        field("last_updated_time", Cel::str("")),
        field("last_transition_time", Cel::str("")),
        field("observed_generation", Cel::Int(0)),
    ]))
}

fn find<'a>(list: &List<'a>, name: &str) -> Option<Cel<'a>> {
    (0..list.len())
        .rev()
        .filter_map(|index| list.get(index))
        .find(|condition| {
            condition
                .field("type")
                .is_some_and(|kind| kind.as_str() == Some(name))
        })
}
