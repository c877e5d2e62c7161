//! How often collecting errors may look at one value.
//!
//! Whether a value fits is decided in one pass that remembers. Collecting why not remembers nothing: a schema that
//! refers to itself from two alternatives doubles the work with every level of the value, and the value is the
//! caller's. So the work is bounded before it is begun.

use std::collections::HashMap;

use serde_json::Value;

use super::subschema::{Applies, subschemas};

/// Schemas that may apply to one value at once; more are not told apart.
const MANY: u64 = 1_000_000;

/// Deepest value that is looked at; request bodies end earlier.
const MAX_DEPTH: usize = 128;

/// By depth of the value: how many schemas apply to one value of it at most.
#[derive(Debug)]
pub(super) struct Visits(Vec<u64>);

impl Visits {
    pub(super) fn of(document: &Value) -> Visits {
        let mut counter = Counter {
            document,
            known: HashMap::new(),
        };
        let mut visits: Vec<u64> = Vec::new();
        for depth in 0..=MAX_DEPTH {
            let next = counter.visits(document, depth);
            visits.push(next);
            if next >= MANY {
                break;
            }
        }
        Visits(visits)
    }

    /// An upper bound for the schemas asked while the errors of a value are collected.
    pub(super) fn bound(&self, value: &Value) -> u64 {
        let (depth, nodes) = extent(value);
        let visits = self.0.get(depth).or(self.0.last());
        visits.map_or(0, |visits| visits.saturating_mul(nodes))
    }
}

/// Depth and number of values.
fn extent(value: &Value) -> (usize, u64) {
    let below = |parts: &mut dyn Iterator<Item = &Value>| {
        parts.map(extent).fold((0, 1), |(depth, nodes), below| {
            (depth.max(below.0 + 1), nodes + below.1)
        })
    };
    match value {
        Value::Array(items) => below(&mut items.iter()),
        Value::Object(fields) => below(&mut fields.values()),
        _ => (0, 1),
    }
}

struct Counter<'s> {
    document: &'s Value,
    known: HashMap<(*const Value, usize), u64>,
}

impl<'s> Counter<'s> {
    /// The most schemas that apply to one value at or below a value of this schema.
    fn visits(&mut self, schema: &'s Value, depth: usize) -> u64 {
        let key = (std::ptr::from_ref(schema), depth);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let mut here = Vec::new();
        self.gather(schema, &mut Vec::new(), &mut here);
        let mut most = here.len() as u64;
        if depth > 0 {
            let (mut named, mut properties, mut items) = (HashMap::new(), 0_u64, 0_u64);
            for schema in &here {
                let Value::Object(schema) = schema else {
                    continue;
                };
                for (_, sub, applies) in subschemas(schema) {
                    let sum = match applies {
                        Applies::Here | Applies::Nothing => continue,
                        Applies::Property(name) => named.entry(name).or_insert(0),
                        Applies::Properties => &mut properties,
                        Applies::Items => &mut items,
                    };
                    *sum = sum.saturating_add(self.visits(sub, depth - 1));
                }
            }
            let property = named.values().max().copied().unwrap_or(0);
            most = most
                .max(property.saturating_add(properties))
                .max(items)
                .min(MANY);
        }
        self.known.insert(key, most);
        most
    }

    /// Every schema that applies to the same value.
    fn gather(&self, schema: &'s Value, above: &mut Vec<*const Value>, here: &mut Vec<&'s Value>) {
        let address = std::ptr::from_ref(schema);
        if here.len() as u64 >= MANY || above.contains(&address) {
            return;
        }
        here.push(schema);
        let Value::Object(object) = schema else {
            return;
        };
        above.push(address);
        for keyword in ["$ref", "$dynamicRef"] {
            if let Some(Value::String(target)) = object.get(keyword) {
                let target = target.strip_prefix('#').unwrap_or_default();
                // What is not a pointer may lead anywhere; the whole schema is the dearest place.
                let target = self.document.pointer(target).unwrap_or(self.document);
                self.gather(target, above, here);
            }
        }
        for (_, sub, applies) in subschemas(object) {
            if applies == Applies::Here {
                self.gather(sub, above, here);
            }
        }
        above.pop();
    }
}
