//! The names a stage of the pipeline can see, and the compilers that know them.

use std::collections::{BTreeMap, BTreeSet};

use hyperfleet_expr::cel::{Environment, Program, Type};
use hyperfleet_expr::template::Template;
use hyperfleet_source::{Diagnostic, Node, SourceFile, Span, suggest};

use crate::context::{ADAPTER_MEMBERS, BUILT_IN};
use crate::names_in::paths;
use hyperfleet_source::fields::Found;

/// What can be named so far.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    names: BTreeSet<String>,
    /// What is inside of names whose members are known: a misspelt one would only look absent.
    members: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Scope {
    /// Only the built-in names, with the names of all resources.
    pub(super) fn built_in(resources: BTreeSet<String>) -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            names: owned(&BUILT_IN),
            members: BTreeMap::from([
                ("adapter", owned(&ADAPTER_MEMBERS)),
                ("resources", resources),
            ]),
        }
    }

    /// From here on, only these environment variables can be seen.
    pub(super) fn set_environment(&mut self, names: &BTreeSet<String>) {
        self.members.insert("env", names.clone());
    }

    /// Reports members that are not there, in the names a text mentions.
    fn check_members(&self, node: &Node, text: &str, found: &mut Found) {
        for path in paths(text) {
            self.check_path(node, text, &path, found);
        }
    }

    /// The same for one path.
    pub(super) fn check_path(&self, node: &Node, text: &str, path: &str, found: &mut Found) {
        let mut steps = path.split('.');
        let (Some(root), Some(member)) = (steps.next(), steps.next()) else {
            return;
        };
        let Some(known) = self.members.get(root) else {
            return;
        };
        if known.contains(member) {
            return;
        }
        let written = [format!("{root}.{member}"), format!("{root}.?{member}")];
        let place = written
            .iter()
            .find_map(|chain| Some((text.find(chain.as_str())?, chain.len())));
        let span = place.map_or(node.span, |(at, length)| node.span_in(at..at + length));
        let message = match root {
            "resources" => format!("there is no resource `{member}`"),
            "env" => format!("no parameter has the source `env.{member}`, so it cannot be seen"),
            _ => format!("`{root}` has no `{member}`"),
        };
        let mut wrong = Diagnostic::error(&node.file, span, message);
        wrong.help = suggest::help(member, known.iter().map(String::as_str));
        found.push(wrong);
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
            Ok(program) => {
                self.check_members(node, text, found);
                Some(program)
            }
            Err(problems) => {
                for problem in problems {
                    let span = node.span_in(problem.span);
                    let message = format!("in the expression: {}", problem.message);
                    let mut wrong = Diagnostic::error(&node.file, span, message);
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
    pub(super) fn template_file(&self, file: &SourceFile, found: &mut Found) -> Option<Template> {
        let place = |offset: usize| Span::new(offset, offset + 1);
        self.parse(file.name(), file.text(), file, place, found)
    }

    fn parse(
        &self,
        name: &str,
        text: &str,
        file: &SourceFile,
        place: impl Fn(usize) -> Span,
        found: &mut Found,
    ) -> Option<Template> {
        let error = Diagnostic::error;
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
