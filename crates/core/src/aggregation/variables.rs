//! What rules see.
//!
//! | variable | what |
//! |---|---|
//! | `requiredAdapters`, `optionalAdapters` | an entry for each configured adapter, reported or not |
//! | `allAdapters` | an entry for each adapter that reported |
//! | `adapters` | the entries by name; also those of adapters that a rule names and that never reported |
//! | `currentGeneration` | the resource's generation |
//! | `statuses` | the reports with their conditions and data; none that has an Unknown condition |
//! | `resource` | the resource without its status |
//!
//! An adapter that has not reported is there with `Unknown` and generation 0, so that "all required adapters are
//! available" is false, not vacuously true, while nobody has reported.

use std::collections::BTreeSet;

use hyperfleet_expr::cel::{Bindings, Environment, Key, Limits, Map, Str, Type, Value};

use super::lateness::Lateness;
use super::{Subject, masking};
use crate::adapter_status::AdapterStatus;
use crate::condition::{AdapterCondition, ConditionStatus, types};
use crate::identity::AdapterName;
use crate::resource::Resource;
use crate::time::Time;

const REQUIRED: &str = "requiredAdapters";
const OPTIONAL: &str = "optionalAdapters";
const ALL: &str = "allAdapters";
pub(super) const BY_NAME: &str = "adapters";
const GENERATION: &str = "currentGeneration";
const STATUSES: &str = "statuses";
const RESOURCE: &str = "resource";

/// Steps of one rule: a thousand times what a rule over ten adapters needs, some milliseconds at most.
const STEPS: u64 = 100_000;

/// What every rule is compiled against. Without a clock: a status stays true until something is written.
pub(super) fn environment() -> Environment {
    Environment::standard()
        .without_clock()
        .with_limits(Limits {
            steps: STEPS,
            ..Limits::default()
        })
        .with_variables([
            (REQUIRED, Type::List),
            (OPTIONAL, Type::List),
            (ALL, Type::List),
            (BY_NAME, Type::Map),
            (GENERATION, Type::Int),
            (STATUSES, Type::List),
            (RESOURCE, Type::Map),
        ])
}

/// What one aggregation has at hand.
pub(super) struct Inputs<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// Sorted by adapter.
    pub(super) reports: &'a [&'a AdapterStatus],
    pub(super) lateness: &'a Lateness<'a>,
    pub(super) now: Time,
}

/// The variables that at least one rule of a kind uses; the others are not built.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    variables: BTreeSet<&'static str>,
    /// Adapters that rules name, sorted.
    named: Vec<AdapterName>,
}

impl Needs {
    pub(super) fn add_variables<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        let known = [REQUIRED, OPTIONAL, ALL, BY_NAME, STATUSES, RESOURCE];
        for name in names {
            self.variables.extend(known.iter().find(|k| **k == name));
        }
    }

    pub(super) fn add_adapter(&mut self, name: AdapterName) {
        if let Err(at) = self.named.binary_search(&name) {
            self.named.insert(at, name);
        }
    }

    fn has(&self, variable: &str) -> bool {
        self.variables.contains(variable)
    }

    /// The variables of one aggregation.
    pub(super) fn bindings<'a>(
        &'a self,
        required: &'a [AdapterName],
        optional: &'a [AdapterName],
        inputs: &Inputs<'a>,
    ) -> Bindings<'a> {
        let mut bindings = Bindings::new(inputs.now);
        let generation = inputs.subject.generation().get();
        bindings.set(GENERATION, Value::Int(generation.into()));
        if [REQUIRED, OPTIONAL, ALL, BY_NAME]
            .iter()
            .any(|name| self.has(name))
        {
            self.bind_entries(required, optional, inputs, &mut bindings);
        }
        if self.has(STATUSES) {
            let definite = inputs.reports.iter().filter(|report| is_definite(report));
            bindings.set(
                STATUSES,
                Value::list(definite.map(|report| status(report)).collect()),
            );
        }
        if self.has(RESOURCE) {
            bindings.set(RESOURCE, resource(inputs.subject.resource));
        }
        bindings
    }

    fn bind_entries<'a>(
        &'a self,
        required: &'a [AdapterName],
        optional: &'a [AdapterName],
        inputs: &Inputs<'a>,
        bindings: &mut Bindings<'a>,
    ) {
        let reported: Vec<(&str, Value<'a>)> = inputs
            .reports
            .iter()
            .map(|report| {
                let stale = inputs.lateness.is_stale(&report.adapter);
                (report.adapter.as_str(), reported(report, stale))
            })
            .collect();
        let entry = |name: &'a AdapterName| {
            reported
                .binary_search_by(|(known, _)| (*known).cmp(name.as_str()))
                .map_or_else(|_| absent(name), |at| reported[at].1.clone())
        };
        if self.has(REQUIRED) {
            bindings.set(REQUIRED, Value::list(required.iter().map(entry).collect()));
        }
        if self.has(OPTIONAL) {
            bindings.set(OPTIONAL, Value::list(optional.iter().map(entry).collect()));
        }
        if self.has(BY_NAME) {
            let configured = required.iter().chain(optional).chain(&self.named);
            let configured = configured.map(|name| (text(name.as_str()), entry(name)));
            let others = reported
                .iter()
                .map(|(name, entry)| (text(name), entry.clone()));
            bindings.set(
                BY_NAME,
                Value::Map(Map::from_entries(others.chain(configured))),
            );
        }
        if self.has(ALL) {
            let all = reported.into_iter().map(|(_, entry)| entry).collect();
            bindings.set(ALL, Value::list(all));
        }
    }
}

fn text(text: &str) -> Key<'_> {
    Key::String(Str::Borrowed(text))
}

fn entry<'a>(
    name: &'a AdapterName,
    says: impl Fn(&str) -> ConditionStatus,
    generation: i64,
    time: Option<Time>,
    stale: bool,
) -> Value<'a> {
    let word = |kind| Value::str(says(kind).as_str());
    let at = time.map_or(Value::Null, Value::Timestamp);
    // What rules ask for most comes first: a record is searched from the front.
    Value::Map(Map::record([
        ("available", word(types::AVAILABLE)),
        ("health", word(types::HEALTH)),
        ("applied", word(types::APPLIED)),
        ("observed_generation", Value::Int(generation)),
        ("adapter", Value::str(name.as_str())),
        ("stale", Value::Bool(stale)),
        ("reported", Value::Bool(time.is_some())),
        ("finalized", word(types::FINALIZED)),
        ("last_updated_time", at.clone()),
        ("last_updated", at),
    ]))
}

fn reported(report: &AdapterStatus, stale: bool) -> Value<'_> {
    let says = |kind: &str| {
        let condition = report.condition(kind);
        condition.map_or(ConditionStatus::Unknown, |condition| condition.status)
    };
    let generation = report.observed_generation.get().into();
    entry(
        &report.adapter,
        says,
        generation,
        Some(report.last_report_time),
        stale,
    )
}

fn absent(name: &AdapterName) -> Value<'_> {
    entry(name, |_| ConditionStatus::Unknown, 0, None, false)
}

fn is_definite(report: &AdapterStatus) -> bool {
    let mut conditions = report.conditions.iter();
    conditions.all(|condition| condition.status != ConditionStatus::Unknown)
}

fn status(report: &AdapterStatus) -> Value<'_> {
    let conditions = report.conditions.iter().map(condition).collect();
    Value::Map(Map::record([
        ("adapter", Value::str(report.adapter.as_str())),
        ("conditions", Value::list(conditions)),
        ("data", masking::object(report.data.members())),
        (
            "observed_generation",
            Value::Int(report.observed_generation.get().into()),
        ),
    ]))
}

fn condition(condition: &AdapterCondition) -> Value<'_> {
    Value::Map(Map::record([
        ("message", words(condition.message.as_deref())),
        ("reason", words(condition.reason.as_deref())),
        ("status", Value::str(condition.status.as_str())),
        ("type", Value::str(&condition.kind)),
    ]))
}

/// What was not said is empty, so that a rule need not ask whether it was.
fn words(text: Option<&str>) -> Value<'_> {
    Value::str(text.unwrap_or_default())
}

/// The resource as it is on the wire, without its status, and in the flat spelling of older rules.
fn resource(resource: &Resource) -> Value<'_> {
    let time = |time: Time| Value::Timestamp(time);
    let mut entries = vec![
        (text("ID"), Value::string(resource.id.to_string())),
        (text("id"), Value::string(resource.id.to_string())),
        (text("kind"), Value::str(&resource.kind)),
        (text("name"), Value::str(&resource.name)),
        (text("href"), Value::str(&resource.href)),
        (text("spec"), masking::object(&resource.spec)),
        (text("labels"), masking::texts(&resource.labels)),
        (text("tenancy"), masking::texts(&resource.tenancy)),
        (
            text("generation"),
            Value::Int(resource.generation.get().into()),
        ),
        (text("CreatedTime"), time(resource.created_time)),
        (text("created_time"), time(resource.created_time)),
        (text("UpdatedTime"), time(resource.updated_time)),
        (text("updated_time"), time(resource.updated_time)),
        (text("created_by"), Value::str(&resource.created_by)),
        (text("updated_by"), Value::str(&resource.updated_by)),
    ];
    if let Some(owner) = &resource.owner_references {
        let id = Value::string(owner.id.to_string());
        entries.extend([
            (text("owner_id"), id.clone()),
            (text("owner_kind"), Value::str(&owner.kind)),
            (text("owner_href"), Value::str(&owner.href)),
            (
                text("owner_references"),
                Value::Map(Map::from_entries([
                    (text("href"), Value::str(&owner.href)),
                    (text("id"), id),
                    (text("kind"), Value::str(&owner.kind)),
                ])),
            ),
        ]);
    }
    if let Some(deleted) = resource.deleted_time {
        entries.push((text("deleted_time"), time(deleted)));
    }
    if let Some(actor) = &resource.deleted_by {
        entries.push((text("deleted_by"), Value::str(actor)));
    }
    Value::Map(Map::from_entries(entries))
}
