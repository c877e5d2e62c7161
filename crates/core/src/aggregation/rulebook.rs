//! The rules of every kind, checked against the kinds.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use hyperfleet_source::fields::Found;
use hyperfleet_source::{Diagnostic, Diagnostics, Node, suggest};

use super::config::{AggregationConfig, severe};
use super::mapped::Mapped;
use super::rule::LONGEST_TYPE;
use super::rules::Rules;
use super::variables::{BY_NAME, environment};
use crate::condition::types;
use crate::identity::AdapterName;
use crate::kind::Kind;

/// What is said about the status of every kind of an API.
#[derive(Debug, Clone, Default)]
pub struct Rulebook {
    by_kind: HashMap<String, Rules>,
    /// For resources of a kind that is not configured any more.
    none: Rules,
}

/// A mistake in `entities[].conditions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappingProblem {
    /// The offending value as a JSON pointer into the list of kinds: `/0/conditions/1/when/expression`.
    pub pointer: String,
    /// The part of that value, if it is an expression.
    pub span: Option<Range<usize>>,
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl fmt::Display for MappingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entities{}: {}", self.pointer, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// Why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("{}", lines(.0))]
    Mappings(Vec<MappingProblem>),
    #[error(transparent)]
    Config(Diagnostics),
}

fn lines(problems: &[MappingProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

impl RulesError {
    /// Every mistake at its place; `kinds` is the list of kinds as it was written.
    pub fn diagnostics(self, kinds: &Node) -> Vec<Diagnostic> {
        match self {
            RulesError::Config(found) => found.into_vec(),
            RulesError::Mappings(problems) => problems
                .into_iter()
                .map(|problem| {
                    let node = kinds.nearest(&problem.pointer);
                    let span = problem.span.map_or(node.span, |span| node.span_in(span));
                    let mut found = Diagnostic::error(&node.file, span, problem.message);
                    found.help = problem.help;
                    found
                })
                .collect(),
        }
    }
}

impl Rulebook {
    /// Brings kinds and configurations together: the rules, and what looks odd about them.
    pub fn new(
        kinds: &[Kind],
        configs: &[AggregationConfig],
    ) -> Result<(Rulebook, Vec<Diagnostic>), RulesError> {
        let mut found = Found::new();
        let chosen = choose(kinds, configs, &mut found);
        let reserved = reserved(kinds, &chosen);
        let mut problems = Vec::new();
        let mut by_kind = HashMap::new();
        for (index, kind) in kinds.iter().enumerate() {
            let mapped = mapped(index, kind, &reserved, &mut problems);
            let config = chosen.get(kind.kind.as_str()).copied();
            let rules = compile(kind, config, mapped, &reserved, &mut found);
            by_kind.insert(kind.kind.clone(), rules);
        }
        if !problems.is_empty() {
            return Err(RulesError::Mappings(problems));
        }
        let (errors, warnings) = severe(found);
        let none = Rules::default();
        Diagnostics::check(errors, (Rulebook { by_kind, none }, warnings))
            .map_err(RulesError::Config)
    }

    /// Whether the passing of time can change any status.
    pub fn watches_the_clock(&self) -> bool {
        let mut rules = self.by_kind.values();
        rules.any(|rules| rules.policies.watch_the_clock())
    }

    /// The rules of a kind.
    pub fn rules(&self, kind: &str) -> &Rules {
        self.by_kind.get(kind).unwrap_or(&self.none)
    }
}

/// At most one configuration for each kind that exists.
fn choose<'c>(
    kinds: &[Kind],
    configs: &'c [AggregationConfig],
    found: &mut Found,
) -> HashMap<&'c str, &'c AggregationConfig> {
    let mut chosen: HashMap<&str, &AggregationConfig> = HashMap::new();
    for config in configs {
        let name = config.kind();
        if kinds.iter().all(|kind| kind.kind != name) {
            let mut unknown = config.kind.error(format!("there is no kind `{name}`"));
            unknown.help = suggest::help(name, kinds.iter().map(|k| k.kind.as_str()));
            found.push(unknown);
        } else if chosen.insert(name, config).is_some() {
            let message = format!("there is another configuration for kind `{name}`");
            found.push(config.kind.error(message));
        }
    }
    chosen
}

/// Types that no rule may produce: those that have a meaning already.
fn reserved(kinds: &[Kind], configs: &HashMap<&str, &AggregationConfig>) -> Vec<String> {
    let of_kinds = kinds.iter().flat_map(|kind| &kind.required_adapters);
    let of_configs = configs
        .values()
        .flat_map(|config| config.required.iter().flatten());
    let mirrors = of_kinds
        .chain(of_configs)
        .map(AdapterName::success_condition);
    let ours = [
        types::RECONCILED,
        types::LAST_KNOWN_RECONCILED,
        types::ADAPTERS_REPORTING,
        // Words of an adapter's report; on a resource they would be taken for its phase.
        types::AVAILABLE,
        "Ready",
    ];
    ours.into_iter().map(str::to_owned).chain(mirrors).collect()
}

fn mapped(
    position: usize,
    kind: &Kind,
    reserved: &[String],
    problems: &mut Vec<MappingProblem>,
) -> Vec<Mapped> {
    let environment = environment();
    let mut compiled: Vec<Mapped> = Vec::with_capacity(kind.conditions.len());
    for (index, mapping) in kind.conditions.iter().enumerate() {
        let at = |key: &str| format!("/{position}/conditions/{index}/{key}");
        let name = &mapping.kind;
        let mistake = if name.is_empty() || name.chars().count() > LONGEST_TYPE {
            Some(format!("a type has 1 to {LONGEST_TYPE} characters"))
        } else if reserved.contains(name) {
            Some(format!("the type `{name}` is reserved"))
        } else if kind.conditions[..index].iter().any(|m| m.kind == *name) {
            Some(format!("condition `{name}` is there twice"))
        } else {
            None
        };
        problems.extend(mistake.map(|message| MappingProblem {
            pointer: at("type"),
            span: None,
            message,
            help: None,
        }));
        match Mapped::compile(mapping, &environment) {
            Ok(mapped) => compiled.push(mapped),
            Err(mistakes) => {
                for (key, found) in mistakes {
                    problems.extend(found.into_iter().map(|problem| MappingProblem {
                        pointer: at(key),
                        span: Some(problem.span),
                        message: format!("in the expression: {}", problem.message),
                        help: problem.help,
                    }));
                }
            }
        }
    }
    compiled
}

fn compile(
    kind: &Kind,
    config: Option<&AggregationConfig>,
    mapped: Vec<Mapped>,
    reserved: &[String],
    found: &mut Found,
) -> Rules {
    let Some(config) = config else {
        let required = kind.required_adapters.clone();
        let (phases, policies) = Default::default();
        return Rules::new(required, Vec::new(), mapped, Vec::new(), phases, policies);
    };
    let required = config.required.as_ref().unwrap_or(&kind.required_adapters);
    for condition in &config.conditions {
        let name = &condition.value.kind;
        if reserved.contains(name) {
            found.push(condition.error(format!("the type `{name}` is reserved")));
        } else if mapped.iter().any(|mapped| mapped.kind() == name) {
            let message = format!("kind `{}` maps a condition `{name}` already", kind.kind);
            found.push(condition.error(message));
        }
        check_adapters(config, required, condition, found);
    }
    check_asked(config, required, &mapped, found);
    Rules::new(
        required.clone(),
        config.optional.clone(),
        mapped,
        config.conditions.iter().map(|c| c.value.clone()).collect(),
        config.phases.clone(),
        config.policies.clone(),
    )
}

/// A rule that names an adapter nobody expects is probably misspelt.
fn check_adapters(
    config: &AggregationConfig,
    required: &[AdapterName],
    condition: &super::config::Written<super::rule::ConditionRule>,
    found: &mut Found,
) {
    let known = || {
        required
            .iter()
            .chain(&config.optional)
            .map(AdapterName::as_str)
    };
    if known().next().is_none() {
        return;
    }
    for name in condition.value.test.keys_of(BY_NAME) {
        if known().any(|known| known == name) {
            continue;
        }
        let message = format!("adapter `{name}` is neither required nor optional");
        let mut odd = condition.warning(message);
        odd.help = suggest::help(name, known());
        found.push(odd);
    }
}

/// A phase can only ask for conditions that are produced.
fn check_asked(
    config: &AggregationConfig,
    required: &[AdapterName],
    mapped: &[Mapped],
    found: &mut Found,
) {
    let mut produced: Vec<String> = Vec::new();
    produced.extend(config.conditions.iter().map(|c| c.value.kind.clone()));
    produced.extend(mapped.iter().map(|mapped| mapped.kind().to_owned()));
    if !required.is_empty() {
        produced.extend([types::RECONCILED, types::LAST_KNOWN_RECONCILED].map(str::to_owned));
        produced.extend(required.iter().map(AdapterName::success_condition));
    }
    if config.policies.watch_the_clock() {
        produced.push(types::ADAPTERS_REPORTING.to_owned());
    }
    for asked in &config.asked {
        let name = &asked.value;
        if !produced.contains(name) {
            let mut unknown = asked.error(format!("there is no condition `{name}`"));
            unknown.help = suggest::help(name, produced.iter().map(String::as_str));
            found.push(unknown);
        }
    }
}
