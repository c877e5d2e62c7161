//! The schemas of the document: those of the types, and a few more for each kind.

use std::collections::HashMap;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::audit_note::AuditNote;
use hyperfleet_core::history::{AuditEntry, HistoryEntry};
use hyperfleet_core::kind::{Kind, Registry};
use hyperfleet_core::presence::{Announcement, Presence, Standing};
use hyperfleet_core::problem::Problem;
use hyperfleet_core::resource::Resource;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::bodies::{AdapterStatusRequest, AdapterStatusesRequest, ForceDeleteRequest, LabelValue};
use super::downgrade::to_openapi_3_0;
use super::{examples, metadata, of_kind, responses};
use crate::can_i::Permission;
use crate::schema::SpecSchemas;

/// What a kind's schemas are called.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) resource: String,
    pub(super) list: String,
    pub(super) create: String,
    /// Creates it on its own path, where a child says whose it is.
    pub(super) flat: String,
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
                flat: "ResourceCreateRequest".to_owned(),
                patch: "ResourcePatchRequest".to_owned(),
            },
        };
        let list = list_of("Resource");
        components.schemas.insert("ResourceList".to_owned(), list);
        for kind in kinds.kinds() {
            components.add_kind(kind, kinds.parent(kind), specs);
        }
        components.add_any(kinds);
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
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
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

    /// What creates any kind is what creates one of them.
    fn add_any(&mut self, kinds: &Registry) {
        let requests: Vec<String> = kinds
            .kinds()
            .iter()
            .map(|kind| self.names(Some(kind)).flat.clone())
            .collect();
        let mapping: Map<String, Value> = kinds
            .kinds()
            .iter()
            .zip(&requests)
            .map(|(kind, name)| (kind.kind.clone(), reference(name)["$ref"].clone()))
            .collect();
        let forms: Vec<Value> = requests.iter().map(|name| reference(name)).collect();
        let any = json!({
            "description": "A resource to be made.",
            "oneOf": forms,
            "discriminator": {"propertyName": "kind", "mapping": mapping},
        });
        self.schemas.insert("ResourceCreateRequest".to_owned(), any);
    }

    fn add_kind(&mut self, kind: &Kind, parent: Option<&Kind>, specs: &SpecSchemas) {
        let name = &kind.kind;
        let spec = self.add_spec(kind, specs);
        let only = json!({"type": "string", "enum": [name]});
        let resource = self.put(
            name,
            json!({"allOf": [reference("Resource"), {"properties": {"kind": only, "spec": spec}}]}),
        );
        let create = of_kind::create(kind, &spec, examples::create(kind, specs));
        let create = self.put(&format!("{name}CreateRequest"), create);
        let flat = match parent {
            None => create.clone(),
            Some(_) => self.put(
                &format!("{name}CreateRequestWithOwner"),
                of_kind::create_with_owner(kind, &spec),
            ),
        };
        let names = Names {
            list: self.put(&format!("{name}List"), list_of(&resource)),
            create,
            flat,
            patch: self.put(&format!("{name}PatchRequest"), of_kind::patch(kind, &spec)),
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
        // Whatever else a schema says, a spec is an object.
        let spec = &mut self.schemas[&root];
        if spec.get("type").is_none() && spec.get("$ref").is_none() {
            spec["type"] = json!("object");
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
    answers.subschema_for::<Presence>();
    answers.subschema_for::<Standing>();
    answers.subschema_for::<Permission>();
    let mut requests = generator(Contract::Deserialize);
    requests.subschema_for::<LabelValue>();
    requests.subschema_for::<ForceDeleteRequest>();
    requests.subschema_for::<AdapterStatusRequest>();
    requests.subschema_for::<AdapterStatusesRequest>();
    requests.subschema_for::<Announcement>();
    requests.subschema_for::<AuditNote>();
    let mut schemas = requests.take_definitions(true);
    // Types that occur in both are the same in both; what answers say of them is more.
    let mut answered = answers.take_definitions(true);
    answered.values_mut().for_each(never_null);
    schemas.extend(answered);
    schemas.insert("History".to_owned(), responses::newest("HistoryEntry"));
    schemas.insert("AuditLog".to_owned(), responses::newest("AuditEntry"));
    schemas.insert("StatusDocument".to_owned(), responses::status_document());
    let reports = responses::status_list();
    schemas.insert("AdapterStatusList".to_owned(), reports);
    schemas.insert("Metadata".to_owned(), metadata::schema());
    schemas.insert("Sentinels".to_owned(), responses::sentinels());
    schemas["Resource"]["example"] = examples::resource();
    schemas["AdapterStatusRequest"]["example"] = examples::report();
    schemas["ForceDeleteRequest"]["example"] =
        json!({"reason": "the cloud account behind it is closed"});
    let any = json!({"type": "object", "additionalProperties": true});
    schemas.insert(
        "PartOfResource".to_owned(),
        json!({
            "type": "object",
            "description": "The members of a resource that were asked for with `fields`.",
            "required": ["id"],
            "properties": {"id": reference("ResourceId")},
            "additionalProperties": true,
        }),
    );
    schemas.insert(
        "ResourcePatchRequest".to_owned(),
        of_kind::patch_of(&any, &of_kind::any_references()),
    );
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

/// A page of a list, or a stretch of it.
fn list_of(item: &str) -> Value {
    let count =
        |description: &str| json!({"type": "integer", "minimum": 0, "description": description});
    let token = |description: &str| json!({"type": "string", "description": description});
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "page": count("The page asked for, from 1."),
            "size": count("How many items this page holds."),
            "total": count("How many items there are on all pages."),
            "items": {"type": "array", "items": responses::whole_or_part(item)},
            "continue": token("With `limit`: asks for the next stretch; absent on the last one."),
            "since": token("With `limit`: where to watch from so that nothing is missed."),
        },
    })
}
