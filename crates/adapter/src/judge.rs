//! Questions answered with the values of an event, and the answer explained.

use hyperfleet_expr::cel::Program;
use hyperfleet_expr::structured::Condition;
use hyperfleet_runtime::secret::redact;
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::names_in::paths;
use crate::task::Test;

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    /// With the values that made it so.
    No(String),
    /// It could not be answered, and why.
    Unknown(String),
}

/// Values told in an explanation.
const MOST: usize = 5;

pub(crate) fn judge(test: &Test, context: &Context) -> Answer {
    match test {
        Test::Expression(program) => match program.evaluate_bool(&context.bindings()) {
            Ok(true) => Answer::Yes,
            Ok(false) => Answer::No(explain(program, context)),
            Err(error) => Answer::Unknown(context.with_cause(error.message)),
        },
        Test::Conditions(conditions) => all(conditions, context),
    }
}

/// All are judged, so that everything that is missing is told at once.
fn all(conditions: &[Condition], context: &Context) -> Answer {
    let outcomes = conditions
        .iter()
        .map(|condition| condition.evaluate(|name| context.get(name)));
    let unmet: Vec<String> = outcomes
        .filter(|outcome| !outcome.met)
        .map(|outcome| {
            let mut told = Json::from(outcome.explanation);
            context.hide_secrets(&mut told);
            told.as_str().unwrap_or_default().to_owned()
        })
        .collect();
    match unmet.is_empty() {
        true => Answer::Yes,
        false => Answer::No(unmet.join("; ")),
    }
}

/// `clusterPhase is "Pending"`, for the values the expression looks at.
fn explain(program: &Program, context: &Context) -> String {
    let mut seen: Vec<String> = Vec::new();
    for path in paths(program.source()) {
        let mut steps = path.split('.');
        let root = steps.next().unwrap_or_default();
        if !program.references().any(|name| name == root) {
            continue;
        }
        let value = steps.try_fold(context.get(root), |at, step| {
            Some(at.and_then(|at| at.get(step)))
        });
        let told = match value.flatten() {
            Some(Json::Object(_) | Json::Array(_)) => continue,
            None if !path.contains('.') => continue,
            None => format!("{path} is not set"),
            Some(_) if context.is_secret(root) => format!("{path} is (hidden)"),
            Some(value) => format!("{path} is {}", shown(&path, value)),
        };
        if !seen.contains(&told) && seen.len() < MOST {
            seen.push(told);
        }
    }
    let source = program.source().split_whitespace().collect::<Vec<_>>();
    let source = source.join(" ");
    match seen.is_empty() {
        true => format!("{source} is false"),
        false => format!("{} (wanted: {source})", seen.join(", ")),
    }
}

/// The value, unless its name says that it is not for anybody's eyes.
fn shown(path: &str, value: &Json) -> Json {
    let key = path.rsplit('.').next().unwrap_or(path);
    let mut entry = json!({ key: value });
    redact(&mut entry);
    entry[key].take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_telling_names_are_hidden() {
        assert_eq!(shown("spec.region", &json!("eu")), json!("eu"));
        assert_ne!(shown("spec.password", &json!("eu")), json!("eu"));
    }
}
