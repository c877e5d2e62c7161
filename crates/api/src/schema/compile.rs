//! A schema that is ready to be asked.

use hyperfleet_core::problem::FieldError;
use hyperfleet_source::suggest;
use jsonschema::{PatternOptions, Validator, draft202012};
use serde_json::{Map, Value, json};

use super::cost::Visits;
use super::errors;
use super::subschema;

/// Schemas asked while errors are collected; beyond it a spec is refused without saying where.
const MAX_VISITS: u64 = 500_000;

/// Size of a compiled pattern. The engine takes linear time, and this bounds the factor.
const MAX_PATTERN: usize = 256 * 1024;

/// Words of JSON Schema and OpenAPI that this server knows or may ignore.
const KEYWORDS: &str = "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $ref $schema $vocabulary \
    additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType contentSchema \
    default definitions dependentRequired dependentSchemas deprecated description discriminator else enum example \
    examples exclusiveMaximum exclusiveMinimum externalDocs format if items maxContains maxItems maxLength \
    maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not oneOf pattern \
    patternProperties prefixItems properties propertyNames readOnly required then title type unevaluatedItems \
    unevaluatedProperties uniqueItems writeOnly xml";

/// The schema of one kind's specs.
#[derive(Debug)]
pub(crate) struct SpecSchema {
    title: String,
    document: Value,
    validator: Validator,
    visits: Visits,
}

/// Something about a schema, at a JSON pointer into it.
#[derive(Debug, PartialEq)]
pub(super) struct Remark {
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Remark {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Remark {
        Remark {
            pointer: pointer.into(),
            message: message.into(),
            help: None,
        }
    }

    fn at(mut self, pointer: String) -> Remark {
        self.pointer = pointer;
        self
    }
}

impl SpecSchema {
    /// Checks and compiles a schema; `title` is what messages call it. All mistakes are told at once.
    pub(super) fn new(title: String, document: Value) -> Result<SpecSchema, Vec<Remark>> {
        let mistakes = mistakes(&document);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let validator = build(&document).map_err(|error| {
            vec![Remark::new(
                error.instance_path().as_str(),
                error.to_string(),
            )]
        })?;
        Ok(SpecSchema {
            visits: Visits::of(&document),
            title,
            document,
            validator,
        })
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The schema itself: JSON Schema, with everything it refers to.
    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    pub(super) fn check(&self, spec: &Map<String, Value>) -> Result<(), Vec<FieldError>> {
        let spec = Value::Object(spec.clone());
        if self.validator.is_valid(&spec) {
            return Ok(());
        }
        if self.visits.bound(&spec) > MAX_VISITS {
            return Err(vec![errors::somewhere(&self.title)]);
        }
        Err(errors::fields(
            self.validator.iter_errors(&spec),
            &self.document,
        ))
    }
}

fn build(document: &Value) -> Result<Validator, jsonschema::ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN))
        .build(document)
}

fn mistakes(document: &Value) -> Vec<Remark> {
    let mut found = Vec::new();
    // Other drafts have rules of their own; compiling tells their first mistake.
    let foreign = document.get("$schema").and_then(Value::as_str);
    if foreign.is_none_or(|uri| uri.contains("2020-12")) {
        let errors = draft202012::meta::validator();
        found.extend(errors.iter_errors(document).map(|error| from_meta(&error)));
    }
    let schemas = subschema::all(document);
    let has_ids = schemas
        .iter()
        .any(|(_, schema)| schema.get("$id").is_some());
    for (pointer, schema) in &schemas {
        let Value::Object(schema) = schema else {
            continue;
        };
        if let Some(Value::String(target)) = schema.get("$ref") {
            let wrong = reference_mistake(document, target, has_ids);
            found.extend(wrong.map(|remark| remark.at(format!("{pointer}/$ref"))));
        }
        if let Some(Value::String(pattern)) = schema.get("pattern") {
            let wrong = pattern_mistake(pattern);
            found.extend(wrong.map(|remark| remark.at(format!("{pointer}/pattern"))));
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        for pattern in patterns.into_iter().flat_map(Map::keys) {
            let wrong = pattern_mistake(pattern);
            found.extend(wrong.map(|remark| remark.at(format!("{pointer}/patternProperties"))));
        }
    }
    found.truncate(errors::MAX);
    found
}

fn from_meta(error: &jsonschema::ValidationError<'_>) -> Remark {
    let place = error.instance_path().as_str();
    match error.instance().as_str() {
        Some(word) if place.ends_with("/type") => {
            let types = "array boolean integer null number object string".split(' ');
            Remark {
                help: suggest::help(word, types),
                ..Remark::new(place, format!("`{word}` is not a type"))
            }
        }
        _ => Remark::new(place, errors::sentence(error, |_| "this".to_owned())),
    }
}

fn reference_mistake(document: &Value, target: &str, has_ids: bool) -> Option<Remark> {
    match target.strip_prefix('#') {
        None if !has_ids => {
            let message =
                format!("`{target}` is outside this schema; neither files nor URLs are read");
            let help = "put the schema under `$defs` and refer to it as `#/$defs/…`";
            Some(Remark {
                help: Some(help.to_owned()),
                ..Remark::new("", message)
            })
        }
        Some(inside) if inside.is_empty() || inside.starts_with('/') => document
            .pointer(inside)
            .is_none()
            .then(|| Remark::new("", format!("there is no `{target}`"))),
        // Anchors and ids are for the compiler to find.
        _ => None,
    }
}

fn pattern_mistake(pattern: &str) -> Option<Remark> {
    build(&json!({ "pattern": pattern })).err().map(|_| {
        let message = format!("`{pattern}` is not a pattern that can be used");
        let help = "the syntax is that of the Rust crate regex: no look-around, no back references, no huge repetition";
        Remark {
            help: Some(help.to_owned()),
            ..Remark::new("", message)
        }
    })
}

/// Words that JSON Schema does not have. It ignores them, which is hardly what was meant.
pub(super) fn oddities(document: &Value) -> Vec<Remark> {
    let mut found = Vec::new();
    for (pointer, schema) in subschema::all(document) {
        for word in schema.as_object().into_iter().flat_map(Map::keys) {
            if word.starts_with("x-") || KEYWORDS.split_whitespace().any(|known| known == word) {
                continue;
            }
            let place = format!("{pointer}/{}", word.replace('~', "~0").replace('/', "~1"));
            let mut remark = Remark::new(place, format!("`{word}` means nothing in a schema"));
            remark.help = match word.as_str() {
                "nullable" => {
                    Some("write `type: [string, \"null\"]`; `nullable` is OpenAPI 3.0".into())
                }
                _ => suggest::nearest(word, KEYWORDS.split_whitespace())
                    .map(|near| format!("did you mean `{near}`?")),
            };
            found.push(remark);
        }
    }
    found
}
