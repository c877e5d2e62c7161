//! Which entries of a variable an expression asks for by name.

use super::{Kind, Node};
use crate::cel::value::Value;

/// Functions that stand for `base[key]` where another language is lowered to CEL.
const ACCESSORS: [&str; 2] = ["__get", "__get_safe"];

/// Every constant text key that the variable with this index is read at.
pub(crate) fn keys(root: &Node, variable: u32) -> Vec<&str> {
    let mut found = Vec::new();
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        found.extend(key(node, variable));
        children(node, &mut left);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn key(node: &Node, variable: u32) -> Option<&str> {
    let is_it = |node: &Node| matches!(node.kind, Kind::Variable(index) if index == variable);
    match &node.kind {
        Kind::Select(base, field, _) | Kind::Present(base, field) if is_it(base) => Some(field),
        Kind::Index(parts, _) if is_it(&parts[0]) => constant_text(&parts[1]),
        Kind::Host(function, args) if ACCESSORS.contains(&function.name.as_str()) => {
            match &**args {
                [base, key] if is_it(base) => constant_text(key),
                _ => None,
            }
        }
        _ => None,
    }
}

fn constant_text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Constant(Value::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

fn children<'n>(node: &'n Node, into: &mut Vec<&'n Node>) {
    match &node.kind {
        Kind::Constant(_)
        | Kind::Variable(_)
        | Kind::TypeName(_)
        | Kind::Local(_)
        | Kind::Undefined(..)
        | Kind::NowTimestamp => {}
        Kind::Select(inner, ..)
        | Kind::Present(inner, _)
        | Kind::Matches(inner, _)
        | Kind::Unary(_, inner) => into.push(inner),
        Kind::Index(parts, _)
        | Kind::Binary(_, parts)
        | Kind::Bind(_, parts)
        | Kind::OptionalOr(parts, _) => into.extend(parts.iter()),
        Kind::Builtin(_, parts) | Kind::Host(_, parts) | Kind::Logic(_, parts) => {
            into.extend(parts.iter());
        }
        Kind::Conditional(parts) => into.extend(parts.iter()),
        Kind::List(items) => into.extend(items.iter().map(|(item, _)| item)),
        Kind::Map(entries) => {
            into.extend(entries.iter().flat_map(|(key, value, _)| [key, value]));
        }
        Kind::OptionalMap(map) => into.extend([&map.target, &map.body]),
        Kind::Comprehension(loops) => {
            into.extend([&loops.range, &loops.body]);
            into.extend(loops.filter.as_ref());
        }
    }
}
