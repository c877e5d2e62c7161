//! Loops: the macros over lists and maps, `optMap`, and sorting by a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::insert;
use super::{Machine, Outcome, at, error, text_len};
use crate::cel::error::{ErrorKind, EvalError, Fault};
use crate::cel::library;
use crate::cel::plan::{Alternative, Comprehension, Fold, Node, OptionalMap};
use crate::cel::span::Span;
use crate::cel::value::{List, Map, Value};

/// What a loop has gathered so far.
enum Gathered<'a> {
    /// For `all` and `exists`: the first error, absorbed if a later element decides.
    Verdict(Option<Box<EvalError>>),
    Count(usize),
    List(Vec<Value<'a>>),
    Pairs(Vec<(Value<'a>, Value<'a>)>),
    Map(BTreeMap<crate::cel::value::Key<'a>, Value<'a>>),
}

impl<'a> Machine<'a, '_> {
    #[inline(never)]
    pub(super) fn comprehension(&mut self, c: &'a Comprehension, span: Span) -> Outcome<'a> {
        let range = self.eval(&c.range)?;
        let mut gathered = match c.fold {
            Fold::All | Fold::Exists => Gathered::Verdict(None),
            Fold::ExistsOne => Gathered::Count(0),
            Fold::Filter | Fold::List => Gathered::List(Vec::new()),
            Fold::SortBy => Gathered::Pairs(Vec::new()),
            Fold::Map | Fold::MapEntry => Gathered::Map(BTreeMap::new()),
        };
        let decided = match &range {
            Value::List(list) => self.over_list(c, list, &mut gathered)?,
            Value::Map(map) => self.over_map(c, map, &mut gathered)?,
            other => {
                let message = format!(
                    "`{}` is {}, not a list or map",
                    self.text(c.range.span),
                    other.type_of()
                );
                return Err(error(ErrorKind::NoSuchOverload, c.range.span, message));
            }
        };
        if let Some(value) = decided {
            return Ok(value);
        }
        match gathered {
            Gathered::Verdict(Some(failure)) => Err(failure),
            Gathered::Verdict(None) => Ok(Value::Bool(c.fold == Fold::All)),
            Gathered::Count(n) => Ok(Value::Bool(n == 1)),
            Gathered::List(list) => Ok(Value::list(list)),
            Gathered::Map(map) => Ok(Value::Map(Map::built(map))),
            Gathered::Pairs(pairs) => {
                let sorted = library::sort_pairs(&mut self.meter, pairs);
                sorted.map_err(|fault| {
                    self.fault(fault, span, "sortBy", std::slice::from_ref(&range))
                })
            }
        }
    }

    fn over_list(
        &mut self,
        c: &'a Comprehension,
        list: &List<'a>,
        gathered: &mut Gathered<'a>,
    ) -> Result<Option<Value<'a>>, Box<EvalError>> {
        for (i, item) in list.iter().enumerate() {
            let (first, second) = match c.second {
                Some(_) => (Value::Int(i as i64), Some(item)),
                None => (item, None),
            };
            if let Some(decided) = self.turn(c, first, second, gathered)? {
                return Ok(Some(decided));
            }
        }
        Ok(None)
    }

    fn over_map(
        &mut self,
        c: &'a Comprehension,
        map: &Map<'a>,
        gathered: &mut Gathered<'a>,
    ) -> Result<Option<Value<'a>>, Box<EvalError>> {
        for (key, item) in map.iter() {
            let second = c.second.map(|_| item);
            if let Some(decided) = self.turn(c, key.value(), second, gathered)? {
                return Ok(Some(decided));
            }
        }
        Ok(None)
    }

    /// One element; `Some` ends the loop.
    fn turn(
        &mut self,
        c: &'a Comprehension,
        first: Value<'a>,
        second: Option<Value<'a>>,
        gathered: &mut Gathered<'a>,
    ) -> Result<Option<Value<'a>>, Box<EvalError>> {
        self.meter.charge(1).map_err(|e| at(e, c.range.span))?;
        self.locals[c.slot as usize] = first.clone();
        if let (Some(slot), Some(value)) = (c.second, second) {
            self.locals[slot as usize] = value;
        }
        if let Some(filter) = &c.filter
            && !self.holds(filter)?
        {
            return Ok(None);
        }
        match gathered {
            Gathered::Verdict(failure) => return self.verdict(c, failure),
            Gathered::Count(n) => *n += usize::from(self.holds(&c.body)?),
            Gathered::List(list) if c.fold == Fold::Filter => {
                if self.holds(&c.body)? {
                    list.push(first);
                }
            }
            Gathered::List(list) => list.push(self.eval(&c.body)?),
            Gathered::Pairs(pairs) => pairs.push((self.eval(&c.body)?, first)),
            Gathered::Map(map) if c.fold == Fold::Map => {
                let value = self.eval(&c.body)?;
                insert(map, &first, value).map_err(|e| at(e, c.body.span))?;
            }
            Gathered::Map(map) => {
                let Value::Map(entries) = self.eval(&c.body)? else {
                    let message = format!("`{}` must give a map", self.text(c.body.span));
                    return Err(error(ErrorKind::NoSuchOverload, c.body.span, message));
                };
                for (key, value) in entries.iter() {
                    let length = text_len(&key.value());
                    self.meter.read(length).map_err(|e| at(e, c.body.span))?;
                    insert(map, &key.value(), value).map_err(|e| at(e, c.body.span))?;
                }
            }
        }
        let produced = match gathered {
            Gathered::List(list) => list.len(),
            Gathered::Pairs(pairs) => pairs.len(),
            Gathered::Map(map) => map.len(),
            Gathered::Verdict(_) | Gathered::Count(_) => 0,
        };
        // The loop itself already pays one step per turn; this only bounds the size.
        if produced > self.meter.limits.collection_items {
            self.meter.items(produced).map_err(|e| at(e, c.body.span))?;
        }
        Ok(None)
    }

    fn verdict(
        &mut self,
        c: &'a Comprehension,
        failure: &mut Option<Box<EvalError>>,
    ) -> Result<Option<Value<'a>>, Box<EvalError>> {
        let deciding = c.fold == Fold::Exists;
        match self.holds(&c.body) {
            Ok(b) if b == deciding => return Ok(Some(Value::Bool(deciding))),
            Ok(_) => {}
            Err(e) if e.kind == ErrorKind::LimitExceeded => return Err(e),
            Err(e) => *failure = failure.take().or(Some(e)),
        }
        Ok(None)
    }

    fn holds(&mut self, node: &'a Node) -> Result<bool, Box<EvalError>> {
        match self.eval(node)? {
            Value::Bool(b) => Ok(b),
            other => Err(self.not_bool(&other, node.span)),
        }
    }

    #[inline(never)]
    pub(super) fn optional_map(&mut self, map: &'a OptionalMap) -> Outcome<'a> {
        let value = match self.eval(&map.target)? {
            Value::Optional(Some(value)) => Arc::unwrap_or_clone(value),
            Value::Optional(None) => return Ok(Value::none()),
            other => {
                let message = format!(
                    "`{}` is {}, not optional",
                    self.text(map.target.span),
                    other.type_of()
                );
                return Err(error(ErrorKind::NoSuchOverload, map.target.span, message));
            }
        };
        self.locals[map.slot as usize] = value;
        let result = self.eval(&map.body)?;
        match (map.flat, result) {
            (false, result) => Ok(Value::some(result)),
            (true, result @ Value::Optional(_)) => Ok(result),
            (true, other) => {
                let message = format!(
                    "`{}` is {}, not optional",
                    self.text(map.body.span),
                    other.type_of()
                );
                Err(error(ErrorKind::NoSuchOverload, map.body.span, message))
            }
        }
    }

    #[inline(never)]
    pub(super) fn optional_or(
        &mut self,
        node: &'a Node,
        parts: &'a [Node; 2],
        alternative: Alternative,
    ) -> Outcome<'a> {
        let name = if alternative == Alternative::Value {
            "orValue"
        } else {
            "or"
        };
        let present = match self.eval(&parts[0])? {
            Value::Optional(present) => present,
            other => return Err(self.fault(Fault::Overload, node.span, name, &[other])),
        };
        match (present, alternative) {
            (Some(value), Alternative::Value) => Ok(Arc::unwrap_or_clone(value)),
            (Some(value), Alternative::Optional) => Ok(Value::Optional(Some(value))),
            (None, Alternative::Value) => self.eval(&parts[1]),
            (None, Alternative::Optional) => match self.eval(&parts[1])? {
                other @ Value::Optional(_) => Ok(other),
                other => Err(self.fault(Fault::Overload, node.span, name, &[Value::none(), other])),
            },
        }
    }
}
