//! What does not fit a schema, as the caller is told.

use std::fmt::Write;

use hyperfleet_core::problem::FieldError;
use hyperfleet_source::suggest;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

/// Errors told about one spec.
pub(super) const MAX: usize = 100;

/// Characters of a value of the schema, such as a pattern or the allowed words.
const MAX_SHOWN: usize = 200;

/// All errors, in the order in which they were found; `document` is the schema.
pub(super) fn fields<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    document: &Value,
) -> Vec<FieldError> {
    let mut found: Vec<FieldError> = Vec::new();
    let mut more = 0;
    for error in errors.flat_map(|error| told(&error, document)) {
        if found.contains(&error) {
            continue;
        }
        if found.len() < MAX {
            found.push(error);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        found.push(error(
            "spec".to_owned(),
            format!("spec has {more} more errors"),
            None,
        ));
    }
    found
}

/// The one error of a spec whose errors would take too long to collect.
pub(super) fn somewhere(title: &str) -> FieldError {
    let message = format!("spec does not fit {title}; it is too large and too deep to say where");
    error("spec".to_owned(), message, None)
}

fn error(field: String, message: String, constraint: Option<&str>) -> FieldError {
    FieldError {
        field,
        message,
        value: None,
        constraint: constraint.map(str::to_owned),
    }
}

fn told(failed: &ValidationError<'_>, document: &Value) -> Vec<FieldError> {
    let place = in_spec(failed.instance_path());
    match failed.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = siblings(failed.schema_path(), document);
            let tell = |name: &String| {
                let field = format!("{place}.{name}");
                let mut message = format!("{field} is not known");
                if let Some(near) = suggest::nearest(name, known.iter().copied()) {
                    let _ = write!(message, "; did you mean {place}.{near}?");
                }
                error(field, message, None)
            };
            unexpected.iter().map(tell).collect()
        }
        Kind::Required { property } => {
            let field = format!("{place}.{}", property.as_str().unwrap_or_default());
            let message = format!("{field} is required");
            vec![error(field, message, Some("required"))]
        }
        kind => vec![error(place, sentence(failed, in_spec), constraint(kind))],
    }
}

/// How messages call the place of a value.
pub(super) type Name = fn(&Location) -> String;

/// `spec.pools[0].name`.
fn in_spec(path: &Location) -> String {
    let mut place = "spec".to_owned();
    for step in path {
        let _ = match step {
            LocationSegment::Property(name) => write!(place, ".{name}"),
            LocationSegment::Index(index) => write!(place, "[{index}]"),
        };
    }
    place
}

/// The properties known where a keyword stands.
fn siblings<'d>(keyword: &Location, document: &'d Value) -> Vec<&'d str> {
    let above = keyword
        .as_str()
        .rsplit_once('/')
        .map_or("", |(above, _)| above);
    let properties = document
        .pointer(above)
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect()
}

fn constraint(kind: &Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Minimum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::MinItems { .. }
        | Kind::MinProperties { .. } => "min",
        Kind::Maximum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::MaxItems { .. }
        | Kind::AdditionalItems { .. }
        | Kind::MaxProperties { .. } => "max",
        Kind::MinLength { .. } => "min_length",
        Kind::MaxLength { .. } => "max_length",
        Kind::Pattern { .. } => "pattern",
        Kind::Enum { .. } | Kind::Constant { .. } => "enum",
        Kind::Format { .. } => "format",
        Kind::UniqueItems => "unique",
        Kind::Required { .. } => "required",
        _ => return None,
    })
}

/// What is wrong, as a sentence. Values of the caller are not repeated: they may be secrets, and large.
pub(super) fn sentence(failed: &ValidationError<'_>, name: Name) -> String {
    let said = match failed.kind() {
        Kind::Type { kind } => format!("must be {}", type_names(kind)),
        Kind::Enum { options } => format!("must be one of {}", words(options)),
        Kind::Constant { expected_value } => format!("must be {}", shown(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must be at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must be at most {limit} characters"),
        Kind::Pattern { pattern } => format!("must match the pattern {}", cut(pattern)),
        Kind::Format { format } => format!("must be a valid {}", cut(format)),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} keys"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} keys"),
        Kind::UniqueItems => "must not have the same item twice".to_owned(),
        Kind::Contains => "has no item of the kind that must be among them".to_owned(),
        Kind::Required { property } => format!("needs {}", shown(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("must not have {}", cut(&unexpected.join(", ")))
        }
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::Not { .. } => "is of a form that is not allowed".to_owned(),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the allowed forms".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => none_of(context, name),
        Kind::PropertyNames { error } => {
            format!(
                "has a key that is not allowed: {}",
                sentence(error, |_| "it".to_owned())
            )
        }
        _ => return cut(&failed.masked().to_string()),
    };
    format!("{} {said}", name(failed.instance_path()))
}

/// One reason for each alternative.
fn none_of(context: &[Vec<ValidationError<'static>>], name: Name) -> String {
    let reasons: Vec<String> = context
        .iter()
        .filter_map(|errors| errors.first())
        .map(|error| sentence(error, name))
        .collect();
    let reasons = cut(&reasons.join("; or "));
    format!("fits none of the allowed forms: {reasons}")
}

fn type_names(kind: &TypeKind) -> String {
    let name = |kind: JsonType| match kind {
        JsonType::Array => "a list",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(kind) => name(*kind).to_owned(),
        TypeKind::Multiple(kinds) => {
            let names: Vec<&str> = kinds.iter().map(name).collect();
            names.join(" or ")
        }
    }
}

fn words(options: &Value) -> String {
    match options {
        Value::Array(options) => {
            let words: Vec<String> = options.iter().map(shown).collect();
            cut(&words.join(", "))
        }
        only => shown(only),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
