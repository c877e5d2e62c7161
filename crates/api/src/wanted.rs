//! What a caller wants, as given in a body: the checks that creating and changing share.

use std::collections::BTreeMap;

use hyperfleet_core::label;
use hyperfleet_core::problem::{Code, FieldError};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The spec, which must be an object.
pub(crate) fn spec(value: &Value) -> Result<Map<String, Value>, Failure> {
    match value {
        Value::Object(spec) => Ok(spec.clone()),
        _ => Err(Failure::invalid(
            "spec",
            None,
            "spec field must be an object",
        )),
    }
}

/// The labels; every mistake is told at once.
pub(crate) fn labels(value: &Value) -> Result<BTreeMap<String, String>, Failure> {
    let Value::Object(given) = value else {
        return Err(Failure::invalid(
            "labels",
            None,
            "field 'labels' must be an object",
        ));
    };
    let mut labels = BTreeMap::new();
    let mut errors = Vec::new();
    for (key, value) in given {
        let Value::String(value) = value else {
            return Err(Failure::invalid(
                &format!("labels.{key}"),
                None,
                format!("field 'labels.{key}' must be a string"),
            ));
        };
        let mistakes = [
            (label::key_error(key), key),
            (label::value_error(value), value),
        ];
        for (message, text) in mistakes {
            if let Some(message) = message {
                errors.push(FieldError {
                    field: format!("labels.{key}"),
                    message,
                    value: Some(text.as_str().into()),
                    constraint: Some("pattern".to_owned()),
                });
            }
        }
        labels.insert(key.clone(), value.clone());
    }
    if errors.is_empty() {
        Ok(labels)
    } else {
        Err(Failure::new(Code::Validation, "label validation failed").with_errors(errors))
    }
}
