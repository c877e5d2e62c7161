//! Questions answered with the values of an event, and the answer explained.

use hyperfleet_expr::cel::Program;
use hyperfleet_expr::structured::Condition;
use serde_json::Value as Json;

use crate::context::Context;
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

/// Words in a key whose value is not for anybody's eyes.
const SECRET: [&str; 5] = ["token", "password", "secret", "credential", "private"];

pub(crate) fn judge(test: &Test, context: &Context) -> Answer {
    match test {
        Test::Expression(program) => match program.evaluate_bool(&context.bindings()) {
            Ok(true) => Answer::Yes,
            Ok(false) => Answer::No(explain(program, context)),
            Err(error) => Answer::Unknown(match context.why_absent(&error.message) {
                Some(why) => format!("{}; {why}", error.message),
                None => error.message,
            }),
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
        .map(|outcome| outcome.explanation)
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
            Some(_) if is_secret(&path) => format!("{path} is (hidden)"),
            Some(value) => format!("{path} is {value}"),
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

fn is_secret(path: &str) -> bool {
    let path = path.to_lowercase();
    SECRET.iter().any(|word| path.contains(word))
}

/// Chains of names in an expression, `a.b.c` and `a.?b.?c`, without the functions called on them.
/// Reading the text rather than the syntax tree is good enough for an explanation.
fn paths(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = source.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c == '"' || c == '\'' {
            // Texts hold no names.
            for (_, other) in chars.by_ref() {
                if other == c {
                    break;
                }
            }
            continue;
        }
        if !(c.is_ascii_alphabetic() || c == '_') {
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some((at, c)) = chars.peek().copied() {
            if !(c.is_ascii_alphanumeric() || "_.?".contains(c)) {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        let chain = source[start..end].replace('?', "");
        let chain = chain.trim_end_matches('.');
        let called = source[end..].starts_with('(');
        let path = match (called, chain.rsplit_once('.')) {
            (true, Some((receiver, _))) => receiver,
            (true, None) => continue,
            (false, _) => chain,
        };
        found.push(path.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_functions_and_texts_are_not() {
        assert_eq!(
            paths(r#"a.b == "c.d" && x.?y.orValue(1) > size(z) || now() == t"#),
            ["a.b", "x.y", "z", "t"]
        );
    }

    #[test]
    fn values_with_telling_names_are_hidden() {
        assert!(is_secret("spec.pullSecret"));
        assert!(!is_secret("spec.region"));
    }
}
