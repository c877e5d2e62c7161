//! Why a rendering stopped, in the words of the template.

use crate::template::context::Problem;
use crate::template::tree::{Base, Pos};
use crate::template::value::Value;
use crate::template::{RenderErrorKind, nearest};

/// Why rendering stopped, and where.
#[derive(Debug)]
pub(in crate::template) struct Failure {
    pub pos: Pos,
    pub kind: RenderErrorKind,
    pub message: String,
}

/// A key that is not there: names the path so far and the nearest key.
pub(in crate::template) fn missing(
    pos: Pos,
    base: &Base,
    path: &[Box<str>],
    at: usize,
    parent: &Value<'_>,
) -> Failure {
    let name = shown(base, &path[..=at]);
    let owner = match (base, at) {
        (Base::Dot, 0) => ".".to_owned(),
        (Base::Slot(0), 0) => "$".to_owned(),
        _ => shown(base, &path[..at]),
    };
    if !parent.is_map() {
        let what = parent.what();
        return Failure {
            pos,
            kind: RenderErrorKind::Value,
            message: format!(
                "{name}: {owner} is {what}, so it has no field {:?}",
                path[at]
            ),
        };
    }
    let keys = parent.keys().unwrap_or_default();
    let hint = nearest(&path[at], keys.iter().map(AsRef::as_ref));
    Failure {
        pos,
        kind: RenderErrorKind::MissingKey { path: name.clone() },
        message: format!("{name}: {owner} has no key {:?}{hint}", path[at]),
    }
}

/// The path as the author wrote it, as far as that is short.
pub(in crate::template) fn shown(base: &Base, path: &[Box<str>]) -> String {
    let mut text = match base {
        Base::Dot => String::new(),
        Base::Slot(0) => "$".to_owned(),
        Base::Slot(_) => "$…".to_owned(),
        Base::Expr(_) => "(…)".to_owned(),
    };
    for key in path {
        text.push('.');
        text.push_str(key);
    }
    text
}

pub(in crate::template) fn problem(pos: Pos, problem: Problem) -> Failure {
    match problem {
        Problem::Message(message) => Failure {
            pos,
            kind: RenderErrorKind::Value,
            message,
        },
        Problem::Limit(message) => Failure {
            pos,
            kind: RenderErrorKind::Limit,
            message,
        },
    }
}

pub(in crate::template) fn named(pos: Pos, name: &str, p: Problem) -> Failure {
    let mut failure = problem(pos, p);
    if failure.kind == RenderErrorKind::Value {
        failure.message = format!("{name}: {}", failure.message);
    }
    failure
}
