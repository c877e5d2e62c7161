//! Fields and elements. A plain access to something missing is an error; through an optional it is an absent value.

use super::{Machine, Outcome, at, error, text_len};
use crate::cel::ast::Access;
use crate::cel::error::{ErrorKind, EvalError};
use crate::cel::lexer::shorten;
use crate::cel::plan::Node;
use crate::cel::span::Span;
use crate::cel::value::{Key, Value};

/// What looking into a value came to.
enum Found<'a> {
    Value(Value<'a>),
    Missing,
    /// The value is nothing one can look into that way.
    Wrong,
}

impl<'a> Machine<'a, '_> {
    pub(super) fn select(
        &mut self,
        node: &'a Node,
        operand: &'a Node,
        field: &'a str,
        access: Access,
    ) -> Outcome<'a> {
        let value = self.eval(operand)?;
        // The common case first: a field of an object.
        if let (Value::Map(map), Access::Required) = (&value, access) {
            return match map.field(field) {
                Some(found) => Ok(found),
                None => Err(self.no_such_key(field, operand, node.span)),
            };
        }
        self.select_rest(node, &value, operand, field, access)
    }

    #[inline(never)]
    fn select_rest(
        &self,
        node: &Node,
        value: &Value<'a>,
        operand: &Node,
        field: &'a str,
        access: Access,
    ) -> Outcome<'a> {
        let (inner, optional) = match value {
            Value::Optional(None) => return Ok(Value::none()),
            Value::Optional(Some(inner)) => (&**inner, true),
            other => (other, access == Access::Optional),
        };
        let found = match inner {
            Value::Map(map) => map.field(field).map_or(Found::Missing, Found::Value),
            _ => Found::Wrong,
        };
        match found {
            Found::Value(value) => Ok(if optional { Value::some(value) } else { value }),
            Found::Missing if optional => Ok(Value::none()),
            Found::Missing => Err(self.no_such_key(field, operand, node.span)),
            Found::Wrong => Err(self.no_fields(inner, field, operand, node.span)),
        }
    }

    #[inline(never)]
    pub(super) fn present(&mut self, operand: &'a Node, field: &'a str, span: Span) -> Outcome<'a> {
        let value = self.eval(operand)?;
        let inner = match &value {
            Value::Optional(None) => return Ok(Value::Bool(false)),
            Value::Optional(Some(inner)) => inner,
            other => other,
        };
        match inner {
            Value::Map(map) => Ok(Value::Bool(map.field(field).is_some())),
            other => Err(self.no_fields(other, field, operand, span)),
        }
    }

    #[inline(never)]
    pub(super) fn index(
        &mut self,
        node: &'a Node,
        parts: &'a [Node; 2],
        access: Access,
    ) -> Outcome<'a> {
        let value = self.eval(&parts[0])?;
        let key = self.eval(&parts[1])?;
        self.meter
            .read(text_len(&key))
            .map_err(|e| at(e, node.span))?;
        let (inner, optional) = match &value {
            Value::Optional(None) => return Ok(Value::none()),
            Value::Optional(Some(inner)) => (&**inner, true),
            other => (other, access == Access::Optional),
        };
        match (look_up(inner, &key), optional) {
            (Found::Value(value), true) => Ok(Value::some(value)),
            (Found::Value(value), false) => Ok(value),
            (Found::Missing, true) => Ok(Value::none()),
            (Found::Missing, false) => Err(self.missing_element(inner, &key, &parts[0], node.span)),
            (Found::Wrong, _) => Err(error(
                ErrorKind::NoSuchOverload,
                node.span,
                format!(
                    "{} cannot be indexed by {}, in `{}`",
                    inner.type_of(),
                    key.type_of(),
                    self.text(node.span)
                ),
            )),
        }
    }

    #[cold]
    fn no_such_key(&self, field: &str, operand: &Node, span: Span) -> Box<EvalError> {
        let message = format!("no such key: `{field}` in `{}`", self.text(operand.span));
        error(ErrorKind::NoSuchKey, span, message)
    }

    #[cold]
    fn no_fields(
        &self,
        value: &Value<'_>,
        field: &str,
        operand: &Node,
        span: Span,
    ) -> Box<EvalError> {
        let message = format!(
            "no field `{field}`: `{}` is {}, not a map",
            self.text(operand.span),
            value.type_of()
        );
        error(ErrorKind::NoSuchOverload, span, message)
    }

    #[cold]
    fn missing_element(
        &self,
        inner: &Value<'_>,
        key: &Value<'_>,
        operand: &Node,
        span: Span,
    ) -> Box<EvalError> {
        let place = self.text(operand.span);
        let shown = match key {
            Value::String(s) => shorten(s.as_str()),
            other => other.to_json().to_string(),
        };
        match inner {
            Value::List(list) => error(
                ErrorKind::IndexOutOfRange,
                span,
                format!(
                    "index {shown} is out of range: `{place}` has {} elements",
                    list.len()
                ),
            ),
            _ => error(
                ErrorKind::NoSuchKey,
                span,
                format!("no such key: `{shown}` in `{place}`"),
            ),
        }
    }
}

fn look_up<'a>(value: &Value<'a>, key: &Value<'a>) -> Found<'a> {
    match (value, key) {
        (Value::Map(map), _) => match Key::lookup(key) {
            Some(key) => map.get(&key).map_or(Found::Missing, Found::Value),
            None if matches!(key, Value::Double(_)) => Found::Missing,
            None => Found::Wrong,
        },
        (Value::List(list), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            let at = match Key::lookup(key) {
                Some(Key::Int(n)) => usize::try_from(n).ok(),
                Some(Key::Uint(n)) => usize::try_from(n).ok(),
                _ => return Found::Wrong,
            };
            at.and_then(|n| list.get(n))
                .map_or(Found::Missing, Found::Value)
        }
        _ => Found::Wrong,
    }
}
