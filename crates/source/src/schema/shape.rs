//! What a set of schemas, any of which may apply, allows at one place of the tree.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::{Node, Value};

/// References are followed this deep; a schema that refers only to itself says nothing.
const MAX_DEPTH: usize = 32;

#[derive(Default)]
pub(super) struct Shape<'s> {
    pub(super) properties: BTreeMap<&'s str, Vec<&'s Json>>,
    aliases: BTreeMap<&'s str, &'s str>,
    /// Schemas of keys that are not among `properties`; empty if there is no such rule.
    additional: Vec<&'s Json>,
    /// Schemas of list items.
    pub(super) items: Vec<&'s Json>,
    /// Whether keys that no rule mentions are fine.
    pub(super) is_open: bool,
}

impl<'s> Shape<'s> {
    /// The union of `schemas`. With a node at hand, branches whose `const` contradicts it are
    /// left out, so a tagged enum allows only the keys of the chosen variant.
    pub(super) fn of(
        root: &'s Json,
        schemas: impl IntoIterator<Item = &'s Json>,
        node: Option<&Node>,
    ) -> Self {
        let mut shape = Self::default();
        for schema in schemas {
            shape.add(root, schema, node, 0);
        }
        let says_nothing = shape.properties.is_empty() && shape.additional.is_empty();
        shape.is_open |= says_nothing;
        shape
    }

    /// The schemas of a key's value, if a rule mentions the key.
    pub(super) fn key(&self, name: &str) -> Option<&[&'s Json]> {
        let name = self.aliases.get(name).copied().unwrap_or(name);
        if let Some(schemas) = self.properties.get(name) {
            return Some(schemas);
        }
        (!self.additional.is_empty()).then_some(&self.additional)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> + Clone + '_ {
        self.properties.keys().copied()
    }

    fn add(&mut self, root: &'s Json, schema: &'s Json, node: Option<&Node>, depth: usize) {
        let Json::Object(schema) = schema else {
            self.is_open |= schema == &Json::Bool(true);
            return;
        };
        if depth > MAX_DEPTH {
            return;
        }
        if schema.is_empty() {
            self.is_open = true; // the schema of "any value"
        }
        if let Some(target) = reference(root, schema) {
            self.add(root, target, node, depth + 1);
        }
        self.add_own(schema);
        for part in branches(schema, "allOf") {
            self.add(root, part, node, depth + 1);
        }
        for word in ["anyOf", "oneOf"] {
            let all: Vec<&Json> = branches(schema, word).collect();
            let fitting = |branch: &&Json| node.is_none_or(|node| fits(root, branch, node));
            let chosen: Vec<&Json> = all.iter().copied().filter(fitting).collect();
            for branch in if chosen.is_empty() { all } else { chosen } {
                self.add(root, branch, node, depth + 1);
            }
        }
    }

    fn add_own(&mut self, schema: &'s Map<String, Json>) {
        if let Some(Json::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                self.properties.entry(name).or_default().push(property);
                let aliases = property.get("x-aliases").and_then(Json::as_array);
                for alias in aliases.into_iter().flatten().filter_map(Json::as_str) {
                    self.aliases.insert(alias, name);
                }
            }
        }
        match schema.get("additionalProperties") {
            Some(Json::Bool(true)) => self.is_open = true,
            Some(rule @ Json::Object(_)) => self.additional.push(rule),
            _ => {}
        }
        if let Some(Json::Object(patterns)) = schema.get("patternProperties") {
            self.additional.extend(patterns.values());
        }
        self.items.extend(schema.get("items"));
        self.items.extend(branches(schema, "prefixItems"));
    }
}

pub(super) fn reference<'s>(root: &'s Json, schema: &Map<String, Json>) -> Option<&'s Json> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

fn branches<'s>(
    schema: &'s Map<String, Json>,
    word: &str,
) -> impl Iterator<Item = &'s Json> + use<'s> {
    schema
        .get(word)
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
}

/// Whether a branch can be meant by `node`: its constants must not contradict what is written.
fn fits(root: &Json, branch: &Json, node: &Node) -> bool {
    let Json::Object(branch) = branch else {
        return true;
    };
    if let Some(target) = reference(root, branch)
        && !fits(root, target, node)
    {
        return false;
    }
    let (Value::Mapping(entries), Some(Json::Object(properties))) =
        (&node.value, branch.get("properties"))
    else {
        return true;
    };
    entries.iter().all(|(key, value)| {
        properties
            .get(&key.text)
            .and_then(|property| property.get("const"))
            .is_none_or(|constant| *constant == value.to_json())
    })
}
