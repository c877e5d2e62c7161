//! Parser of `tables/protobuf.txt`.
//!
//! A line at the margin names a message, an indented one its field: number, JSON name, form. Forms: `s` string, `y` bytes,
//! `i` integer, `b` boolean, `d` double, `@M` the message M, `+@M` M spread into the parent, `[F` repeated, `<F` map.

use std::collections::HashMap;
use std::sync::OnceLock;

static TABLE: &str = include_str!("../../tables/protobuf.txt");

#[derive(Debug)]
pub(super) enum Form {
    Text,
    Bytes,
    Integer,
    Boolean,
    Double,
    Message(&'static str),
    Inline(Box<Form>),
    List(Box<Form>),
    Map(Box<Form>),
}

type Message = HashMap<u64, (String, Form)>;

pub(super) fn message(name: &str) -> Option<&'static Message> {
    static MESSAGES: OnceLock<HashMap<&'static str, Message>> = OnceLock::new();
    MESSAGES.get_or_init(parse).get(name)
}

fn parse() -> HashMap<&'static str, Message> {
    let mut messages: HashMap<&'static str, Message> = HashMap::new();
    let mut current = "";
    for line in TABLE.lines() {
        let Some(field) = line.strip_prefix(' ') else {
            current = line;
            messages.entry(current).or_default();
            continue;
        };
        let mut words = field.split(' ');
        if let (Some(number), Some(name), Some(form)) = (words.next(), words.next(), words.next())
            && let (Ok(number), Some(form)) = (number.parse(), parse_form(form))
        {
            messages
                .entry(current)
                .or_default()
                .insert(number, (name.to_owned(), form));
        }
    }
    messages
}

fn parse_form(form: &'static str) -> Option<Form> {
    let inner = |rest| parse_form(rest).map(Box::new);
    Some(match form.split_at_checked(1)? {
        ("s", _) => Form::Text,
        ("y", _) => Form::Bytes,
        ("i", _) => Form::Integer,
        ("b", _) => Form::Boolean,
        ("d", _) => Form::Double,
        ("@", name) => Form::Message(name),
        ("+", rest) => Form::Inline(inner(rest)?),
        ("[", rest) => Form::List(inner(rest)?),
        ("<", rest) => Form::Map(inner(rest)?),
        _ => return None,
    })
}

#[cfg(test)]
pub(super) fn referenced() -> impl Iterator<Item = &'static str> {
    TABLE
        .lines()
        .filter_map(|line| line.split_once('@').map(|(_, name)| name))
}
