//! AggregationConfig: what a platform team says about the status of a kind, in YAML.
//!
//! ```yaml
//! apiVersion: hyperfleet.io/v1alpha1      # the envelope may be left out: then `spec`'s keys stand alone
//! kind: AggregationConfig
//! spec:
//!   kind: Cluster                         # the default
//!   requiredAdapters: [validation, dns]
//!   clusterConditions:
//!     - type: AllAdaptersReady
//!       evaluate: {expr: 'all(requiredAdapters, {.available == "True"})'}
//! ```
//!
//! A file may hold several, for different kinds, separated by `---`. Every mistake is told at once, with its place.

mod conditions;
mod phases;
mod policies;

use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_source::{Diagnostic, Diagnostics, Node, Severity, SourceFile, Span, yaml};

use super::lateness::Policies;
use super::rule::ConditionRule;
use crate::identity::AdapterName;
use crate::phase::{Phase, Phases};

const API_VERSION: &str = "hyperfleet.io/v1alpha1";
const ENVELOPE: &str = "AggregationConfig";
const DEFAULT_KIND: &str = "Cluster";

/// What was written about one kind, read and compiled; whether it fits the kind is checked by the
/// [`Rulebook`](super::Rulebook).
#[derive(Debug, Clone)]
pub struct AggregationConfig {
    pub(super) kind: Written<String>,
    /// `None` leaves it to the kind.
    pub(super) required: Option<Vec<AdapterName>>,
    pub(super) optional: Vec<AdapterName>,
    pub(super) conditions: Vec<Written<ConditionRule>>,
    pub(super) phases: Phases,
    /// Every condition that a phase asks for, with its place.
    pub(super) asked: Vec<Written<String>>,
    pub(super) policies: Policies,
}

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(super) struct Written<T> {
    pub(super) value: T,
    file: SourceFile,
    span: Span,
}

impl<T> Written<T> {
    fn at(node: &Node, value: T) -> Written<T> {
        Written {
            value,
            file: node.file.clone(),
            span: node.span,
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(&self.file, self.span, message)
    }

    pub(super) fn warning(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(&self.file, self.span, message)
    }
}

impl AggregationConfig {
    /// The kind it is about.
    pub fn kind(&self) -> &str {
        &self.kind.value
    }

    /// Reads every configuration of a file.
    pub fn read(file: &SourceFile) -> Result<Vec<AggregationConfig>, Diagnostics> {
        let documents = yaml::parse_all(file)?;
        let mut found = Found::new();
        let configs: Vec<AggregationConfig> = documents
            .iter()
            .filter(|document| !document.is_null())
            .filter_map(|document| config(document, &mut found))
            .collect();
        if found.is_empty() && configs.is_empty() {
            let message = "there is no AggregationConfig in this file";
            found.push(Diagnostic::error(file, Span::at(0), message));
        }
        Diagnostics::check(found, configs)
    }
}

fn config(document: &Node, found: &mut Found) -> Option<AggregationConfig> {
    let spec = match document.get("spec").or(document.get("apiVersion")) {
        Some(_) => envelope(document, found)?,
        None => document,
    };
    let mut fields = Fields::of(spec, "an aggregation configuration", found)?;
    let kind = fields.text("kind", found);
    let required = fields
        .get("requiredAdapters")
        .map(|node| adapters(node, &[], found));
    let optional = fields
        .get("optionalAdapters")
        .map(|node| adapters(node, required.as_deref().unwrap_or_default(), found))
        .unwrap_or_default();
    let conditions = conditions::read(&mut fields, found);
    let phases = fields.get("phases");
    let default_behavior = fields.get("defaultBehavior");
    let policies = fields.get("policies");
    fields.finish(found);

    let (mut phases, asked) = phases::read(phases, found);
    let (policies, in_progress) = policies::read(default_behavior, policies, found);
    phases.in_progress = in_progress;
    Some(AggregationConfig {
        kind: Written::at(
            kind.unwrap_or(spec),
            kind.and_then(Node::as_str)
                .unwrap_or(DEFAULT_KIND)
                .to_owned(),
        ),
        required,
        optional,
        conditions,
        phases,
        asked,
        policies,
    })
}

/// The `spec` of a custom resource.
fn envelope<'n>(document: &'n Node, found: &mut Found) -> Option<&'n Node> {
    let mut fields = Fields::of(document, "an AggregationConfig", found)?;
    let is = |node: Option<&Node>, wanted: &str, key: &str, found: &mut Found| {
        if let Some(node) = node.filter(|node| node.as_str() != Some(wanted)) {
            found.push(node.error(format!("`{key}` must be `{wanted}`")));
        }
    };
    let version = fields.required("apiVersion", found);
    is(version, API_VERSION, "apiVersion", found);
    let kind = fields.required("kind", found);
    is(kind, ENVELOPE, "kind", found);
    // Names and labels matter to whoever applies the document, not to what it says.
    fields.get("metadata");
    let spec = fields.required("spec", found);
    fields.finish(found);
    spec
}

/// A list of adapter names, none of them twice or among `others`.
fn adapters(node: &Node, others: &[AdapterName], found: &mut Found) -> Vec<AdapterName> {
    let Some(items) = node.as_sequence() else {
        found.push(node.error(format!("adapters are a list, found {}", node.kind())));
        return Vec::new();
    };
    let mut names: Vec<AdapterName> = Vec::with_capacity(items.len());
    for item in items {
        match AdapterName::try_from(item.as_str().unwrap_or_default()) {
            Err(wrong) => found.push(item.error(wrong.to_string())),
            Ok(name) if names.contains(&name) => {
                found.push(item.error(format!("adapter `{name}` is listed twice")));
            }
            Ok(name) if others.contains(&name) => {
                let message = format!("adapter `{name}` is both required and optional");
                found.push(item.error(message));
            }
            Ok(name) => names.push(name),
        }
    }
    names
}

/// The phase that configuration calls by this word.
fn phase_named(word: &str) -> Option<Phase> {
    let wanted = word.to_ascii_lowercase();
    Phase::ALL
        .into_iter()
        .find(|phase| phase.as_str().to_ascii_lowercase().replace(' ', "") == wanted)
}

/// Splits findings into what forbids the use of a file and what only looks odd.
pub(super) fn severe(found: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    found
        .into_iter()
        .partition(|found| found.severity == Severity::Error)
}
