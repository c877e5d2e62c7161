//! The names a stage of the pipeline can see, and the compilers that know them.

use std::collections::BTreeSet;

use hyperfleet_expr::cel::{Environment, Program, Type};
use hyperfleet_expr::template::Template;
use hyperfleet_source::{Node, Span, suggest};

use super::fields::Found;

/// Names that are always there.
const BUILT_IN: [&str; 5] = ["adapter", "config", "env", "event", "resources"];

/// What can be named so far.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    names: BTreeSet<String>,
}

impl Scope {
    /// Only the built-in names.
    pub(super) fn built_in() -> Self {
        Self {
            names: BUILT_IN.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    pub(super) fn add(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(String::as_str)
    }

    fn environment(&self) -> Environment {
        let names = self.names.iter().map(|name| (name.clone(), Type::Dyn));
        Environment::standard().with_variables(names)
    }

    /// A CEL expression of any type.
    pub(super) fn expression(&self, node: &Node, found: &mut Found) -> Option<Program> {
        self.compile(node, &self.environment(), found, Environment::compile)
    }

    /// A CEL expression that is true or false.
    pub(super) fn predicate(&self, node: &Node, found: &mut Found) -> Option<Program> {
        let compile = Environment::compile_predicate;
        self.compile(node, &self.environment(), found, compile)
    }

    /// A CEL expression over the keys of an answer, which nobody knows beforehand.
    pub(super) fn open_expression(&self, node: &Node, found: &mut Found) -> Option<Program> {
        self.compile(node, &Environment::unchecked(), found, Environment::compile)
    }

    fn compile(
        &self,
        node: &Node,
        environment: &Environment,
        found: &mut Found,
        compile: impl Fn(&Environment, &str) -> Result<Program, hyperfleet_expr::cel::Problems>,
    ) -> Option<Program> {
        let Some(text) = node.as_str().filter(|text| !text.trim().is_empty()) else {
            found.push(node.error(format!("an expression is a text, found {}", node.kind())));
            return None;
        };
        match compile(environment, text) {
            Ok(program) => Some(program),
            Err(problems) => {
                for problem in problems {
                    let span = node.span_in(problem.span);
                    let message = format!("in the expression: {}", problem.message);
                    let mut wrong = hyperfleet_source::Diagnostic::error(&node.file, span, message);
                    wrong.help = problem.help;
                    found.push(wrong);
                }
                None
            }
        }
    }

    /// A template in a scalar. Numbers and booleans are templates without actions.
    pub(super) fn template(&self, node: &Node, found: &mut Found) -> Option<Template> {
        let text = match node.as_str() {
            Some(text) => text,
            None if node.as_mapping().is_none() && node.as_sequence().is_none() => {
                node.source_text()
            }
            None => {
                found.push(node.error(format!("a template is a text, found {}", node.kind())));
                return None;
            }
        };
        let place = |offset: usize| node.span_in(offset..offset + 1);
        self.parse(&node.location(), text, &node.file, place, found)
    }

    /// The template that is a whole file.
    pub(super) fn template_file(
        &self,
        file: &hyperfleet_source::SourceFile,
        found: &mut Found,
    ) -> Option<Template> {
        let place = |offset: usize| Span::new(offset, offset + 1);
        self.parse(file.name(), file.text(), file, place, found)
    }

    fn parse(
        &self,
        name: &str,
        text: &str,
        file: &hyperfleet_source::SourceFile,
        place: impl Fn(usize) -> Span,
        found: &mut Found,
    ) -> Option<Template> {
        let error = hyperfleet_source::Diagnostic::error;
        let template = match Template::parse(name, text) {
            Ok(template) => template,
            Err(wrong) => {
                let message = format!("in the template: {}", wrong.message);
                found.push(error(file, place(wrong.offset), message));
                return None;
            }
        };
        let mut known = true;
        for root in template.roots() {
            if self.has(&root.name) {
                continue;
            }
            known = false;
            let at = place(offset(text, root.line, root.column));
            let message = format!("in the template: nothing is named `{}` here", root.name);
            let mut wrong = error(file, at, message);
            wrong.help = suggest::help(&root.name, self.names());
            found.push(wrong);
        }
        known.then_some(template)
    }
}

/// The byte offset of a line and column (in characters), both from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let rest = &text[start..];
    start
        + rest
            .char_indices()
            .nth(column - 1)
            .map_or(rest.len(), |(at, _)| at)
}
