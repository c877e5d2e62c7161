//! Reads a report body in every spelling the documents use, with errors that name the field.

use serde_json::{Map, Value};

use super::{Report, ReportError, ReportedCondition};
use crate::condition::ConditionStatus;
use crate::free::FreeObject;
use crate::generation::Generation;
use crate::identity::AdapterName;
use crate::time::{Time, storable};

const GENERATION: &[&str] = &["observed_generation", "observedGeneration"];
const TIME: &[&str] = &[
    "observed_time",
    "observedTime",
    "last_updated_time",
    "lastUpdatedTime",
    "last_updated",
    "lastUpdated",
];

const NESTED: &[&str] = &["adapter_statuses", "adapterStatuses"];
/// Most reports in one body.
const MOST: usize = 100;

/// Several reports in one body.
pub(super) struct Nested<'a> {
    /// The generation of those that do not give their own.
    pub(super) generation: Option<Generation>,
    pub(super) entries: &'a [Value],
    /// What the list is called.
    pub(super) field: &'static str,
}

impl<'a> Nested<'a> {
    /// `None` when the body is one report.
    pub(super) fn of(body: &'a Value) -> Result<Option<Nested<'a>>, ReportError> {
        let Some(body) = body.as_object() else {
            return Ok(None);
        };
        let (field, list) = first(body, NESTED);
        let Some(list) = list else { return Ok(None) };
        let entries = list.as_array().ok_or_else(|| must_be(field, "an array"))?;
        if entries.is_empty() || entries.len() > MOST {
            let message = format!("field '{field}' must hold 1 to {MOST} reports");
            return Err(ReportError::new(field, message));
        }
        Ok(Some(Nested {
            generation: match first(body, &["generation"]) {
                (_, None) => None,
                (field, Some(value)) => Some(generation(field, value)?),
            },
            entries,
            field,
        }))
    }
}

/// `generation` is that of a report that does not give its own.
pub(super) fn report(
    body: &Value,
    generation: Option<Generation>,
    now: Time,
) -> Result<Report, ReportError> {
    let body = body
        .as_object()
        .ok_or_else(|| ReportError::new("", "a status report must be a JSON object"))?;
    let adapter = match body.get("adapter") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err(must_be("adapter", "a string")),
    };
    let adapter = AdapterName::try_from(adapter)
        .map_err(|error| ReportError::new("adapter", error.to_string()))?;
    Ok(Report {
        adapter,
        observed_generation: observed_generation(body, generation)?,
        observed_time: storable(time(body)?.unwrap_or(now)),
        conditions: conditions(body)?,
        data: object(body, "data")?.unwrap_or_default(),
        metadata: object(body, "metadata")?,
    })
}

fn observed_generation(
    body: &Map<String, Value>,
    default: Option<Generation>,
) -> Result<Generation, ReportError> {
    match first(body, GENERATION) {
        (field, Some(value)) => generation(field, value),
        (field, None) => {
            let missing = || ReportError::new(field, "observed_generation is required");
            default.ok_or_else(missing)
        }
    }
}

fn generation(field: &str, value: &Value) -> Result<Generation, ReportError> {
    let number = value
        .as_i64()
        .ok_or_else(|| must_be(field, "a whole number"))?;
    let name = match field {
        "generation" => field,
        _ => GENERATION[0],
    };
    Generation::try_from(number)
        .map_err(|_| ReportError::new(field, format!("{name} must be at least 1")))
}

fn time(body: &Map<String, Value>) -> Result<Option<Time>, ReportError> {
    let (field, value) = first(body, TIME);
    let Some(value) = value else { return Ok(None) };
    let text = value
        .as_str()
        .ok_or_else(|| must_be(field, "an RFC 3339 timestamp"))?;
    chrono::DateTime::parse_from_rfc3339(text)
        .map(|time| Some(time.to_utc()))
        .map_err(|_| must_be(field, "an RFC 3339 timestamp"))
}

fn conditions(body: &Map<String, Value>) -> Result<Vec<ReportedCondition>, ReportError> {
    let entries = match body.get("conditions") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(must_be("conditions", "an array")),
    };
    let mut conditions: Vec<ReportedCondition> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let condition = condition(index, entry)?;
        if conditions
            .iter()
            .any(|earlier| earlier.kind == condition.kind)
        {
            return Err(ReportError::new(
                format!("conditions[{index}].type"),
                format!(
                    "duplicate condition type '{}' at index {index}",
                    condition.kind
                ),
            ));
        }
        conditions.push(condition);
    }
    Ok(conditions)
}

fn condition(index: usize, entry: &Value) -> Result<ReportedCondition, ReportError> {
    let at = |field: &str| format!("conditions[{index}].{field}");
    let entry = entry
        .as_object()
        .ok_or_else(|| must_be(&format!("conditions[{index}]"), "an object"))?;
    let text = |field: &str| match entry.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(must_be(&at(field), "a string")),
    };
    let kind = text("type")?.unwrap_or_default();
    if kind.is_empty() {
        return Err(ReportError::new(
            at("type"),
            format!("condition type cannot be empty at index {index}"),
        ));
    }
    let status = match text("status")?.unwrap_or_default().as_str() {
        "True" => ConditionStatus::True,
        "False" => ConditionStatus::False,
        "Unknown" => ConditionStatus::Unknown,
        other => {
            return Err(ReportError::new(
                at("status"),
                format!(
                    "invalid status value '{other}' for condition at index {index} (type: {kind}): must be 'True', 'False', or 'Unknown'"
                ),
            ));
        }
    };
    Ok(ReportedCondition {
        kind,
        status,
        reason: text("reason")?,
        message: text("message")?,
    })
}

fn object(body: &Map<String, Value>, field: &str) -> Result<Option<FreeObject>, ReportError> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object.into())),
        Some(_) => Err(must_be(field, "an object")),
    }
}

/// The first of several spellings that is present and not null.
fn first<'a>(
    body: &'a Map<String, Value>,
    spellings: &[&'static str],
) -> (&'static str, Option<&'a Value>) {
    spellings
        .iter()
        .find_map(|name| {
            body.get(*name)
                .filter(|value| !value.is_null())
                .map(|value| (*name, Some(value)))
        })
        .unwrap_or((spellings[0], None))
}

fn must_be(field: &str, what: &str) -> ReportError {
    ReportError::new(field, format!("field '{field}' must be {what}"))
}
