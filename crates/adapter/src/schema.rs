//! The configuration files as JSON Schema, for editors, and as a reference, for people. Both come from the same types.

mod editor;
mod reference;
mod written;

use schemars::schema_for;
use serde_json::{Value as Json, json};

pub use reference::markdown as reference;

use crate::config::Deployment;

/// Of the task file, in both spellings and with the wrapper of older versions.
pub fn task() -> Json {
    let mut schema = editor::both_spellings(schema_for!(written::Task).to_value());
    let Json::Object(fields) = &mut schema else {
        return schema;
    };
    let meta = fields.remove("$schema").unwrap_or_default();
    let definitions = fields.remove("$defs").unwrap_or_default();
    fields.remove("title");
    let mut document = json!({
        "$schema": meta,
        "title": "HyperFleet adapter: task configuration",
        // Older files wrap everything, and may hold the deployment too.
        "if": {"required": ["apiVersion", "spec"]},
        "then": {"$ref": "#/$defs/Wrapped"},
        "else": {"$ref": "#/$defs/Task"},
        "$defs": definitions,
    });
    document["$defs"]["Wrapped"] = wrapped(&schema);
    document["$defs"]["Task"] = schema;
    document
}

/// Of the deployment file.
pub fn deployment() -> Json {
    let mut schema = editor::with_aliases(schema_for!(Deployment).to_value());
    schema["title"] = json!("HyperFleet adapter: deployment configuration");
    schema
}

/// `apiVersion, kind, metadata, spec`, with what belongs to the deployment beside the task.
fn wrapped(task: &Json) -> Json {
    let mut spec = task.clone();
    for key in [
        "adapter",
        "hyperfleetApi",
        "hyperfleet_api",
        "broker",
        "kubernetes",
        "messageBroker",
        "message_broker",
    ] {
        spec["properties"][key] = json!({"description": "Of the deployment."});
    }
    json!({
        "type": "object",
        "description": "The wrapper of older versions.",
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {}, "spec": spec},
        "required": ["apiVersion", "spec"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
