//! Parser of `tables/types.txt`.
//!
//! A line at the margin names a type (`atomic` after it: owned as one value); an indented line is a field and its form:
//! `s` string, `i` integer, `n` number, `b` boolean, `x` quantity or int-or-string, `*` anything, `@T` the type T,
//! `!@T` T owned as a whole, `<F` map of F, `<!F` the same owned as a whole, `[F` list owned as a whole, `{}F` set,
//! `{a,b=D}F` list told apart by the keys a and b (b defaults to D). `~key~` before a list's item form is the strategic
//! merge patch key, a leading `^` its `retainKeys`.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::{Field, Identity, ListShape, Shape, StructShape};

static TABLE: &str = include_str!("../../tables/types.txt");

/// The built-in type of that name.
pub(crate) fn builtin(name: &str) -> Option<&'static Shape> {
    static TYPES: OnceLock<HashMap<&'static str, Shape>> = OnceLock::new();
    TYPES.get_or_init(parse).get(name)
}

fn parse() -> HashMap<&'static str, Shape> {
    let mut types = HashMap::new();
    let mut current: Option<(&'static str, StructShape)> = None;
    for line in TABLE.lines() {
        if let Some(field) = line.strip_prefix(' ') {
            if let (Some((_, shape)), Some((name, form))) = (&mut current, field.split_once(' ')) {
                let (form, retain_keys) = match form.strip_prefix('^') {
                    Some(rest) => (rest, true),
                    None => (form, false),
                };
                shape.fields.insert(
                    name.to_owned(),
                    Field {
                        shape: parse_form(form),
                        retain_keys,
                    },
                );
            }
            continue;
        }
        if let Some((name, shape)) = current.take() {
            types.insert(name, Shape::Struct(Box::new(shape)));
        }
        let (name, atomic) = match line.split_once(' ') {
            Some((name, _)) => (name, true),
            None => (line, false),
        };
        current = Some((
            name,
            StructShape {
                atomic,
                ..StructShape::default()
            },
        ));
    }
    if let Some((name, shape)) = current {
        types.insert(name, Shape::Struct(Box::new(shape)));
    }
    types
}

fn parse_form(form: &str) -> Shape {
    let Some(first) = form.chars().next() else {
        return Shape::Any { granular: false };
    };
    let rest = &form[first.len_utf8()..];
    match first {
        's' => Shape::Text,
        'i' => Shape::Integer,
        'n' => Shape::Number,
        'b' => Shape::Boolean,
        'x' => Shape::IntOrText,
        '@' => Shape::Named(rest.to_owned()),
        '!' => Shape::AtomicNamed(rest.trim_start_matches('@').to_owned()),
        '<' => match rest.strip_prefix('!') {
            Some(item) => Shape::Map {
                atomic: true,
                item: Box::new(parse_form(item)),
            },
            None => Shape::Map {
                atomic: false,
                item: Box::new(parse_form(rest)),
            },
        },
        '[' => list(Identity::Atomic, rest),
        '{' => match rest.split_once('}') {
            Some(("", item)) => list(Identity::Set, item),
            Some((keys, item)) => list(
                Identity::Keys(keys.split(',').map(parse_key).collect()),
                item,
            ),
            None => Shape::Any { granular: false },
        },
        _ => Shape::Any { granular: false },
    }
}

fn parse_key(key: &str) -> (String, Option<serde_json::Value>) {
    match key.split_once('=') {
        Some((name, default)) => (name.to_owned(), Some(default.into())),
        None => (key.to_owned(), None),
    }
}

fn list(identity: Identity, item: &str) -> Shape {
    let (patch_key, item) = match item.strip_prefix('~').and_then(|rest| rest.split_once('~')) {
        Some((key, item)) => (Some(key.to_owned()), item),
        None => (None, item),
    };
    Shape::List(Box::new(ListShape {
        identity,
        patch_key,
        item: parse_form(item),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_merge_by_name_and_tolerations_are_one_value() {
        let pod = builtin("core.v1.PodSpec").unwrap();
        let containers = pod.below("containers").0.list().unwrap();
        assert_eq!(
            containers.identity,
            Identity::Keys(vec![("name".into(), None)])
        );
        assert_eq!(containers.patch_key.as_deref(), Some("name"));
        assert_eq!(
            pod.below("tolerations").0.list().unwrap().identity,
            Identity::Atomic
        );
    }

    #[test]
    fn every_type_the_table_names_is_in_the_table() {
        for line in TABLE.lines().filter(|l| l.starts_with(' ')) {
            if let Some((_, name)) = line.split_once('@') {
                assert!(builtin(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn a_port_without_protocol_is_the_tcp_port() {
        let ports = builtin("core.v1.Container")
            .unwrap()
            .below("ports")
            .0
            .list()
            .unwrap();
        let implied = ports.element(&serde_json::json!({"containerPort": 80}));
        assert_eq!(
            implied,
            ports.element(&serde_json::json!({"containerPort": 80, "protocol": "TCP"}))
        );
    }
}
