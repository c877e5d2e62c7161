//! The shape of what the API tells about itself.

use serde_json::{Value, json};

pub(super) fn schema() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let texts = json!({"type": "array", "items": text});
    let kind = json!({
        "type": "object",
        "required": ["kind", "plural", "singular", "short_names", "required_adapters"],
        "properties": {
            "kind": text,
            "plural": text,
            "singular": text,
            "short_names": texts,
            "required_adapters": texts,
            "parent_kind": text,
            "on_parent_delete": {"type": "string", "enum": ["restrict", "cascade", "orphan"]},
        },
    });
    json!({
        "type": "object",
        "required": ["id", "kind", "href", "version", "build_time", "kinds"],
        "properties": {
            "id": text,
            "kind": text,
            "href": text,
            "version": text,
            "build_time": text,
            "dry_run": {"type": "boolean", "description": "Whether changes can be tried with `dry_run`."},
            "kinds": {"type": "array", "description": "The kinds it has, and what they are called.", "items": kind},
        },
    })
}
