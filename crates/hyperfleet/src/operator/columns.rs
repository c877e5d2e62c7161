//! What a table of resources shows.

use chrono::{DateTime, Utc};
use hyperfleet_client::RemoteResource;

use super::kinds::KindInfo;
use crate::output::{Cell, Tone, age};

/// What of a resource the columns are made from: a list for a table asks for nothing else.
pub(crate) const FIELDS: &str = "kind,name,generation,labels,created_time,deleted_time,owner_references,\
                                 status.phase,status.adapters,status.conditions";

/// What is known about a row besides the resource.
pub(crate) struct Surroundings<'a> {
    pub(crate) kind: &'a KindInfo,
    pub(crate) parent: Option<&'a str>,
    pub(crate) now: DateTime<Utc>,
}

/// One column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Name,
    Kind,
    Parent,
    Phase,
    Reconciled,
    Adapters,
    Generation,
    Age,
    Id,
    Reason,
    Labels,
}

/// The columns for a kind.
pub(crate) fn of(kind: &KindInfo, parents: Parents, wide: bool) -> Vec<Column> {
    let mut columns = vec![Column::Name];
    if kind.is_every() {
        columns.push(Column::Kind);
    }
    if parents == Parents::Shown && (kind.parent_kind.is_some() || kind.is_every()) {
        columns.push(Column::Parent);
    }
    columns.extend([
        Column::Phase,
        Column::Reconciled,
        Column::Adapters,
        Column::Generation,
        Column::Age,
    ]);
    if wide {
        columns.extend([Column::Id, Column::Reason, Column::Labels]);
    }
    columns
}

/// Whether a table says whose children its rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parents {
    Shown,
    /// All rows have the same one.
    Known,
}

impl Column {
    pub(crate) fn head(self) -> &'static str {
        match self {
            Column::Name => "NAME",
            Column::Kind => "KIND",
            Column::Parent => "PARENT",
            Column::Phase => "PHASE",
            Column::Reconciled => "RECONCILED",
            Column::Adapters => "ADAPTERS",
            Column::Generation => "GEN",
            Column::Age => "AGE",
            Column::Id => "ID",
            Column::Reason => "REASON",
            Column::Labels => "LABELS",
        }
    }

    pub(crate) fn cell(self, resource: &RemoteResource, around: &Surroundings<'_>) -> Cell {
        let reconciled = resource.condition("Reconciled");
        match self {
            Column::Name => Cell::new(&resource.name),
            Column::Kind => Cell::new(&resource.kind),
            Column::Parent => Cell::new(around.parent.unwrap_or("-")),
            Column::Phase => {
                let phase = resource.status.phase.as_deref().unwrap_or("-");
                Cell::toned(phase, Tone::of_phase(phase))
            }
            Column::Reconciled => match reconciled {
                Some(condition) => {
                    let tone = match condition.status.as_str() {
                        "True" => Tone::Good,
                        _ => Tone::Working,
                    };
                    Cell::toned(&condition.status, tone)
                }
                None => Cell::toned("-", Tone::Faint),
            },
            Column::Adapters => Cell::new(adapters(resource, around.kind)),
            Column::Generation => Cell::new(resource.generation.to_string()),
            Column::Age => match resource.created_time {
                Some(created) => Cell::new(age(created, around.now)),
                None => Cell::new("-"),
            },
            Column::Id => Cell::new(&resource.id),
            Column::Reason => {
                Cell::new(reconciled.map_or("-", |condition| non_empty(&condition.reason)))
            }
            Column::Labels => Cell::new(labels(resource)),
        }
    }
}

pub(crate) fn non_empty(text: &str) -> &str {
    match text {
        "" => "-",
        text => text,
    }
}

/// How many adapters are done with this generation, of how many it needs.
fn adapters(resource: &RemoteResource, kind: &KindInfo) -> String {
    let reported = resource.raw["status"]["adapters"].as_array();
    let reported = reported.map_or(&[][..], Vec::as_slice);
    let required: Vec<&str> = match kind.required_adapters.is_empty() {
        true => reported
            .iter()
            .filter_map(|adapter| adapter["name"].as_str())
            .collect(),
        false => kind.required_adapters.iter().map(String::as_str).collect(),
    };
    if required.is_empty() {
        return "-".to_owned();
    }
    let done = reported
        .iter()
        .filter(|adapter| {
            adapter["available"] == "True"
                && adapter["observed_generation"].as_i64() == Some(resource.generation)
                && adapter["name"]
                    .as_str()
                    .is_some_and(|name| required.contains(&name))
        })
        .count();
    format!("{done}/{}", required.len())
}

pub(crate) fn labels(resource: &RemoteResource) -> String {
    let pairs: Vec<String> = resource
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    match pairs.is_empty() {
        true => "-".to_owned(),
        false => pairs.join(","),
    }
}
