//! `message_data`: what an event says about its resource.

use hyperfleet_core::time::Time;
use hyperfleet_expr::cel::{Bindings, Environment, Problems, Program, Type, Value as Cel};
use serde_json::{Map, Value, json};

use crate::decision::environment;
use crate::projection::Projection;

/// A compiled `message_data`.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Nothing was configured: what adapters of every version look for.
    Default {
        resource_type: String,
    },
    Fields(Vec<(String, Field)>),
}

#[derive(Debug)]
pub(crate) enum Field {
    /// `.status.phase`.
    Path(Vec<String>),
    Expression(Program),
    Literal(Value),
    Nested(Vec<(String, Field)>),
}

/// What is wrong with `message_data`, found when it is loaded.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    #[error("{key} is empty; write an expression such as resource.id, or a path such as .id")]
    Empty { key: String },
    #[error("{key} is a list; only texts, numbers, booleans and nested mappings can be sent")]
    List { key: String },
    #[error("{key}: `{path}` is not a path; write names separated by dots, such as .status.phase")]
    Path { key: String, path: String },
    #[error("{key}: {problems}")]
    Expression { key: String, problems: Problems },
}

impl Payload {
    /// `None` means the default data.
    pub(crate) fn compile(
        data: Option<&Map<String, Value>>,
        resource_type: &str,
    ) -> Result<Payload, PayloadError> {
        let Some(data) = data else {
            return Ok(Payload::Default {
                resource_type: resource_type.to_owned(),
            });
        };
        let environment = environment().with_variables([("reason", Type::String)]);
        fields(&environment, "message_data", data).map(Payload::Fields)
    }

    /// What of a resource must be kept to fill this in later.
    pub(crate) fn projection(&self) -> Projection {
        match self {
            Payload::Default { .. } => Projection::Paths(
                ["href", "generation", "owner_references"]
                    .map(|name| vec![name.to_owned()])
                    .to_vec(),
            ),
            Payload::Fields(fields) => {
                let mut paths = Vec::new();
                if collect_paths(fields, &mut paths) {
                    Projection::Paths(paths)
                } else {
                    Projection::All
                }
            }
        }
    }

    /// The `data` of an event. What cannot be filled in is left out.
    pub(crate) fn build(&self, resource: &Value, reason: &str, now: Time) -> Value {
        match self {
            Payload::Default { resource_type } => default_data(resource, resource_type, reason),
            Payload::Fields(fields) => {
                let reason = Value::from(reason);
                let bindings = Bindings::new(now)
                    .bind("resource", resource)
                    .bind("reason", &reason)
                    .bind_value("now", Cel::Timestamp(now));
                Value::Object(fill(fields, resource, &bindings))
            }
        }
    }
}

fn default_data(resource: &Value, resource_type: &str, reason: &str) -> Value {
    let mut data = json!({
        "id": resource["id"],
        "kind": resource["kind"],
        "href": resource["href"].as_str().unwrap_or_default(),
        "generation": resource["generation"],
        "resource_type": resource_type,
        "resource_id": resource["id"],
        "reason": reason,
    });
    if let Some(owner) = resource
        .get("owner_references")
        .filter(|owner| !owner.is_null())
    {
        data["owner_references"] = owner.clone();
    }
    data
}

fn fields(
    environment: &Environment,
    prefix: &str,
    data: &Map<String, Value>,
) -> Result<Vec<(String, Field)>, PayloadError> {
    data.iter()
        .map(|(name, value)| {
            let key = format!("{prefix}.{name}");
            Ok((name.clone(), field(environment, key, value)?))
        })
        .collect()
}

fn field(environment: &Environment, key: String, value: &Value) -> Result<Field, PayloadError> {
    match value {
        Value::Null => Err(PayloadError::Empty { key }),
        Value::Array(_) => Err(PayloadError::List { key }),
        Value::Bool(_) | Value::Number(_) => Ok(Field::Literal(value.clone())),
        Value::Object(nested) => fields(environment, &key, nested).map(Field::Nested),
        Value::String(text) => match text.trim() {
            "" => Err(PayloadError::Empty { key }),
            path if path.starts_with('.') => match parse_path(&path[1..]) {
                Some(path) => Ok(Field::Path(path)),
                None => Err(PayloadError::Path {
                    key,
                    path: path.to_owned(),
                }),
            },
            source => environment
                .compile(source)
                .map(Field::Expression)
                .map_err(|problems| PayloadError::Expression { key, problems }),
        },
    }
}

fn parse_path(path: &str) -> Option<Vec<String>> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let names: Vec<&str> = path.split('.').collect();
    names
        .iter()
        .all(|name| is_name(name))
        .then(|| names.into_iter().map(str::to_owned).collect())
}

/// The documents of the first year put labels and name below `metadata`; they have moved up since.
fn below_metadata(path: &[String]) -> Option<&[String]> {
    match path.split_first() {
        Some((first, rest)) if first == "metadata" && !rest.is_empty() => Some(rest),
        _ => None,
    }
}

/// Whether paths are all there is.
fn collect_paths(fields: &[(String, Field)], paths: &mut Vec<Vec<String>>) -> bool {
    fields.iter().all(|(_, field)| match field {
        Field::Path(path) => {
            paths.extend(below_metadata(path).map(<[String]>::to_vec));
            paths.push(path.clone());
            true
        }
        Field::Literal(_) => true,
        Field::Nested(fields) => collect_paths(fields, paths),
        Field::Expression(_) => false,
    })
}

fn fill<'a>(
    fields: &'a [(String, Field)],
    resource: &Value,
    bindings: &Bindings<'a>,
) -> Map<String, Value> {
    let mut filled = Map::new();
    for (name, field) in fields {
        let value = match field {
            Field::Literal(value) => Some(value.clone()),
            Field::Path(path) => look_up(resource, path)
                .or_else(|| look_up(resource, below_metadata(path)?))
                .cloned(),
            Field::Expression(program) => match program.evaluate_json(bindings) {
                Ok(Value::Null) => None,
                Ok(value) => Some(value),
                Err(error) => {
                    tracing::debug!(
                        key = name,
                        error = error.message,
                        "message_data: left out of the event"
                    );
                    None
                }
            },
            Field::Nested(fields) => {
                let inner = fill(fields, resource, bindings);
                (!inner.is_empty()).then_some(Value::Object(inner))
            }
        };
        if let Some(value) = value {
            filled.insert(name.clone(), value);
        }
    }
    filled
}

fn look_up<'v>(resource: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter()
        .try_fold(resource, |value, name| value.get(name))
        .filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests;
