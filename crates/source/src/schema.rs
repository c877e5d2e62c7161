//! JSON Schema as a list of the keys that may be written.
//!
//! Only what derived schemas of configuration structs use is understood: `$ref`, `properties`,
//! `additionalProperties`, `items`, `allOf`, `anyOf`, `oneOf`, `const`. One reading differs from
//! JSON Schema: an object with `properties` and no word about others is closed, because that is
//! how an author of a configuration file reads it.
//!
//! Derived schemas do not know serde's aliases. A field that has one says so with
//! `#[schemars(extend("x-aliases" = ["oldName"]))]`; the old name is then accepted too.

mod leaves;
mod shape;

pub use leaves::{Kind, Leaf, leaves};
use schemars::Schema;
use shape::Shape;

use crate::{Diagnostic, Node, Value, suggest};

/// Every key in the tree that the schema does not know, with the nearest known one as help.
pub fn unknown_keys(node: &Node, schema: &Schema) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let root = schema.as_value();
    check(node, &Shape::of(root, [root], Some(node)), root, &mut found);
    found
}

fn check(node: &Node, shape: &Shape<'_>, root: &serde_json::Value, found: &mut Vec<Diagnostic>) {
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                let shape = Shape::of(root, shape.items.iter().copied(), Some(item));
                check(item, &shape, root, found);
            }
        }
        Value::Mapping(entries) => {
            for (key, value) in entries {
                match shape.key(&key.text) {
                    Some(schemas) => {
                        let shape = Shape::of(root, schemas.iter().copied(), Some(value));
                        check(value, &shape, root, found);
                    }
                    None if shape.is_open => {}
                    None => {
                        let mut unknown = key.error(format!("unknown key `{}`", key.text));
                        unknown.help = suggest::help(&key.text, shape.names());
                        found.push(unknown);
                    }
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
