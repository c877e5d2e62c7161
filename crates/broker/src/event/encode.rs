//! Event → structured JSON, attributes in the order the CloudEvents SDKs write them.

use chrono::SecondsFormat;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::{CORE_ATTRIBUTES, Event, EventError, MAX_SENT_BYTES};

impl Event {
    /// The event as the body of a message, after checking that every peer will accept it.
    pub fn encode(&self) -> Result<Vec<u8>, EventError> {
        for (name, value) in [
            ("id", &self.id),
            ("source", &self.source),
            ("type", &self.ty),
        ] {
            if value.is_empty() {
                return Err(EventError::Empty(name));
            }
        }
        if let Some(name) = self.extensions.keys().find(|name| !is_extension_name(name)) {
            return Err(EventError::ExtensionName(name.clone()));
        }
        let body = serde_json::to_vec(&Structured(self))
            .map_err(|e| EventError::NotJson(e.to_string()))?;
        if body.len() > MAX_SENT_BYTES {
            return Err(EventError::TooLarge {
                size: body.len(),
                limit: MAX_SENT_BYTES,
            });
        }
        Ok(body)
    }
}

fn is_extension_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && !CORE_ATTRIBUTES.contains(&name)
}

struct Structured<'a>(&'a Event);

impl Serialize for Structured<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("specversion", "1.0")?;
        map.serialize_entry("id", &event.id)?;
        map.serialize_entry("source", &event.source)?;
        map.serialize_entry("type", &event.ty)?;
        if let Some(subject) = &event.subject {
            map.serialize_entry("subject", subject)?;
        }
        if !event.datacontenttype.is_empty() {
            map.serialize_entry("datacontenttype", &event.datacontenttype)?;
        }
        if let Some(dataschema) = &event.dataschema {
            map.serialize_entry("dataschema", dataschema)?;
        }
        if let Some(time) = event.time {
            let time = time.to_rfc3339_opts(SecondsFormat::AutoSi, true);
            map.serialize_entry("time", &time)?;
        }
        if event.data != Value::Null {
            map.serialize_entry("data", &event.data)?;
        }
        for (name, value) in &event.extensions {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
