//! Aggregation rules in the expr-lang syntax of the status guide, lowered to CEL.
//!
//! ```text
//!  all(requiredAdapters, {.available == "True"})
//!        │ lexer, parser: positions, unknown functions
//!        ▼
//!  requiredAdapters.all(_1, __get(_1, "available") == "True")   + map back to the rule
//!        │ cel: unknown variables, types                          (problems, errors)
//!        ▼
//!  Rule ──evaluate(bindings)──► bool
//! ```
//!
//! The differences of the two languages are covered by a few functions that
//! `runtime::functions` adds to the environment: a missing key is
//! nil (a field of nil is an error, `?.` gives nil), integers and floats mix,
//! `/` divides as floats, and ordering by nil is false.

mod ast;
mod lexer;
mod lower;
mod parser;
mod runtime;

use std::ops::Range;

use serde_json::Value as Json;

use crate::cel::{Bindings, Environment, EvalError, Problem, Problems, Program};

/// A rule that is parsed and checked.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    program: Program,
    map: SpanMap,
}

/// CEL text with the way back to the rule it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    pub cel: String,
    pub map: SpanMap,
}

/// Which part of the rule each part of the CEL text stands for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpanMap(Vec<(Range<usize>, Range<usize>)>);

impl SpanMap {
    /// The part of the rule that a part of the CEL text came from: that of the
    /// smallest piece around it.
    pub fn to_rule(&self, cel: &Range<usize>) -> Range<usize> {
        self.0
            .iter()
            .filter(|(from, _)| from.start <= cel.start && cel.end <= from.end)
            .min_by_key(|(from, _)| from.len())
            .map_or(0..0, |(_, rule)| rule.clone())
    }
}

/// What the compiler quotes is the CEL text, which the author never saw.
fn requoted(problem: &Problem, cel: &str, rule: &str) -> String {
    match cel.get(problem.span.clone()) {
        Some(lowered) if !lowered.is_empty() && !rule.is_empty() => problem
            .message
            .replace(&format!("`{lowered}`"), &format!("`{rule}`")),
        _ => problem.message.clone(),
    }
}

/// Parses a rule and writes it as CEL, without checking variables.
pub fn lower(text: &str) -> Result<Lowered, Problems> {
    let expr = parser::parse(text).map_err(|problem| Problems::new(text, vec![problem]))?;
    Ok(lower::lower(text, &expr))
}

impl Rule {
    /// Compiles a rule that gives a bool; variables are those of `environment`.
    pub fn compile(text: &str, environment: &Environment) -> Result<Rule, Problems> {
        Rule::build(text, environment, Environment::compile_predicate)
    }

    /// As [`compile`](Self::compile), for a rule that may give any value.
    pub fn compile_value(text: &str, environment: &Environment) -> Result<Rule, Problems> {
        Rule::build(text, environment, Environment::compile)
    }

    fn build(
        text: &str,
        environment: &Environment,
        compile: fn(&Environment, &str) -> Result<Program, Problems>,
    ) -> Result<Rule, Problems> {
        let Lowered { cel, map } = lower(text)?;
        let environment = runtime::functions(environment.clone());
        match compile(&environment, &cel) {
            Ok(program) => Ok(Rule {
                text: text.to_owned(),
                program,
                map,
            }),
            Err(problems) => {
                let back = problems.into_iter().map(|problem| {
                    let span = map.to_rule(&problem.span);
                    Problem {
                        message: requoted(&problem, &cel, text.get(span.clone()).unwrap_or("")),
                        span,
                        ..problem
                    }
                });
                Err(Problems::new(text, back.collect()))
            }
        }
    }

    /// The rule as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The CEL it runs as.
    pub fn cel(&self) -> &str {
        self.program.source()
    }

    /// Variables the rule uses.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.program.references()
    }

    /// The entries of `variable` that the rule names, as in `adapters["dns"]`; sorted.
    pub fn keys_of(&self, variable: &str) -> Vec<&str> {
        self.program.keys_of(variable)
    }

    /// Whether the rule holds. The span of an error is one in the rule's text.
    pub fn evaluate(&self, bindings: &Bindings<'_>) -> Result<bool, EvalError> {
        self.program
            .evaluate_bool(bindings)
            .map_err(|error| self.located(error))
    }

    pub fn evaluate_json(&self, bindings: &Bindings<'_>) -> Result<Json, EvalError> {
        self.program
            .evaluate_json(bindings)
            .map_err(|error| self.located(error))
    }

    fn located(&self, error: EvalError) -> EvalError {
        let span = self.map.to_rule(&error.span);
        let part = self.text.get(span.clone()).unwrap_or("");
        // A message of the evaluator may quote the CEL text; the rule's own says more.
        let message = match error.message.split_once(", in `") {
            Some((message, _)) => message.to_owned(),
            None => error.message,
        };
        EvalError {
            kind: error.kind,
            message: match part {
                "" => message,
                part => format!("{message}, in `{part}`"),
            },
            span,
        }
    }
}
