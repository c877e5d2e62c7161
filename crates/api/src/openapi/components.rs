//! The schemas of the document: those of the types, and a few more for each kind.

use std::collections::HashMap;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::history::{AuditEntry, HistoryEntry};
use hyperfleet_core::kind::{Kind, Registry};
use hyperfleet_core::problem::Problem;
use hyperfleet_core::resource::Resource;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::bodies::{
    AdapterStatusRequest, ForceDeleteRequest, ResourceCreateRequest, ResourcePatchRequest,
};
use super::downgrade::to_openapi_3_0;
use super::{examples, responses};
use crate::schema::SpecSchemas;

/// What a kind's schemas are called.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) resource: String,
    pub(super) list: String,
    pub(super) create: String,
    pub(super) patch: String,
}

/// All schemas, and which are whose.
pub(super) struct Components {
    schemas: Map<String, Value>,
    names: HashMap<String, Names>,
    any: Names,
}

impl Components {
    pub(super) fn new(kinds: &Registry, specs: &SpecSchemas) -> Components {
        let mut components = Components {
            schemas: of_types(),
            names: HashMap::new(),
            any: Names {
                resource: "Resource".to_owned(),
                list: "ResourceList".to_owned(),
                create: "ResourceCreateRequest".to_owned(),
                patch: "ResourcePatchRequest".to_owned(),
            },
        };
        let list = list_of("Resource");
        components.schemas.insert("ResourceList".to_owned(), list);
        for kind in kinds.kinds() {
            components.add_kind(kind, kinds.parent(kind), specs);
        }
        components
    }

    /// The names for a kind, or for all kinds at once.
    pub(super) fn names(&self, kind: Option<&Kind>) -> &Names {
        kind.and_then(|kind| self.names.get(&kind.kind))
            .unwrap_or(&self.any)
    }

    pub(super) fn into_value(self) -> Value {
        json!({
            "schemas": self.schemas,
            "responses": responses::components(),
            "headers": responses::headers(),
        })
    }

    /// Puts a schema in under the name, or under one like it if that is taken.
    fn put(&mut self, name: &str, schema: Value) -> String {
        let mut free = name.to_owned();
        while self.schemas.contains_key(&free) {
            free.push('_');
        }
        self.schemas.insert(free.clone(), schema);
        free
    }

    fn add_kind(&mut self, kind: &Kind, parent: Option<&Kind>, specs: &SpecSchemas) {
        let name = &kind.kind;
        let spec = self.add_spec(kind, specs);
        let only = json!({"type": "string", "enum": [name]});
        let resource = self.put(
            name,
            json!({"allOf": [reference("Resource"), {"properties": {"kind": only, "spec": spec}}]}),
        );
        let mut create = self.schemas["ResourceCreateRequest"].clone();
        create["description"] = json!(format!("A {name} to be made."));
        create["properties"]["kind"] = only;
        create["properties"]["spec"] = spec.clone();
        create["properties"]["references"] = references(kind);
        create["properties"]["name"] = json!({
            "type": "string",
            "minLength": kind.name_min_len.max(1),
            "maxLength": kind.longest_name(),
            "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        });
        let mut required = vec!["kind", "name", "spec"];
        if kind.references.iter().any(|rule| rule.min > 0) {
            required.push("references");
        }
        create["required"] = json!(required);
        if parent.is_none()
            && let Some(Value::Object(properties)) = create.get_mut("properties")
        {
            properties.remove("owner_references");
        }
        if let Some(example) = examples::create(kind, specs) {
            create["example"] = example;
        }
        let mut patch = self.schemas["ResourcePatchRequest"].clone();
        patch["properties"]["spec"] = spec;
        patch["properties"]["references"] = references(kind);
        patch["minProperties"] = json!(1);
        let names = Names {
            list: self.put(&format!("{name}List"), list_of(&resource)),
            create: self.put(&format!("{name}CreateRequest"), create),
            patch: self.put(&format!("{name}PatchRequest"), patch),
            resource,
        };
        self.names.insert(name.clone(), names);
    }

    /// The schema of a kind's specs, with its definitions beside it.
    fn add_spec(&mut self, kind: &Kind, specs: &SpecSchemas) -> Value {
        let Some(schema) = specs.get(&kind.kind) else {
            return json!({"type": "object", "additionalProperties": true});
        };
        let document = schema.document();
        let own = match &kind.spec_schema_name {
            Some(name) => name.clone(),
            None => format!("{}Spec", kind.kind),
        };
        let root = self.put(&own, json!({}));
        let mut places = HashMap::from([("#".to_owned(), root.clone())]);
        for group in ["$defs", "definitions"] {
            let definitions = document.get(group).and_then(Value::as_object);
            for name in definitions.into_iter().flat_map(Map::keys) {
                let readable: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
                let put = self.put(&format!("{root}{readable}"), json!({}));
                places.insert(format!("#/{group}/{name}"), put);
            }
        }
        let place = |target: &str| {
            let name = places.get(target)?;
            Some(format!("#/components/schemas/{name}"))
        };
        for (target, name) in &places {
            let pointer = target.trim_start_matches('#');
            let part = document.pointer(pointer).unwrap_or(document);
            self.schemas
                .insert(name.clone(), to_openapi_3_0(part, &place));
        }
        reference(&root)
    }
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn of_types() -> Map<String, Value> {
    let mut answers = generator(Contract::Serialize);
    answers.subschema_for::<Resource>();
    answers.subschema_for::<AdapterStatus>();
    answers.subschema_for::<HistoryEntry>();
    answers.subschema_for::<AuditEntry>();
    answers.subschema_for::<Problem>();
    let mut requests = generator(Contract::Deserialize);
    requests.subschema_for::<ResourceCreateRequest>();
    requests.subschema_for::<ResourcePatchRequest>();
    requests.subschema_for::<ForceDeleteRequest>();
    requests.subschema_for::<AdapterStatusRequest>();
    let mut schemas = requests.take_definitions(true);
    // Types that occur in both are the same in both; what answers say of them is more.
    let mut answered = answers.take_definitions(true);
    answered.values_mut().for_each(never_null);
    schemas.extend(answered);
    schemas.insert("History".to_owned(), responses::newest("HistoryEntry"));
    schemas.insert("AuditLog".to_owned(), responses::newest("AuditEntry"));
    schemas.insert("StatusDocument".to_owned(), responses::status_document());
    schemas.insert("Metadata".to_owned(), responses::metadata());
    schemas["Resource"]["example"] = examples::resource();
    schemas["AdapterStatusRequest"]["example"] = examples::report();
    schemas["ForceDeleteRequest"]["example"] =
        json!({"reason": "the cloud account behind it is closed"});
    // A field that is null counts as not given, and one must be.
    never_null(&mut schemas["ResourcePatchRequest"]);
    schemas["ResourcePatchRequest"]["minProperties"] = json!(1);
    schemas
}

/// Optional fields of the schema are left out, not null.
fn never_null(schema: &mut Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for property in properties.values_mut() {
        let Value::Object(property) = property else {
            continue;
        };
        property.remove("nullable");
        let alone = property.len() == 1;
        let Some(Value::Array(forms)) = property.get_mut("anyOf") else {
            continue;
        };
        forms.retain(|form| form.get("enum") != Some(&json!([null])));
        if let ([only], true) = (forms.as_slice(), alone) {
            *property = only.as_object().cloned().unwrap_or_default();
        }
    }
}

fn generator(contract: Contract) -> SchemaGenerator {
    SchemaSettings::openapi3()
        .with(|settings| settings.contract = contract)
        .into_generator()
}

/// A page of a list. With `fields` its items hold only what was asked for.
fn list_of(item: &str) -> Value {
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "page": {"type": "integer", "minimum": 1, "description": "The page asked for."},
            "size": {"type": "integer", "minimum": 0, "description": "How many items this page holds."},
            "total": {"type": "integer", "minimum": 0, "description": "How many items there are on all pages."},
            "items": {"type": "array", "items": reference(item)},
        },
    })
}

fn references(kind: &Kind) -> Value {
    let rules = kind.references.iter().map(|rule| {
        let mut list = json!({"type": "array", "items": reference("ReferenceRequest")});
        if rule.min > 0 {
            list["minItems"] = json!(rule.min);
        }
        if rule.max > 0 {
            list["maxItems"] = json!(rule.max);
        }
        (rule.ref_type.clone(), list)
    });
    let properties: Map<String, Value> = rules.collect();
    let required: Vec<&str> = kind
        .references
        .iter()
        .filter(|rule| rule.min > 0)
        .map(|rule| rule.ref_type.as_str())
        .collect();
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}
