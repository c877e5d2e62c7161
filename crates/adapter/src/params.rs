//! Parameters: from their sources into the context.

use std::collections::BTreeMap;
use std::path::Path;

use hyperfleet_transport::Transport;
use serde_json::Value as Json;

use crate::calls::{self, Api};
use crate::context::{Context, Fault};
use crate::held::{self, HeldError};
use crate::task::{Holder, Param, ParamType, Source, Task};

/// Why a phase ended early.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) fault: Fault,
    /// Whether the same event may succeed later.
    pub(crate) transient: bool,
    /// Whether the API says that what was asked for does not exist.
    pub(crate) not_found: bool,
}

/// The largest file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Where values can come from, beside the event.
pub(crate) struct Sources<'a> {
    pub(crate) api: &'a dyn Api,
    pub(crate) env: &'a BTreeMap<String, String>,
    pub(crate) transport: &'a dyn Transport,
}

/// Resolves all parameters in order.
pub(crate) async fn resolve(
    task: &Task,
    from: &Sources<'_>,
    context: &mut Context,
) -> Result<(), Stop> {
    for param in &task.params {
        let value = source(param, from, context).await;
        let value = value.and_then(|value| converted(param, value));
        match settle(param, value) {
            Ok(Settled::Value(value)) if is_secret(&param.source, context) => {
                context.set_secret(&param.name, value);
            }
            Ok(Settled::Value(value)) => context.set(&param.name, value),
            Ok(Settled::Absent(why)) => context.set_absent(&param.name, why),
            Err(problem) => {
                return Err(Stop {
                    fault: Fault {
                        phase: "params",
                        step: param.name.clone(),
                        reason: problem.reason.to_owned(),
                        message: format!("parameter `{}`: {}", param.name, problem.message),
                    },
                    transient: problem.transient,
                    not_found: problem.not_found,
                });
            }
        }
    }
    Ok(())
}

enum Settled {
    Value(Json),
    Absent(String),
}

/// What is wrong with one parameter.
struct Problem {
    reason: &'static str,
    message: String,
    transient: bool,
    not_found: bool,
}

impl Problem {
    fn new(message: String) -> Self {
        Self {
            reason: "ParameterExtractionFailed",
            message,
            transient: false,
            not_found: false,
        }
    }
}

/// A default fills in for nothing, for an empty text, and for an error of an optional parameter.
/// An outage is never taken for an answer unless there is a default.
fn settle(param: &Param, value: Result<Json, Problem>) -> Result<Settled, Problem> {
    let default = param.default.clone();
    match value {
        Ok(value) if is_nothing(&value) => match (default, value) {
            (Some(default), _) => Ok(Settled::Value(default)),
            (None, Json::Null) => Ok(Settled::Absent("its source is null".to_owned())),
            (None, empty) => Ok(Settled::Value(empty)),
        },
        Ok(value) => Ok(Settled::Value(value)),
        Err(problem) if param.required => Err(problem),
        Err(problem) => match default {
            Some(default) => Ok(Settled::Value(default)),
            None if problem.transient => Err(problem),
            None => Ok(Settled::Absent(problem.message)),
        },
    }
}

fn is_nothing(value: &Json) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// Whether a value must never be shown: one from a Secret, or taken or computed from such a one.
fn is_secret(source: &Source, context: &Context) -> bool {
    match source {
        Source::Held { kind, .. } => *kind == Holder::Secret,
        Source::Value(name, _) => context.is_secret(name),
        Source::Expression(program) => program.references().any(|name| context.is_secret(name)),
        Source::Env(_)
        | Source::Event(_)
        | Source::Config(_)
        | Source::Call(_)
        | Source::File { .. } => false,
    }
}

async fn source(param: &Param, from: &Sources<'_>, context: &mut Context) -> Result<Json, Problem> {
    match &param.source {
        Source::Env(name) => match from.env.get(name) {
            Some(value) => Ok(Json::from(value.as_str())),
            None => Err(Problem::new(format!(
                "the environment variable {name} is not set"
            ))),
        },
        Source::Event(keys) => lookup(&context.subject.data, "event", keys),
        Source::Config(keys) => {
            let config = context.get("config").cloned().unwrap_or_default();
            lookup(&config, "config", keys)
        }
        Source::Value(name, keys) => match context.get(name) {
            Some(value) => lookup(value, name, keys),
            None => Err(Problem::new(
                context
                    .why_absent(name)
                    .unwrap_or_else(|| format!("`{name}` has no value")),
            )),
        },
        Source::Call(call) => match calls::fetch(from.api, call, context).await {
            Ok(answer) => {
                context.learn(&answer);
                Ok(answer)
            }
            Err(failure) => Err(Problem {
                reason: failure.reason(),
                transient: failure.is_transient(),
                not_found: failure.is_not_found(),
                message: failure.to_string(),
            }),
        },
        Source::Expression(program) => {
            let value = program.evaluate_json(&context.bindings());
            value.map_err(|error| Problem::new(context.with_cause(error.message)))
        }
        Source::Held {
            kind,
            namespace,
            name,
            key,
        } => {
            let held = held::read(*kind, (namespace, name, key), context, from.transport).await;
            held.map_err(|error| Problem {
                reason: match &error {
                    HeldError::Transport(error) => error.reason(),
                    _ => "ParameterExtractionFailed",
                },
                transient: matches!(&error, HeldError::Transport(error) if error.is_transient()),
                not_found: false,
                message: error.to_string(),
            })
        }
        Source::File { path, trim } => read(path, *trim, param.required).await,
    }
}

fn lookup(value: &Json, root: &str, keys: &[String]) -> Result<Json, Problem> {
    let mut at = value;
    let mut path = root.to_owned();
    for key in keys {
        path = format!("{path}.{key}");
        at = match at.get(key) {
            Some(next) => next,
            None => return Err(Problem::new(format!("there is no `{path}`"))),
        };
    }
    Ok(at.clone())
}

async fn read(path: &Path, trim: bool, required: bool) -> Result<Json, Problem> {
    let unreadable =
        |error: std::io::Error| Problem::new(format!("cannot read {}: {error}", path.display()));
    let size = tokio::fs::metadata(path).await.map_err(unreadable)?.len();
    if size > MAX_FILE {
        let message = format!(
            "{} has {size} bytes; the limit is {MAX_FILE}",
            path.display()
        );
        return Err(Problem::new(message));
    }
    let text = tokio::fs::read_to_string(path).await.map_err(unreadable)?;
    let text = if trim { text.trim() } else { &text };
    if required && text.trim().is_empty() {
        return Err(Problem::new(format!("{} is empty", path.display())));
    }
    Ok(Json::from(text))
}

/// Only values that were looked up are converted; answers and results have a type already.
fn converted(param: &Param, value: Json) -> Result<Json, Problem> {
    let Some(kind) = param.kind else {
        return Ok(value);
    };
    if matches!(param.source, Source::Call(_) | Source::Expression(_)) || is_nothing(&value) {
        return Ok(value);
    }
    let shown = || match &param.source {
        Source::Held { .. } => "its value".to_owned(),
        _ => value.to_string(),
    };
    convert(kind, &value).ok_or_else(|| {
        Problem::new(format!(
            "{} cannot be converted to {}",
            shown(),
            kind.name()
        ))
    })
}

impl ParamType {
    fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
        }
    }
}

fn convert(kind: ParamType, value: &Json) -> Option<Json> {
    let text = value.as_str().map(str::trim);
    Some(match kind {
        ParamType::String => match value {
            Json::String(_) => value.clone(),
            other => Json::from(other.to_string()),
        },
        ParamType::Int => {
            let number = value
                .as_i64()
                .or_else(|| value.as_bool().map(i64::from))
                .or_else(|| text?.parse().ok())
                .or_else(|| truncated(value.as_f64().or_else(|| text?.parse().ok())?));
            Json::from(number?)
        }
        ParamType::Float => {
            let number = value.as_f64().or_else(|| text?.parse().ok());
            Json::from(number.filter(|number| number.is_finite())?)
        }
        ParamType::Bool => {
            let truth = match (value, text.map(str::to_lowercase).as_deref()) {
                (Json::Bool(truth), _) => Some(*truth),
                (Json::Number(number), _) => number.as_f64().map(|number| number != 0.0),
                (_, Some("true" | "t" | "1" | "yes" | "y" | "on")) => Some(true),
                (_, Some("false" | "f" | "0" | "no" | "n" | "off")) => Some(false),
                _ => None,
            };
            Json::from(truth?)
        }
    })
}

/// A whole number out of a float, where one is near.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked before"
)]
fn truncated(number: f64) -> Option<i64> {
    (number.abs() < 9.0e15).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_become_numbers_and_truth_values_where_they_can() {
        assert_eq!(convert(ParamType::Int, &json!("42")), Some(json!(42)));
        assert_eq!(convert(ParamType::Int, &json!("4.9")), Some(json!(4)));
        assert_eq!(convert(ParamType::Int, &json!(true)), Some(json!(1)));
        assert_eq!(convert(ParamType::Int, &json!("many")), None);
        assert_eq!(convert(ParamType::Float, &json!("2.5")), Some(json!(2.5)));
        assert_eq!(convert(ParamType::Bool, &json!("Yes")), Some(json!(true)));
        assert_eq!(convert(ParamType::Bool, &json!(0)), Some(json!(false)));
        assert_eq!(convert(ParamType::Bool, &json!("maybe")), None);
        assert_eq!(convert(ParamType::String, &json!(7)), Some(json!("7")));
    }
}
