//! JSON objects of others, which are stored and passed on and hardly ever looked into.

use std::sync::OnceLock;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// A JSON object with any members, kept as text: a tenth of the room of a map, and free to write out again.
#[derive(Debug, Clone)]
pub struct FreeObject {
    text: Box<RawValue>,
    /// For whoever looked into it.
    members: OnceLock<Box<Map<String, Value>>>,
}

impl FreeObject {
    pub fn members(&self) -> &Map<String, Value> {
        // Text that is an object can be read, but for numbers that no computer's float can hold: then nothing is in it.
        let read = || Box::new(serde_json::from_str(self.text()).unwrap_or_default());
        self.members.get_or_init(read)
    }

    /// As JSON.
    pub fn text(&self) -> &str {
        self.text.get()
    }

    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        self.text().len() + self.members.get().map_or(0, |members| size(members))
    }
}

/// About how many bytes of memory the members of an object take.
pub fn size(members: &Map<String, Value>) -> usize {
    /// A node of the tree that a map is, with room for eleven members.
    const NODE: usize = 640;
    let nodes = NODE * members.len().div_ceil(8);
    let each = members
        .iter()
        .map(|(key, value)| key.len() + value_size(value));
    nodes + each.sum::<usize>()
}

fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => {
            let each = values
                .iter()
                .map(|value| size_of::<Value>() + value_size(value));
            each.sum()
        }
        Value::Object(members) => size(members),
    }
}

impl From<&Map<String, Value>> for FreeObject {
    fn from(members: &Map<String, Value>) -> Self {
        FreeObject {
            // Keys are strings and values are JSON: nothing can fail.
            text: to_raw_value(members).unwrap_or_default(),
            members: OnceLock::new(),
        }
    }
}

impl Default for FreeObject {
    fn default() -> Self {
        FreeObject::from(&Map::new())
    }
}

/// By what they hold: blanks and the order of members say nothing.
impl PartialEq for FreeObject {
    fn eq(&self, other: &FreeObject) -> bool {
        self.text() == other.text() || self.members() == other.members()
    }
}

impl Serialize for FreeObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FreeObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        if !text.get().starts_with('{') {
            let found = Unexpected::Other("JSON that is no object");
            return Err(D::Error::invalid_type(found, &"an object"));
        }
        Ok(FreeObject {
            text,
            members: OnceLock::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<FreeObject, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_it_holds_makes_it_equal() {
        let one = read(r#"{"b": [1, 2], "a": {"x": null}}"#).unwrap();
        assert_eq!(one, read(r#"{"a":{"x":null},"b":[1,2]}"#).unwrap());
        assert_ne!(one, read(r#"{"a":{"x":null},"b":[2,1]}"#).unwrap());
        assert_ne!(one, FreeObject::default());
    }

    #[test]
    fn it_is_written_as_it_was_read() {
        let text = r#"{"b": [1.50, 2], "a": "\u00e9"}"#;
        assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        assert_eq!(serde_json::to_string(&FreeObject::default()).unwrap(), "{}");
    }

    #[test]
    fn its_members_can_be_looked_at() {
        let written = json!({"zone": "z1", "n": 3});
        let object = FreeObject::from(written.as_object().unwrap());
        assert_eq!(object.members(), written.as_object().unwrap());
        let from_value: FreeObject = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(from_value, object);
    }

    #[test]
    fn nothing_else_is_an_object() {
        for text in ["5", "[]", "null", "\"{}\"", "{", "{\"a\"}"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read("[1]").unwrap_err().contains("an object"));
    }
}
