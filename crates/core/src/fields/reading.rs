//! Reading the wanted part of a document without building the rest: of a fleet's bytes most are unwanted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Selection;

/// The wanted part; `None` where members are wanted of something that has none.
pub(super) fn part(json: &str, selection: &Selection) -> Result<Option<Value>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let part = selection.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(part)
}

impl<'de> DeserializeSeed<'de> for &Selection {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<Value>, D::Error> {
        match self {
            Selection::Whole => Value::deserialize(from).map(Some),
            Selection::Members(members) => from.deserialize_any(Members { members, of: self }),
        }
    }
}

struct Members<'a> {
    members: &'a BTreeMap<String, Selection>,
    /// What holds them, for the items of a list.
    of: &'a Selection,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Value>, A::Error> {
        let mut chosen = Map::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match self.members.get(name.as_ref()) {
                Some(selection) => {
                    if let Some(value) = map.next_value_seed(selection)? {
                        chosen.insert(name.into_owned(), value);
                    }
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(Value::Object(chosen)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Option<Value>, A::Error> {
        let mut chosen = Vec::new();
        while let Some(item) = items.next_element_seed(self.of)? {
            chosen.extend(item);
        }
        Ok(Some(Value::Array(chosen)))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }
}
