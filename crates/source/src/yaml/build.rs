//! Events into nodes: nesting, anchors, merge keys, and the refusal of doubled keys.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, ScalarStyle, Tag};

use super::events::Events;
use super::{Limits, scalar};
use crate::node::{Key, Node, Style, Value};
use crate::{Diagnostic, Diagnostics, SourceFile, Span};

/// Reads every document. Mistakes that do not confuse the parser are collected, so that a reader
/// sees all of them at once.
pub(super) fn documents(file: &SourceFile, limits: Limits) -> Result<Vec<Node>, Diagnostics> {
    let mut builder = Builder {
        file,
        events: Events::new(file),
        limits,
        anchors: HashMap::new(),
        anchored: 0,
        expansion: 0,
        found: Vec::new(),
    };
    let mut documents = Vec::new();
    if let Err(fatal) = builder.stream(&mut documents) {
        builder.found.push(fatal);
    }
    Diagnostics::check(builder.found, documents)
}

struct Builder<'a> {
    file: &'a SourceFile,
    events: Events<'a>,
    limits: Limits,
    anchors: HashMap<usize, Anchor>,
    anchored: usize,
    expansion: usize,
    found: Vec<Diagnostic>,
}

/// An anchored node and what each use of it costs.
struct Anchor {
    node: Node,
    weight: usize,
    height: usize,
}

type Read<T> = Result<T, Diagnostic>;

impl<'a> Builder<'a> {
    fn stream(&mut self, documents: &mut Vec<Node>) -> Read<()> {
        while let Some((event, span)) = self.events.next()? {
            match event {
                Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                other => documents.push(self.node(other, span, 0)?),
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Read<(Event<'a>, Span)> {
        let end = Span::at(self.file.text().len());
        self.events
            .next()?
            .ok_or_else(|| Diagnostic::error(self.file, end, "the text ends too early"))
    }

    /// The node that starts with `event`, read to its end.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Read<Node> {
        if depth > self.limits.depth {
            let message = format!("nested deeper than {} levels", self.limits.depth);
            return Err(Diagnostic::error(self.file, span, message));
        }
        match event {
            Event::Alias(id) => self.alias(id, span, depth),
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, span, anchor, tag.as_deref());
                self.remember(anchor, node)
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(scalar::check_collection_tag(tag.as_deref(), "seq"), span);
                let start = self.content_start(span, anchor, tag.as_deref());
                let node = self.sequence(start, depth)?;
                self.remember(anchor, node)
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(scalar::check_collection_tag(tag.as_deref(), "map"), span);
                let start = self.content_start(span, anchor, tag.as_deref());
                let node = self.mapping(start, depth)?;
                self.remember(anchor, node)
            }
            other => Err(Diagnostic::error(
                self.file,
                span,
                format!("a value is expected here, not {other:?}"),
            )),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        span: Span,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Node {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let start = self.content_start(span, anchor, tag);
        let span = match style {
            // What was left out has a place, but no text.
            Style::Plain if text.is_empty() => Span::at(start),
            Style::Literal | Style::Folded if start > span.start => {
                self.without_header(Span::new(start, span.end), text)
            }
            Style::Literal | Style::Folded => self.without_blank_end(span),
            _ => Span::new(start, span.end),
        };
        let resolved = scalar::resolve(text, style, tag);
        let value = match resolved {
            Ok(value) => value,
            Err(message) => {
                self.found.push(Diagnostic::error(self.file, span, message));
                Value::Null
            }
        };
        Node::new(self.file, span, value)
    }

    fn sequence(&mut self, start: usize, depth: usize) -> Read<Node> {
        let mut items: Vec<Node> = Vec::new();
        let mut end = start;
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                end = collection_end(end, span);
                let span = Span::new(start, end);
                return Ok(Node::new(self.file, span, Value::Sequence(items)));
            }
            let item = self.node(event, span, depth + 1)?;
            end = end.max(own_end(&item, span));
            items.push(item);
        }
    }

    fn mapping(&mut self, start: usize, depth: usize) -> Read<Node> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut merged: Vec<(Key, Node)> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        let mut end = start;
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                end = collection_end(end, span);
                break;
            }
            let is_merge =
                matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = self.key(event, span, depth)?;
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            end = end.max(key.span.end).max(own_end(&value, span));
            if let Some(first) = seen.insert(key.text.clone(), key.span) {
                self.found.push(
                    key.error(format!("the key `{}` is given twice", key.text))
                        .with_help(format!(
                            "it was first given at line {}",
                            self.file.position(first.start).line
                        )),
                );
            } else if is_merge {
                merged.append(&mut self.merge_sources(value));
            } else {
                entries.push((key, value));
            }
        }
        // What the mapping says itself wins, then what was merged first.
        let mut taken: HashSet<String> = seen.into_keys().collect();
        taken.remove("<<");
        entries.extend(
            merged
                .into_iter()
                .filter(|(key, _)| taken.insert(key.text.clone())),
        );
        Ok(Node::new(
            self.file,
            Span::new(start, end),
            Value::Mapping(entries),
        ))
    }

    fn key(&mut self, event: Event<'a>, span: Span, depth: usize) -> Read<Key> {
        if let Event::Scalar(text, style, anchor, tag) = event {
            let node = self.scalar(&text, style, span, anchor, tag.as_deref());
            let key = Key {
                file: self.file.clone(),
                text: text.into_owned(),
                span: node.span,
            };
            self.remember(anchor, node)?;
            return Ok(key);
        }
        let node = self.node(event, span, depth + 1)?;
        match node.value {
            Value::String(text, _) => Ok(Key {
                file: self.file.clone(),
                text,
                span,
            }),
            _ => {
                self.found
                    .push(node.error(format!("{} cannot be a key", node.kind())));
                Ok(Key {
                    file: self.file.clone(),
                    text: node.source_text().to_owned(),
                    span,
                })
            }
        }
    }

    fn alias(&mut self, id: usize, span: Span, depth: usize) -> Read<Node> {
        let error = |message: &str| Diagnostic::error(self.file, span, message);
        let Some(anchor) = self.anchors.get(&id) else {
            return Err(error("an anchor cannot contain itself"));
        };
        self.expansion = self.expansion.saturating_add(anchor.weight);
        if self.expansion > self.limits.expansion {
            return Err(error("aliases expand to more than is sensible"));
        }
        if depth + anchor.height > self.limits.depth {
            return Err(error("this alias nests too deeply"));
        }
        Ok(anchor.node.clone())
    }

    fn remember(&mut self, id: usize, node: Node) -> Read<Node> {
        if id != 0 {
            let (weight, height) = measure(&node);
            // Anchors inside anchors are kept once per level.
            self.anchored = self.anchored.saturating_add(weight);
            if self.anchored > self.limits.bytes {
                return Err(node.error("anchors hold more than is sensible"));
            }
            let anchor = Anchor {
                node: node.clone(),
                weight,
                height,
            };
            self.anchors.insert(id, anchor);
        }
        Ok(node)
    }

    /// The entries a merge key brings in: those of one mapping, or of a list of mappings.
    fn merge_sources(&mut self, value: Node) -> Vec<(Key, Node)> {
        match value.value {
            Value::Mapping(entries) => entries,
            Value::Sequence(items) => items
                .into_iter()
                .flat_map(|item| self.merge_sources(item))
                .collect(),
            _ => {
                let message = format!("`<<` merges mappings, not {}", value.kind());
                self.found.push(value.error(message));
                Vec::new()
            }
        }
    }

    fn check_tag(&mut self, checked: Result<(), String>, span: Span) {
        if let Err(message) = checked {
            self.found.push(Diagnostic::error(self.file, span, message));
        }
    }

    /// Where a node begins behind its anchor and tag.
    fn content_start(&self, span: Span, anchor: usize, tag: Option<&Tag>) -> usize {
        let text = self.file.slice(span);
        if anchor == 0 && tag.is_none() {
            return span.start;
        }
        let mut rest = text;
        while rest.starts_with(['&', '!']) {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = skip_blanks_and_comments(&rest[end..]);
        }
        span.end - rest.len()
    }

    /// The parser's span of a block goes on to the first character of the next line.
    fn without_blank_end(&self, span: Span) -> Span {
        Span::new(
            span.start,
            span.start + self.file.slice(span).trim_end().len(),
        )
    }

    /// The parser's span of an anchored block starts with its header (`|2-`). Its content starts
    /// at the first line that is not blank, with the spaces that belong to it.
    fn without_header(&self, span: Span, content: &str) -> Span {
        let span = self.without_blank_end(span);
        let text = self.file.slice(span);
        let body = text.find('\n').map_or("", |at| &text[at..]);
        let first_line = content.trim_start_matches('\n');
        let own_spaces = first_line.len() - first_line.trim_start_matches(' ').len();
        let behind = body.trim_start().len() + own_spaces;
        Span::new(span.end - behind.min(body.len()), span.end)
    }
}

fn skip_blanks_and_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        rest = rest.find('\n').map_or("", |at| rest[at..].trim_start());
    }
    rest
}

/// A block collection ends with its last child; the event that closes it lies at the next token.
fn collection_end(last_child: usize, closing: Span) -> usize {
    if closing.end > closing.start {
        closing.end
    } else {
        last_child
    }
}

/// Where a child ends in this place: an alias ends where it is used, not where it is defined.
fn own_end(node: &Node, used_at: Span) -> usize {
    if node.span.start >= used_at.start {
        node.span.end
    } else {
        used_at.end
    }
}

/// Nodes plus bytes of text, and levels of nesting.
fn measure(node: &Node) -> (usize, usize) {
    let children: Vec<(usize, usize)> = match &node.value {
        Value::String(text, _) => return (1 + text.len(), 0),
        Value::Sequence(items) => items.iter().map(measure).collect(),
        Value::Mapping(entries) => entries
            .iter()
            .map(|(key, value)| {
                let (weight, height) = measure(value);
                (weight.saturating_add(key.text.len()), height)
            })
            .collect(),
        _ => return (1, 0),
    };
    children
        .into_iter()
        .fold((1, 0), |(weight, height), child| {
            (weight.saturating_add(child.0), height.max(child.1 + 1))
        })
}
