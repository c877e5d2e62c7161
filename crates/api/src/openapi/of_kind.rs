//! The bodies that create and change resources of one kind. They are read field by field, so that every mistake can be
//! named; what is read depends on the kind, so no type can say it.

use hyperfleet_core::kind::Kind;
use serde_json::{Map, Value, json};

use super::components::reference;

/// What creates a resource where its owner, if it has one, is in the path.
pub(super) fn create(kind: &Kind, spec: &Value, example: Option<Value>) -> Value {
    let mut required = vec!["kind", "name", "spec"];
    if kind.references.iter().any(|rule| rule.min > 0) {
        required.push("references");
    }
    let mut schema = json!({
        "type": "object",
        "description": format!("A {} to be made.", kind.kind),
        "required": required,
        "properties": {
            "kind": {"type": "string", "enum": [kind.kind]},
            "name": {
                "type": "string",
                "minLength": kind.name_min_len.max(1),
                "maxLength": kind.longest_name(),
                "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            },
            "spec": spec,
            "labels": labels(),
            "references": references(kind),
        },
    });
    // Null is as good as nothing, where nothing is allowed.
    schema["properties"]["labels"]["nullable"] = json!(true);
    if !required.contains(&"references") {
        schema["properties"]["references"]["nullable"] = json!(true);
    }
    if let Some(example) = example {
        schema["example"] = example;
    }
    schema
}

/// What creates a child on its own path.
pub(super) fn create_with_owner(kind: &Kind, spec: &Value) -> Value {
    let mut schema = create(kind, spec, None);
    schema["properties"]["owner_references"] = json!({
        "type": "object",
        "description": "Whose child it is.",
        "required": ["id"],
        "properties": {"id": id()},
    });
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.push(json!("owner_references"));
    }
    schema
}

/// What changes a resource.
pub(super) fn patch(kind: &Kind, spec: &Value) -> Value {
    patch_of(spec, &references(kind))
}

/// The same, with a schema for each field. One of them must be given; one that is null counts as not given.
pub(super) fn patch_of(spec: &Value, references: &Value) -> Value {
    let fields = [
        ("spec", spec),
        ("labels", &labels()),
        ("references", references),
    ];
    let or_null = |schema: &Value| json!({"anyOf": [schema, {"enum": [null], "nullable": true}]});
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), or_null(schema)))
        .collect();
    let given: Vec<Value> = fields
        .iter()
        .map(|(name, schema)| json!({"required": [name], "properties": {*name: schema}}))
        .collect();
    json!({
        "type": "object",
        "description": "What to change. Each field that is given replaces the old one whole.",
        "additionalProperties": false,
        "properties": properties,
        "anyOf": given,
    })
}

fn labels() -> Value {
    json!({
        "type": "object",
        "description": "Keys and values in the syntax of Kubernetes.",
        "additionalProperties": reference("LabelValue"),
    })
}

fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

/// References of whatever kind.
pub(super) fn any_references() -> Value {
    let target = target(None);
    json!({"type": "object", "additionalProperties": {"type": "array", "items": target}})
}

fn target(kind: Option<&str>) -> Value {
    let mut named =
        json!({"type": "string", "description": "The kind of the target, if one wants to say it."});
    if let Some(kind) = kind {
        named["enum"] = json!([kind]);
    }
    json!({"type": "object", "required": ["id"], "properties": {"id": id(), "kind": named}})
}

fn references(kind: &Kind) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for rule in &kind.references {
        let mut list = json!({"type": "array", "items": target(Some(&rule.target_kind))});
        if rule.min > 0 {
            list["minItems"] = json!(rule.min);
            required.push(rule.ref_type.as_str());
        }
        if rule.max > 0 {
            list["maxItems"] = json!(rule.max);
        }
        properties.insert(rule.ref_type.clone(), list);
    }
    let mut schema = json!({
        "type": "object",
        "description": "What it points at without owning it.",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
