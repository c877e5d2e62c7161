//! Structured JSON → event, taking everything a Go consumer takes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use super::{Event, EventError, JSON_CONTENT_TYPE, MAX_ACCEPTED_BYTES};

impl Event {
    /// Reads the body of a message.
    ///
    /// Only `specversion` is required. A missing `id`, `source` or `type` stays empty, an unknown
    /// attribute becomes an extension, and an attribute that is `null` counts as absent.
    pub fn decode(body: &[u8]) -> Result<Self, EventError> {
        if body.is_empty() {
            return Err(EventError::NoBody);
        }
        if body.len() > MAX_ACCEPTED_BYTES {
            return Err(EventError::TooLarge {
                size: body.len(),
                limit: MAX_ACCEPTED_BYTES,
            });
        }
        let value: Value =
            serde_json::from_slice(body).map_err(|e| EventError::NotJson(e.to_string()))?;
        let mut attributes = match value {
            Value::Object(map) => map,
            other => return Err(EventError::NotAnObject(json_type(&other))),
        };
        check_specversion(take(&mut attributes, "specversion")?)?;
        let datacontenttype = take(&mut attributes, "datacontenttype")?
            .unwrap_or_else(|| JSON_CONTENT_TYPE.to_owned());
        let time = take(&mut attributes, "time")?.map(parse_time).transpose()?;
        Ok(Self {
            id: take(&mut attributes, "id")?.unwrap_or_default(),
            source: take(&mut attributes, "source")?.unwrap_or_default(),
            ty: take(&mut attributes, "type")?.unwrap_or_default(),
            time,
            subject: take(&mut attributes, "subject")?,
            dataschema: take(&mut attributes, "dataschema")?,
            data: payload(&mut attributes, &datacontenttype)?,
            datacontenttype,
            extensions: attributes
                .into_iter()
                .filter_map(|(name, value)| Some((name, extension(value)?)))
                .collect(),
        })
    }
}

fn check_specversion(version: Option<String>) -> Result<(), EventError> {
    match version.as_deref() {
        Some("1.0") => Ok(()),
        Some(other) => Err(EventError::SpecVersion(other.to_owned())),
        None => Err(EventError::NoSpecVersion),
    }
}

fn take(
    attributes: &mut Map<String, Value>,
    name: &'static str,
) -> Result<Option<String>, EventError> {
    match attributes.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(EventError::NotAString {
            name,
            found: json_type(&other),
        }),
    }
}

fn parse_time(text: String) -> Result<DateTime<Utc>, EventError> {
    match DateTime::parse_from_rfc3339(&text) {
        Ok(time) => Ok(time.with_timezone(&Utc)),
        Err(_) => Err(EventError::Time(text)),
    }
}

fn payload(attributes: &mut Map<String, Value>, content_type: &str) -> Result<Value, EventError> {
    let data = attributes.remove("data").filter(|data| !data.is_null());
    let binary = take(attributes, "data_base64")?;
    match (data, binary) {
        (Some(_), Some(_)) => Err(EventError::TwoPayloads),
        (data, None) => Ok(data.unwrap_or(Value::Null)),
        (None, Some(binary)) => {
            decode_binary(&binary, content_type).map_err(|problem| EventError::Base64 {
                content_type: content_type.to_owned(),
                problem,
            })
        }
    }
}

fn decode_binary(binary: &str, content_type: &str) -> Result<Value, String> {
    let bytes = STANDARD.decode(binary).map_err(|e| e.to_string())?;
    if is_json(content_type) {
        return serde_json::from_slice(&bytes).map_err(|e| e.to_string());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::String(text)),
        Err(_) => Err("the content is neither JSON nor UTF-8 text".to_owned()),
    }
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case(JSON_CONTENT_TYPE)
        || media_type.eq_ignore_ascii_case("text/json")
        || media_type.to_ascii_lowercase().ends_with("+json")
}

/// Extensions are typed in the specification, but every type has one text form.
fn extension(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
