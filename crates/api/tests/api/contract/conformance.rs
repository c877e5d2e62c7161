//! Answers held against the schemas they are promised with. The API's own reader of OpenAPI documents does the work.

use hyperfleet_api::Entities;
use hyperfleet_runtime::config::Loader;
use serde_json::{Value, json};

use crate::caller::Answer;

pub(super) struct Conformance {
    document: Value,
    schemas: Entities,
}

impl Conformance {
    pub(super) fn new(document: &Value) -> Conformance {
        let directory = tempfile::tempdir().unwrap();
        let names = document["components"]["schemas"]
            .as_object()
            .unwrap()
            .keys();
        // A kind for each schema, whose "specs" are what the schema describes.
        let entities: Vec<Value> = names
            .enumerate()
            .map(|(index, name)| {
                json!({"kind": kind(name), "plural": format!("p{index}"), "spec_schema_name": name})
            })
            .collect();
        let config =
            json!({"server": {"openapi_schema_path": "openapi.json"}, "entities": entities});
        let write = |name: &str, content: &Value| {
            std::fs::write(directory.path().join(name), content.to_string()).unwrap();
        };
        write("openapi.json", document);
        write("config.yaml", &config);
        let file = directory.path().join("config.yaml");
        let loaded = Loader::new("api").file(Some(file)).load().unwrap();
        Conformance {
            document: document.clone(),
            schemas: Entities::load(&loaded).unwrap_or_else(|found| panic!("{found}")),
        }
    }

    /// Fails unless the answer is what was promised.
    pub(super) fn check(&self, id: &str, promised: &Value, answer: &Answer) {
        let promised = match promised["$ref"].as_str() {
            Some(target) => self
                .document
                .pointer(target.trim_start_matches('#'))
                .unwrap(),
            None => promised,
        };
        for name in promised["headers"].as_object().into_iter().flatten() {
            let optional = name.0 == "Idempotency-Replayed";
            assert!(
                optional || answer.headers.contains_key(name.0),
                "{id}: no {}",
                name.0
            );
        }
        let Some(content) = promised["content"].as_object() else {
            assert_eq!(answer.body, Value::Null, "{id}");
            return;
        };
        let given = answer.headers["content-type"].to_str().unwrap();
        let media = content.get(given);
        let media = media.unwrap_or_else(|| panic!("{id} answers {given}: {content:?}"));
        // Where a part can be asked for, the scenario did not: the whole was promised.
        let schema = &media["schema"];
        let schema = schema.pointer("/anyOf/0").unwrap_or(schema);
        let schema = schema["$ref"].as_str();
        if let Some(name) = schema.and_then(|target| target.strip_prefix("#/components/schemas/")) {
            let body = answer.body.as_object().unwrap();
            let errors = self.schemas.schemas.check(&kind(name), body);
            assert_eq!(errors, Ok(()), "{id} against {name}: {}", answer.body);
        }
    }
}

fn kind(schema: &str) -> String {
    let letters: String = schema.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("S{letters}")
}
