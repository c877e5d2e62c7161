//! One YAML document as JSON, and JSON as YAML.

mod emit;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value as Json};

pub(crate) use emit::emit;

const MAX_DEPTH: usize = 64;
/// Nodes a document may have once its aliases are written out.
const MAX_NODES: usize = 200_000;

/// Why a text is no YAML document, and where in it.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("line {line}, column {column}: {message}")]
pub struct YamlError {
    pub message: String,
    pub line: usize,
    pub column: usize,
}

/// What is being built: a list, or a map with the key read last.
enum Open {
    List(Vec<Json>),
    Map(Map<String, Json>, Option<String>),
}

struct Builder {
    stack: Vec<(Open, usize)>,
    /// Finished nodes by anchor.
    anchors: std::collections::HashMap<usize, (Json, usize)>,
    nodes: usize,
    root: Option<Json>,
}

/// Reads text that holds exactly one document; an empty text is null.
pub fn parse(text: &str) -> Result<Json, YamlError> {
    let mut builder = Builder {
        stack: Vec::new(),
        anchors: std::collections::HashMap::new(),
        nodes: 0,
        root: None,
    };
    let mut documents = 0;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|e| error(e.marker(), e.info()))?;
        let at = span.start;
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(error(&at, "expected one YAML document, found a second one"));
                }
            }
            Event::SequenceStart(anchor, _) => builder.open(&at, Open::List(Vec::new()), anchor)?,
            Event::MappingStart(anchor, _) => {
                builder.open(&at, Open::Map(Map::new(), None), anchor)?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.close(&at)?,
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref()).map_err(|e| error(&at, &e))?;
                if anchor > 0 {
                    builder.anchors.insert(anchor, (value.clone(), 1));
                }
                builder.add(&at, value, 1)?;
            }
            Event::Alias(anchor) => {
                let Some((value, size)) = builder.anchors.get(&anchor).cloned() else {
                    return Err(error(&at, "an alias refers to a node that contains it"));
                };
                builder.add(&at, value, size)?;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    Ok(builder.root.unwrap_or(Json::Null))
}

fn error(at: &Marker, message: &str) -> YamlError {
    YamlError {
        message: message.to_owned(),
        line: at.line(),
        column: at.col() + 1,
    }
}

impl Builder {
    fn open(&mut self, at: &Marker, open: Open, anchor: usize) -> Result<(), YamlError> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(error(at, "the document is nested too deeply"));
        }
        self.stack.push((open, anchor));
        Ok(())
    }

    fn close(&mut self, at: &Marker) -> Result<(), YamlError> {
        let (value, anchor) = match self.stack.pop() {
            Some((Open::List(items), anchor)) => (Json::Array(items), anchor),
            Some((Open::Map(map, _), anchor)) => (Json::Object(map), anchor),
            None => return Err(error(at, "a collection ends that did not begin")),
        };
        if anchor > 0 {
            let size = size(&value);
            self.anchors.insert(anchor, (value.clone(), size));
        }
        self.add(at, value, 0)
    }

    fn add(&mut self, at: &Marker, value: Json, nodes: usize) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(error(at, "the document has too many nodes"));
        }
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some((Open::List(items), _)) => items.push(value),
            Some((Open::Map(map, pending), _)) => match pending.take() {
                None => *pending = Some(key(at, value)?),
                Some(name) => match map.contains_key(&name) {
                    true => return Err(error(at, &format!("the key {name:?} is given twice"))),
                    false => {
                        map.insert(name, value);
                    }
                },
            },
        }
        Ok(())
    }
}

fn size(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

fn key(at: &Marker, value: Json) -> Result<String, YamlError> {
    match value {
        Json::String(text) => Ok(text),
        Json::Number(number) => Ok(number.to_string()),
        Json::Bool(b) => Ok(b.to_string()),
        Json::Null => Ok("null".to_owned()),
        _ => Err(error(at, "a key must be text, not a list or a map")),
    }
}

/// The core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Json, String> {
    let tag = tag.filter(|tag| tag.is_yaml_core_schema());
    match tag.map(|tag| &*tag.suffix) {
        Some("str") => return Ok(text.into()),
        None if style != ScalarStyle::Plain => return Ok(text.into()),
        _ => {}
    }
    let value = plain(text);
    let fits = match tag.map(|tag| &*tag.suffix) {
        Some("int") => value.is_i64() || value.is_u64(),
        Some("float") => value.is_number(),
        Some("bool") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    };
    match fits {
        true => Ok(value),
        false => Err(format!("{text:?} does not fit its tag")),
    }
}

/// What an unquoted scalar means.
fn plain(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "true" | "True" | "TRUE" => return Json::Bool(true),
        "false" | "False" | "FALSE" => return Json::Bool(false),
        _ => {}
    }
    let radix = |prefix, radix| {
        let digits = text.strip_prefix(prefix)?;
        i64::from_str_radix(digits, radix).ok()
    };
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned.strip_prefix('-').unwrap_or(unsigned);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        if let Ok(i) = unsigned.parse::<i64>() {
            return i.into();
        }
        if let Ok(u) = unsigned.parse::<u64>() {
            return u.into();
        }
    }
    if let Some(i) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return i.into();
    }
    let numeric = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|b| b.is_ascii_digit())
        && digits
            .bytes()
            .all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    if numeric && let Some(number) = unsigned.parse().ok().and_then(Number::from_f64) {
        return Json::Number(number);
    }
    text.into()
}
