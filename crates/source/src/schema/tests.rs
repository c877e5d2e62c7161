#![expect(
    dead_code,
    reason = "the structs are only looked at through their schema"
)]

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};

use super::*;
use crate::{SourceFile, yaml};

/// The whole configuration.
#[derive(JsonSchema)]
struct Config {
    /// Where to listen.
    server: Server,
    backup: Option<Server>,
    rules: Vec<Rule>,
    labels: BTreeMap<String, String>,
    servers: BTreeMap<String, Server>,
    free: serde_json::Value,
    free_map: serde_json::Map<String, serde_json::Value>,
    store: Store,
    backend: Backend,
    #[schemars(extend("x-aliases" = ["maxAge"]))]
    max_age: Option<u32>,
    format: Format,
    tags: Vec<String>,
    #[serde(flatten)]
    extra: Extra,
}

#[derive(JsonSchema)]
struct Server {
    /// TCP port.
    port: u16,
    base_url: String,
    tree: Option<Box<Server>>,
}

#[derive(JsonSchema)]
struct Rule {
    name: String,
    when: Option<bool>,
}

#[derive(JsonSchema)]
struct Extra {
    flat_key: bool,
}

/// Internally tagged.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Store {
    Memory { size: u8 },
    Disk { path: String },
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Backend {
    Rabbit { url: String },
    Pubsub(Rule),
}

/// Documented words.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// For machines.
    Json,
    /// For people.
    Text,
}

fn check_text(text: &str) -> Vec<String> {
    let tree = yaml::parse(&SourceFile::new("c.yaml", text)).unwrap();
    unknown_keys(&tree, &schema_for!(Config))
        .into_iter()
        .map(|found| {
            format!(
                "{}: {}; {}",
                found.location(),
                found.message,
                found.help.unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn known_keys_pass_through_every_kind_of_schema() {
    let text = "\
server: {port: 1, tree: {port: 2, tree: {base_url: x}}}
backup: {base_url: y}
rules: [{name: a}, {when: true}]
labels: {anything: goes}
servers: {any: {port: 1}}
free: {a: {b: [c: 1]}}
free_map: {a: {b: 1}}
store: {kind: disk, path: p}
backend: {rabbit: {url: u}}
maxAge: 1
flat_key: true
";
    assert_eq!(check_text(text), Vec::<String>::new());
}

#[test]
fn every_unknown_key_is_found_at_once_with_the_nearest_known_one() {
    let text = "\
server: {prot: 1, tree: {tree: {baseUrl: x}}}
backup: {bass_url: y}
rules: [{nmae: a}]
servers: {any: {colour: 1}}
flatkey: true
backend: {rabbit: {ulr: u}, pubsub: {whn: 1}}
";
    assert_eq!(
        check_text(text),
        [
            "c.yaml:1:10: unknown key `prot`; did you mean `port`?",
            "c.yaml:1:33: unknown key `baseUrl`; did you mean `base_url`?",
            "c.yaml:2:10: unknown key `bass_url`; did you mean `base_url`?",
            "c.yaml:3:10: unknown key `nmae`; did you mean `name`?",
            "c.yaml:4:17: unknown key `colour`; known names here: `base_url`, `port`, `tree`",
            "c.yaml:5:1: unknown key `flatkey`; did you mean `flat_key`?",
            "c.yaml:6:20: unknown key `ulr`; did you mean `url`?",
            "c.yaml:6:38: unknown key `whn`; did you mean `when`?",
        ]
    );
}

#[test]
fn a_tagged_variant_allows_only_its_own_keys() {
    assert_eq!(
        check_text("store: {kind: memory, path: p}"),
        ["c.yaml:1:23: unknown key `path`; known names here: `kind`, `size`"]
    );
    // With an unknown tag, which is another mistake, the keys of all variants pass.
    assert_eq!(
        check_text("store: {kind: tape, path: p}"),
        Vec::<String>::new()
    );
}

#[test]
fn settable_keys_are_listed_with_their_kind_and_description() {
    let all = leaves(&schema_for!(Config));
    let leaf = |path: &str| {
        all.iter()
            .find(|leaf| leaf.dotted() == path)
            .cloned()
            .unwrap()
    };
    assert_eq!(leaf("server.port").kind, Kind::Integer);
    assert_eq!(
        leaf("server.port").description.as_deref(),
        Some("TCP port.")
    );
    assert_eq!(leaf("backup.base_url").kind, Kind::String);
    assert_eq!(leaf("max_age").kind, Kind::Integer);
    assert_eq!(leaf("format").kind, Kind::String);
    assert_eq!(leaf("flat_key").kind, Kind::Bool);
    assert_eq!(leaf("tags").kind, Kind::List(Box::new(Kind::String)));
    assert_eq!(leaf("rules").kind, Kind::Structured);
    assert_eq!(leaf("labels").kind, Kind::Structured);
}
