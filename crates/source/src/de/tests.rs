use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{SourceFile, yaml};

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(default)]
struct Config {
    server: Server,
    names: Vec<String>,
    limits: BTreeMap<String, u8>,
    level: Level,
    backend: Option<Backend>,
    pair: Option<(u8, u8)>,
}

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(default)]
struct Server {
    port: u16,
    version: String,
    tls: bool,
}

#[derive(Debug, Deserialize, PartialEq, Default)]
#[serde(rename_all = "lowercase")]
enum Level {
    #[default]
    Info,
    Debug,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Backend {
    Memory,
    Rabbit { url: String },
    Weight(u8),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[expect(dead_code, reason = "only its presence is tested")]
    name: String,
}

fn config(text: &str) -> Config {
    yaml::parse(&SourceFile::new("c.yaml", text))
        .unwrap()
        .deserialize()
        .unwrap()
}

fn fail(text: &str) -> String {
    let tree = yaml::parse(&SourceFile::new("c.yaml", text)).unwrap();
    tree.deserialize::<Config>().unwrap_err().to_string()
}

#[test]
fn a_file_becomes_a_struct() {
    let read = config(
        "server: {port: 80, version: 1.10}\nnames: [a, 2]\nlimits: {x: 1}\nlevel: debug\n\
         backend: {rabbit: {url: u}}\npair: [1, 2]\n",
    );
    assert_eq!(
        read.server,
        Server {
            port: 80,
            version: "1.10".into(),
            tls: false
        }
    );
    assert_eq!(read.names, ["a", "2"]);
    assert_eq!(read.limits["x"], 1);
    assert_eq!(read.level, Level::Debug);
    assert_eq!(read.backend, Some(Backend::Rabbit { url: "u".into() }));
    assert_eq!(read.pair, Some((1, 2)));
    assert_eq!(config("backend: memory").backend, Some(Backend::Memory));
    assert_eq!(config("backend: {memory: }").backend, Some(Backend::Memory));
    assert_eq!(
        config("backend: {weight: 3}").backend,
        Some(Backend::Weight(3))
    );
}

#[test]
fn a_section_left_empty_is_its_default() {
    assert_eq!(config(""), Config::default());
    assert_eq!(
        config("server:\nnames:\nlimits:\nbackend:\n"),
        Config::default()
    );
}

#[test]
fn a_wrong_type_points_at_the_value() {
    let text = fail("server:\n  port: high\n");
    assert!(
        text.starts_with("c.yaml:2:9: error: expected u16, found the string \"high\""),
        "{text}"
    );
    let text = fail("server:\n  port: 70000\n");
    assert!(
        text.starts_with("c.yaml:2:9: error: expected u16, found the integer `70000`"),
        "{text}"
    );
    let text = fail("names: [a, {b: 1}]\n");
    assert!(
        text.starts_with("c.yaml:1:12: error: expected a string, found a mapping"),
        "{text}"
    );
    let text = fail("server: [1]\n");
    assert!(text.starts_with("c.yaml:1:9: error"), "{text}");
    let text = fail("limits: {x: 1, y: 300}\n");
    assert!(text.starts_with("c.yaml:1:19: error"), "{text}");
}

#[test]
fn usual_mistakes_get_help() {
    let text = fail("server:\n  tls: yes\n");
    assert!(
        text.ends_with("help: write `true` or `false`, without quotes"),
        "{text}"
    );
    let text = fail("server:\n  port:\n");
    assert!(
        text.ends_with("help: give a value, or remove the key to use the default"),
        "{text}"
    );
}

#[test]
fn an_unknown_variant_names_the_nearest() {
    let text = fail("level: debgu\n");
    assert!(
        text.starts_with("c.yaml:1:8: error: unknown value `debgu`"),
        "{text}"
    );
    assert!(text.ends_with("help: did you mean `debug`?"), "{text}");
    let text = fail("backend: {rabit: {}}\n");
    assert!(
        text.starts_with("c.yaml:1:11: error: unknown value `rabit`"),
        "{text}"
    );
    let text = fail("backend: {a: 1, b: 2}\n");
    assert!(text.contains("exactly one key"), "{text}");
    let text = fail("backend: {memory: 1}\n");
    assert!(text.contains("this takes no value"), "{text}");
}

#[test]
fn a_missing_field_points_at_the_key_of_the_mapping_that_lacks_it() {
    let text = fail("names: []\nbackend:\n  rabbit:\n    other: 1\n");
    assert!(
        text.starts_with("c.yaml:2:1: error: the key `url` is missing"),
        "{text}"
    );
    let tree = yaml::parse(&SourceFile::new("c.yaml", "{}")).unwrap();
    let text = tree.deserialize::<Strict>().unwrap_err().to_string();
    assert!(
        text.starts_with("c.yaml:1:1: error: the key `name` is missing"),
        "{text}"
    );
}

#[test]
fn an_unknown_field_of_a_strict_struct_points_at_the_key() {
    let tree = yaml::parse(&SourceFile::new("c.yaml", "nmae: x")).unwrap();
    let text = tree.deserialize::<Strict>().unwrap_err().to_string();
    assert!(
        text.starts_with("c.yaml:1:1: error: unknown key `nmae`"),
        "{text}"
    );
    assert!(
        text.ends_with("help: did you mean `name`?") || text.ends_with("`name`"),
        "{text}"
    );
}

#[test]
fn a_tuple_of_the_wrong_length_is_refused() {
    let text = fail("pair: [1, 2, 3]\n");
    assert!(
        text.starts_with("c.yaml:1:14: error: this item is one too many"),
        "{text}"
    );
    assert!(fail("pair: [1]\n").starts_with("c.yaml:1:7: error"));
}
