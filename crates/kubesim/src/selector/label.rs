//! The label selector language: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::validation::{label_value_problem, qualified_name_problem};

#[derive(Debug, Clone, PartialEq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    Greater(String, i64),
    Less(String, i64),
}

/// A conjunction of requirements; the empty one selects everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

impl LabelSelector {
    pub(crate) fn parse(text: &str) -> Result<LabelSelector, Failure> {
        parse(text)
            .map(|requirements| LabelSelector { requirements })
            .map_err(|why| Failure::bad_request(format!("unable to parse requirement: {why}")))
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        let labels = object
            .get("metadata")
            .and_then(|m| m.get("labels"))
            .and_then(Value::as_object);
        self.requirements
            .iter()
            .all(|requirement| holds(requirement, labels))
    }
}

fn holds(requirement: &Requirement, labels: Option<&Map<String, Value>>) -> bool {
    let get = |key: &str| labels.and_then(|l| l.get(key)).and_then(Value::as_str);
    match requirement {
        Requirement::In(key, values) => get(key).is_some_and(|v| values.iter().any(|w| w == v)),
        Requirement::NotIn(key, values) => get(key).is_none_or(|v| values.iter().all(|w| w != v)),
        Requirement::Exists(key) => get(key).is_some(),
        Requirement::Missing(key) => get(key).is_none(),
        Requirement::Greater(key, bound) => get(key)
            .and_then(|v| v.parse::<i64>().ok())
            .is_some_and(|v| v > *bound),
        Requirement::Less(key, bound) => get(key)
            .and_then(|v| v.parse::<i64>().ok())
            .is_some_and(|v| v < *bound),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Symbol(&'static str),
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let symbols = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
        if let Some(symbol) = symbols.iter().find(|s| rest.starts_with(**s)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
            continue;
        }
        let end = rest
            .find(|c: char| {
                c.is_whitespace() || matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
            })
            .unwrap_or(rest.len());
        tokens.push(Token::Word(rest[..end].to_owned()));
        rest = &rest[end..];
    }
    Ok(tokens)
}

fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let tokens = tokens(text)?;
    let mut at = 0;
    let mut requirements = Vec::new();
    if tokens.is_empty() {
        return Ok(requirements);
    }
    loop {
        requirements.push(requirement(&tokens, &mut at)?);
        match tokens.get(at) {
            None => return Ok(requirements),
            Some(Token::Symbol(",")) => {
                at += 1;
                match tokens.get(at) {
                    Some(Token::Word(_) | Token::Symbol("!")) => {}
                    other => {
                        return Err(format!(
                            "found '{}', expected: identifier after ','",
                            show(other)
                        ));
                    }
                }
            }
            other => {
                return Err(format!(
                    "found '{}', expected: ',' or 'end of string'",
                    show(other)
                ));
            }
        }
    }
}

fn requirement(tokens: &[Token], at: &mut usize) -> Result<Requirement, String> {
    let negated = tokens.get(*at) == Some(&Token::Symbol("!"));
    if negated {
        *at += 1;
    }
    let key = match tokens.get(*at) {
        Some(Token::Word(word)) => word.clone(),
        other => return Err(format!("found '{}', expected: identifier", show(other))),
    };
    *at += 1;
    if let Some(problem) = qualified_name_problem(&key) {
        return Err(format!("<nil>: Invalid value: {key:?}: {problem}"));
    }
    if negated {
        return Ok(Requirement::Missing(key));
    }
    let operator = match tokens.get(*at) {
        None | Some(Token::Symbol(",")) => return Ok(Requirement::Exists(key)),
        Some(Token::Symbol(s)) => (*s).to_owned(),
        Some(Token::Word(word)) => word.clone(),
    };
    *at += 1;
    match operator.as_str() {
        "=" | "==" => Ok(Requirement::In(key.clone(), vec![value(tokens, at, &key)?])),
        "!=" => Ok(Requirement::NotIn(
            key.clone(),
            vec![value(tokens, at, &key)?],
        )),
        "in" => Ok(Requirement::In(key.clone(), values(tokens, at, &key)?)),
        "notin" => Ok(Requirement::NotIn(key.clone(), values(tokens, at, &key)?)),
        ">" | "gt" => bound(tokens, at, &key).map(|b| Requirement::Greater(key, b)),
        "<" | "lt" => bound(tokens, at, &key).map(|b| Requirement::Less(key, b)),
        other => Err(format!(
            "found '{other}', expected: in, notin, =, ==, !=, gt, lt"
        )),
    }
}

fn bound(tokens: &[Token], at: &mut usize, key: &str) -> Result<i64, String> {
    let text = value(tokens, at, key)?;
    text.parse().map_err(|_| {
        format!("values[0][{key}]: Invalid value: {text:?}: for 'Gt', 'Lt' operators, the value must be an integer")
    })
}

fn value(tokens: &[Token], at: &mut usize, key: &str) -> Result<String, String> {
    let value = match tokens.get(*at) {
        None | Some(Token::Symbol(",")) => return Ok(String::new()),
        Some(Token::Word(word)) => word.clone(),
        other => return Err(format!("found '{}', expected: identifier", show(other))),
    };
    *at += 1;
    checked(value, key, 0)
}

fn values(tokens: &[Token], at: &mut usize, key: &str) -> Result<Vec<String>, String> {
    if tokens.get(*at) != Some(&Token::Symbol("(")) {
        return Err(format!("found '{}' expected: '('", show(tokens.get(*at))));
    }
    *at += 1;
    let mut values = Vec::new();
    let mut expects_value = true;
    loop {
        match tokens.get(*at) {
            Some(Token::Symbol(")")) => {
                *at += 1;
                if expects_value {
                    values.push(String::new());
                }
                return Ok(values);
            }
            Some(Token::Symbol(",")) => {
                if expects_value {
                    values.push(String::new());
                }
                expects_value = true;
            }
            Some(Token::Word(word)) if expects_value => {
                values.push(checked(word.clone(), key, values.len())?);
                expects_value = false;
            }
            other => return Err(format!("found '{}', expected: ',' or ')'", show(other))),
        }
        *at += 1;
    }
}

fn checked(value: String, key: &str, index: usize) -> Result<String, String> {
    match label_value_problem(&value) {
        Some(problem) => Err(format!(
            "values[{index}][{key}]: Invalid value: {value:?}: {problem}"
        )),
        None => Ok(value),
    }
}

fn show(token: Option<&Token>) -> &str {
    match token {
        None => "",
        Some(Token::Word(word)) => word,
        Some(Token::Symbol(symbol)) => symbol,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(selector: &str, labels: Value) -> bool {
        LabelSelector::parse(selector)
            .unwrap()
            .matches(&json!({ "metadata": { "labels": labels } }))
    }

    #[test]
    fn equality_and_sets_select_as_in_kubernetes() {
        let labels = json!({"app": "web", "tier": "front", "n": "5"});
        for yes in [
            "",
            "app=web",
            "app==web",
            "app!=db",
            "missing!=x",
            "app in (db,web)",
            "x notin (y)",
            "tier",
            "!x",
            "app=web,tier in (front),!x",
            "n>4",
            "n<6",
        ] {
            assert!(selects(yes, labels.clone()), "{yes}");
        }
        for no in [
            "app=db",
            "app!=web",
            "app in (db)",
            "app notin (web)",
            "x",
            "!app",
            "app=web,x",
            "n>5",
        ] {
            assert!(!selects(no, labels.clone()), "{no}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            "a in b", "a in (b", "=x", "a=b c", "a,,b", "a=b,", "a!", "-a=b", "a=b/c d",
        ] {
            assert_eq!(
                LabelSelector::parse(bad).map_err(|f| f.code),
                Err(400),
                "{bad}"
            );
        }
    }
}
