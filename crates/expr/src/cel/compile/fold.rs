//! Constants computed at compile time. Whatever fails is left for run time, where it may never be reached.

use std::collections::BTreeMap;

use chrono::DateTime;

use crate::cel::ast::{Access, BinaryOp, UnaryOp};
use crate::cel::library::Builtin;
use crate::cel::limits::Limits;
use crate::cel::machine;
use crate::cel::meter::Meter;
use crate::cel::plan::{Kind, Node};
use crate::cel::value::{Map, Value};

/// Folding must not inflate a short source into a large program.
const LARGEST: usize = 4096;

fn meter(limits: &Limits) -> Meter<'_> {
    Meter::new(limits, DateTime::UNIX_EPOCH)
}

fn constants<'n>(nodes: impl Iterator<Item = &'n Node>) -> Option<Vec<Value<'static>>> {
    nodes.map(|node| node.constant().cloned()).collect()
}

fn small(value: Value<'static>) -> Option<Kind> {
    let size = match &value {
        Value::String(s) => s.as_str().len(),
        Value::Bytes(b) => b.len(),
        Value::List(l) => l.len(),
        Value::Map(m) => m.len(),
        _ => 0,
    };
    (size <= LARGEST).then_some(Kind::Constant(value))
}

pub(super) fn unary(op: UnaryOp, operand: &Node) -> Option<Kind> {
    machine::unary(op, operand.constant()?).ok().and_then(small)
}

pub(super) fn binary(op: BinaryOp, operands: &[Node; 2], limits: &Limits) -> Option<Kind> {
    let (a, b) = (operands[0].constant()?, operands[1].constant()?);
    machine::binary(op, a, b, &mut meter(limits))
        .ok()
        .and_then(small)
}

pub(super) fn call(builtin: &'static Builtin, args: &[Node], limits: &Limits) -> Option<Kind> {
    if !builtin.pure {
        return None;
    }
    let args = constants(args.iter())?;
    (builtin.run)(&mut meter(limits), &args)
        .ok()
        .and_then(small)
}

pub(super) fn list(items: &[(Node, Access)]) -> Option<Kind> {
    if items.iter().any(|(_, access)| *access == Access::Optional) {
        return None;
    }
    constants(items.iter().map(|(node, _)| node))
        .map(Value::list)
        .and_then(small)
}

pub(super) fn map(entries: &[(Node, Node, Access)]) -> Option<Kind> {
    let mut map = BTreeMap::new();
    for (key, value, access) in entries {
        if *access == Access::Optional {
            return None;
        }
        machine::insert(&mut map, key.constant()?, value.constant()?.clone()).ok()?;
    }
    small(Value::Map(Map::built(map)))
}
