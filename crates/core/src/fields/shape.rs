//! Which members there are, read off the schema of a resource so that nobody has to list them twice.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::resource::Resource;

/// What can be named below a place.
#[derive(Debug)]
pub(super) enum Shape {
    /// Nothing.
    Leaf,
    /// These. Of a list, its items' members.
    Members(BTreeMap<String, Shape>),
    /// Any key, dots and all.
    Keys,
    /// Any path.
    Free,
}

/// Longer paths lead nowhere: no stored JSON is deeper.
const MAX_STEPS: usize = 128;

/// The shape of a resource.
pub(super) fn resource() -> &'static Shape {
    static RESOURCE: LazyLock<Shape> = LazyLock::new(|| {
        let schema = schemars::schema_for!(Resource).to_value();
        Shape::of(&schema, &schema["$defs"])
    });
    &RESOURCE
}

impl Shape {
    fn of(schema: &Value, definitions: &Value) -> Shape {
        if let Some(name) = schema["$ref"]
            .as_str()
            .and_then(|path| path.rsplit('/').next())
        {
            return Shape::of(&definitions[name], definitions);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let there = choices.iter().find(|choice| choice["type"] != "null");
            return there.map_or(Shape::Leaf, |choice| Shape::of(choice, definitions));
        }
        if let Some(properties) = schema["properties"].as_object() {
            let members = properties
                .iter()
                .map(|(name, schema)| (name.clone(), Shape::of(schema, definitions)));
            return Shape::Members(members.collect());
        }
        match (&schema["items"], &schema["additionalProperties"]) {
            (items @ Value::Object(_), _) => Shape::of(items, definitions),
            (_, Value::Bool(true)) => Shape::Free,
            (_, Value::Object(_)) => Shape::Keys,
            _ => Shape::Leaf,
        }
    }

    /// The steps that a name takes, if it leads anywhere. `x.*` is all of `x`.
    pub(super) fn path<'a>(&self, name: &'a str) -> Option<Vec<&'a str>> {
        let mut steps = Vec::new();
        let (mut shape, mut rest) = (self, name);
        loop {
            if rest == "*" && !steps.is_empty() && !matches!(shape, Shape::Leaf) {
                return Some(steps);
            }
            let (step, more) = match shape {
                Shape::Keys => (rest, None),
                _ => match rest.split_once('.') {
                    Some((step, more)) => (step, Some(more)),
                    None => (rest, None),
                },
            };
            if step.is_empty() || steps.len() == MAX_STEPS {
                return None;
            }
            shape = match shape {
                Shape::Leaf => return None,
                Shape::Members(members) => members.get(step)?,
                Shape::Keys => &Shape::Leaf,
                Shape::Free => &Shape::Free,
            };
            steps.push(step);
            match more {
                Some(more) => rest = more,
                None => return Some(steps),
            }
        }
    }
}
