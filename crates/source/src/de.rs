//! Nodes into typed values, through serde, with errors that know the place.
//!
//! Two kindnesses beyond serde's own rules: a key without a value (`server:`) is an empty mapping
//! or list where one is expected, and a number or boolean where text is expected is taken as it
//! was written, so `version: 1.10` is `"1.10"`.

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor, value::BorrowedStrDeserializer,
};
use serde::forward_to_deserialize_any;

use crate::{Diagnostics, Key, Node, Value};

mod error;

pub use error::Error;

impl Node {
    /// This tree as a `T`.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, Diagnostics> {
        T::deserialize(self).map_err(|error| error.into_diagnostic(self).into())
    }

    /// The text of a scalar; numbers and booleans as they were written.
    fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text, _) => Some(text),
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) => {
                Some(self.source_text())
            }
            _ => None,
        }
    }

    fn visit_any<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i64(*value),
            Value::UInt(value) => visitor.visit_u64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(text, _) => visitor.visit_borrowed_str(text),
            Value::Sequence(items) => visit_items(items, visitor),
            Value::Mapping(entries) => visitor.visit_map(Entries {
                rest: entries.iter(),
                pending: None,
            }),
        }
    }
}

/// Fails if the visitor leaves items behind, as a tuple that is too short does.
fn visit_items<'de, V: Visitor<'de>>(items: &'de [Node], visitor: V) -> Result<V::Value, Error> {
    let mut access = Items(items.iter());
    let value = visitor.visit_seq(&mut access)?;
    match access.0.next() {
        None => Ok(value),
        Some(extra) => Err(Error::custom("this item is one too many").at_node(extra)),
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit_any(visitor).map_err(|error| error.at_node(self))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.visit_any(visitor),
        }
        .map_err(|error| error.at_node(self))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
        .map_err(|error| error.at_node(self))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor
            .visit_newtype_struct(self)
            .map_err(|error| error.at_node(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visit_items(&[], visitor).map_err(|error| error.at_node(self)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor
                .visit_map(Entries {
                    rest: [].iter(),
                    pending: None,
                })
                .map_err(|error| error.at_node(self)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            // serde would fill a struct from a list, field by field.
            Value::Mapping(_) | Value::Null => self.deserialize_map(visitor),
            _ => Err(Error::invalid_type(self.unexpected(), &"a mapping").at_node(self)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match (&self.value, self.text()) {
            (_, Some(text)) => visitor.visit_enum(text.into_deserializer()),
            (Value::Mapping(entries), _) if entries.len() == 1 => {
                visitor.visit_enum(Variant(&entries[0]))
            }
            (Value::Mapping(_), _) => Err(Error::custom("expected exactly one key here")),
            _ => Err(Error::invalid_type(self.unexpected(), &"a name")),
        }
        .map_err(|error| error.at_node(self))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct tuple tuple_struct identifier
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for &mut Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.0
            .next()
            .map(|item| seed.deserialize(item).map_err(|error| error.at_node(item)))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, (Key, Node)>,
    pending: Option<&'de (Key, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.pending = self.rest.next();
        self.pending
            .map(|(key, _)| {
                seed.deserialize(BorrowedStrDeserializer::new(&key.text))
                    .map_err(|error: Error| error.at_key(key))
            })
            .transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some((key, node)) = self.pending.take() else {
            return Err(Error::custom("a value was asked for before its key"));
        };
        seed.deserialize(node).map_err(|error| error.at_key(key))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// An enum variant written as `name: content`.
struct Variant<'de>(&'de (Key, Node));

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = &'de Node;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, &'de Node), Error> {
        let (key, node) = self.0;
        let variant = seed
            .deserialize(BorrowedStrDeserializer::new(&key.text))
            .map_err(|error: Error| error.at_key(key))?;
        Ok((variant, node))
    }
}

impl<'de> VariantAccess<'de> for &'de Node {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.value {
            Value::Null => Ok(()),
            _ => Err(Error::custom("this takes no value").at_node(self)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self).map_err(|error| error.at_node(self))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests;
