//! List and map literals.

use std::collections::BTreeMap;

use super::{Machine, Outcome, at, error, text_len};
use crate::cel::ast::Access;
use crate::cel::error::{ErrorKind, EvalError};
use crate::cel::plan::Node;
use crate::cel::span::Span;
use crate::cel::value::{Key, Map, Value};

impl<'a> Machine<'a, '_> {
    #[inline(never)]
    pub(super) fn list(&mut self, items: &'a [(Node, Access)]) -> Outcome<'a> {
        let mut list = Vec::with_capacity(items.len());
        for (item, access) in items {
            let value = self.eval(item)?;
            if let Some(value) = self.given(value, *access, item.span)? {
                list.push(value);
            }
        }
        Ok(Value::list(list))
    }

    #[inline(never)]
    pub(super) fn map(&mut self, entries: &'a [(Node, Node, Access)]) -> Outcome<'a> {
        let mut map = BTreeMap::new();
        for (key, value, access) in entries {
            let name = self.eval(key)?;
            self.meter
                .read(text_len(&name))
                .map_err(|e| at(e, key.span))?;
            let value_at = value.span;
            let value = self.eval(value)?;
            if let Some(value) = self.given(value, *access, value_at)? {
                insert(&mut map, &name, value).map_err(|e| at(e, key.span))?;
            }
        }
        Ok(Value::Map(Map::built(map)))
    }

    /// Unwraps the value of a `?` entry; `None` leaves the entry out.
    fn given(
        &self,
        value: Value<'a>,
        access: Access,
        span: Span,
    ) -> Result<Option<Value<'a>>, Box<EvalError>> {
        match (access, value) {
            (Access::Required, value) => Ok(Some(value)),
            (Access::Optional, Value::Optional(inner)) => Ok(inner.map(|v| (*v).clone())),
            (Access::Optional, other) => Err(error(
                ErrorKind::NoSuchOverload,
                span,
                format!(
                    "a `?` entry needs an optional value, `{}` is {}",
                    self.text(span),
                    other.type_of()
                ),
            )),
        }
    }
}

/// Adds an entry; a key that cannot be one, or is already there, is an error.
pub(crate) fn insert<'a>(
    map: &mut BTreeMap<Key<'a>, Value<'a>>,
    key: &Value<'a>,
    value: Value<'a>,
) -> Result<(), Box<EvalError>> {
    let Some(name) = Key::literal(key) else {
        let message = format!("{} cannot be a map key", key.type_of());
        return Err(Box::new(EvalError::new(ErrorKind::NoSuchOverload, message)));
    };
    match map.entry(name) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(value);
            Ok(())
        }
        std::collections::btree_map::Entry::Occupied(entry) => {
            let message = format!("the map has the key `{}` twice", entry.key());
            Err(Box::new(EvalError::new(
                ErrorKind::InvalidArgument,
                message,
            )))
        }
    }
}
