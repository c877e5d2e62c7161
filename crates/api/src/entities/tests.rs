use std::path::PathBuf;

use hyperfleet_runtime::config::Loader;
use serde_json::{Value, json};

use super::*;

/// Files of one configuration, `config.yaml` among them.
fn load(files: &[(&str, &str)]) -> Result<Entities, String> {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let file = directory.path().join("config.yaml");
    let loaded = Loader::new("api").file(Some(file)).load().unwrap();
    let prefix = format!("{}/", directory.path().display());
    Entities::load(&loaded).map_err(|found| found.to_string().replace(&prefix, ""))
}

/// The first line of every finding.
fn headlines(told: &str) -> Vec<&str> {
    told.lines()
        .filter(|line| line.contains(": error: "))
        .collect()
}

fn spec(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn every_mistake_about_kinds_is_told_at_once_with_its_place() {
    let told = load(&[(
        "config.yaml",
        "\
entities:
- kind: Cluster
  plural: clusters
  references:
  - {ref_type: wif, target_kind: WifConfg, min: 2, max: 1}
- kind: NodePool
  plural: clusters
  parent_kind: Clutser
  on_parent_delete: cascade
- kind: WifConfig
  plural: wifconfigs
  require_spec_schema: true
- kind: Channel
  plural: channels
  spec_schema:
    type: objekt
    properties:
      url: {$ref: 'https://example.com/url.json'}
      name: {type: string, pattern: '(a'}
",
    )])
    .unwrap_err();
    insta::assert_snapshot!(told);
}

#[test]
fn schema_files_are_found_beside_the_configuration_and_tell_their_own_places() {
    let config = "\
entities:
- {kind: A, plural: as, spec_schema_file: a.yaml}
- {kind: B, plural: bs, spec_schema_file: missing.json}
- {kind: C, plural: cs, spec_schema_file: c.json}
- {kind: D, plural: ds, spec_schema_file: d.yaml}
- {kind: E, plural: es, spec_schema_file: a.yaml, spec_schema: {}}
";
    let told = load(&[
        ("config.yaml", config),
        ("a.yaml", "type: object\nrequired: [region]\n"),
        ("c.json", "{\"type\": \"object\",\n \"minProperties\": -1}"),
        ("d.yaml", "- not a mapping\n"),
    ])
    .unwrap_err();
    assert_eq!(
        headlines(&told),
        [
            "c.json:2:19: error: not a valid schema: this must be at least 0",
            "config.yaml:3:43: error: cannot read the schema file missing.json: No such file or directory (os error 2)",
            "config.yaml:6:43: error: kind `E` has both `spec_schema` and `spec_schema_file`; only one can be its schema",
            "d.yaml:1:1: error: a schema is a mapping, found a list",
        ]
    );
}

const OPENAPI: &str = "\
openapi: 3.0.3
info: {title: t, version: '1'}
paths: {}
components:
  schemas:
    ClusterSpec:
      type: object
      required: [gcp]
      properties:
        gcp: {$ref: '#/components/schemas/Gcp'}
    Gcp:
      type: object
      required: [region]
      properties:
        region: {type: string, nullable: true}
        parent: {$ref: '#/components/schemas/Gcp'}
    Broken: {type: object, properties: {a: {$ref: '#/components/schemas/Nowhere'}}}
";

#[test]
fn a_kind_can_name_a_schema_of_an_openapi_document() {
    let config = "\
server: {openapi_schema_path: openapi.yaml}
entities:
- {kind: Cluster, plural: clusters, spec_schema_name: ClusterSpec, require_spec_schema: true}
- {kind: Free, plural: frees, spec_schema_name: FreeSpec}
";
    let entities = load(&[("config.yaml", config), ("openapi.yaml", OPENAPI)]).unwrap();
    let check = |value: Value| entities.schemas.check("Cluster", &spec(value));
    assert_eq!(check(json!({"gcp": {"region": null}})), Ok(()));
    let errors = check(json!({"gcp": {"parent": {"region": 1}}})).unwrap_err();
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["spec.gcp.region", "spec.gcp.parent.region"]);
    assert_eq!(
        entities.schemas.check("Free", &spec(json!({"any": 1}))),
        Ok(())
    );
    assert_eq!(entities.warnings.len(), 1);
    assert!(
        entities.warnings[0].contains("schema `FreeSpec` of kind `Free`")
            && entities.warnings[0].contains("its specs are not checked"),
        "{}",
        entities.warnings[0]
    );
}

#[test]
fn a_required_schema_must_be_there_and_valid() {
    let config = "\
server: {openapi_schema_path: openapi.yaml}
entities:
- {kind: A, plural: as, spec_schema_name: ClusterSpce, require_spec_schema: true}
- {kind: B, plural: bs, spec_schema_name: Broken}
";
    let told = load(&[("config.yaml", config), ("openapi.yaml", OPENAPI)]).unwrap_err();
    assert_eq!(
        headlines(&told),
        [
            "config.yaml:3:43: error: schema `ClusterSpce` of kind `A`: openapi.yaml has no such schema",
            "openapi.yaml:17:51: error: not a valid schema: there is no `#/components/schemas/Nowhere`",
        ]
    );
    assert!(told.contains("did you mean `ClusterSpec`?"), "{told}");
    let without =
        "entities: [{kind: A, plural: as, spec_schema_name: X, require_spec_schema: true}]";
    let told = load(&[("config.yaml", without)]).unwrap_err();
    assert!(told.contains("server.openapi_schema_path"), "{told}");
    let unreadable = "server: {openapi_schema_path: no.yaml}\nentities: [{kind: A, plural: as, spec_schema_name: X}]";
    let told = load(&[("config.yaml", unreadable)]).unwrap_err();
    assert_eq!(headlines(&told).len(), 1, "{told}");
    let swagger = "server: {openapi_schema_path: old.yaml}";
    let told = load(&[("config.yaml", swagger), ("old.yaml", "swagger: '2.0'\n")]).unwrap_err();
    assert!(told.contains("no OpenAPI 3 document"), "{told}");
}

#[test]
fn a_word_that_schemas_do_not_have_is_worth_a_warning() {
    let config = "\
entities:
- kind: A
  plural: as
  spec_schema:
    requred: [a]
    properties:
      nullable: {type: string, nullable: true, x-note: fine}
";
    let entities = load(&[("config.yaml", config)]).unwrap();
    let warnings = entities.warnings.join("\n");
    assert_eq!(entities.warnings.len(), 2, "{warnings}");
    assert!(warnings.contains("did you mean `required`?"), "{warnings}");
    assert!(warnings.contains("`nullable` is OpenAPI 3.0"), "{warnings}");
}

#[test]
fn the_example_configuration_can_be_served() {
    let file = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/entities-example.yaml"
    ));
    let loaded = Loader::new("api").file(Some(file)).load().unwrap();
    let entities = Entities::load(&loaded).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(entities.warnings, Vec::<String>::new());
    let kinds = entities.kinds.kinds().iter();
    let names: Vec<&str> = kinds.map(|kind| kind.kind.as_str()).collect();
    assert_eq!(
        names,
        ["Cluster", "NodePool", "Channel", "Version", "WifConfig"]
    );
    let refused = entities
        .schemas
        .check("Cluster", &spec(json!({"nodes": 0})));
    assert!(refused.is_err());
}

#[test]
fn mistakes_in_conditions_and_in_the_aggregation_file_are_told_at_their_places() {
    let told = load(&[
        (
            "config.yaml",
            "\
api: {aggregation_file: aggregation.yaml}
entities:
- kind: Cluster
  plural: clusters
  conditions:
  - type: Ready
    when: {expression: 'true'}
    output:
      status: {expression: 'statues.size() > 0'}
      reason: {expression: '\"R\"'}
",
        ),
        (
            "aggregation.yaml",
            "\
clusterConditions:
- type: A
  evaluate: {expr: 'any(allAdapters, {.health = \"False\"})'}
",
        ),
    ])
    .unwrap_err();
    assert_eq!(
        headlines(&told),
        [
            "aggregation.yaml:3:47: error: in the rule: expected `}`",
            "config.yaml:6:11: error: the type `Ready` is reserved",
            "config.yaml:9:29: error: in the expression: unknown variable `statues`",
        ]
    );
    let unreadable = "api: {aggregation_file: no.yaml}";
    let told = load(&[("config.yaml", unreadable)]).unwrap_err();
    assert!(
        told.starts_with("config.yaml:1:25: error: cannot read no.yaml"),
        "{told}"
    );
}
