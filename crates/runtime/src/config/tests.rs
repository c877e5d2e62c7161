use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::{GoDuration, Secret};

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Config {
    server: Server,
    database: Database,
    clients: Clients,
    #[serde(skip_serializing_if = "Option::is_none")]
    maestro: Option<Maestro>,
    labels: BTreeMap<String, String>,
    tags: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Server {
    /// TCP port.
    port: u16,
    timeout: GoDuration,
    tls: bool,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            port: 8000,
            timeout: GoDuration::from_secs(5),
            tls: false,
        }
    }
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Database {
    url: String,
    password: Secret,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Clients {
    hyperfleet_api: Api,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Api {
    base_url: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Maestro {
    address: String,
}

struct Fixture(tempfile::TempDir);

impl Fixture {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.yaml"), text).unwrap();
        Self(dir)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("config.yaml")
    }

    fn loader(&self) -> Loader {
        Loader::new("test").file(Some(self.path()))
    }
}

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn fail(loader: &Loader) -> String {
    loader.load::<Config>().unwrap_err().to_string()
}

#[test]
fn without_anything_the_defaults_hold() {
    let loaded = Loader::new("test").load::<Config>().unwrap();
    assert_eq!(loaded.value, Config::default());
    assert!(loaded.origins.is_empty() && loaded.file.is_none());
}

#[test]
fn an_empty_file_is_fine() {
    let fixture = Fixture::new("# nothing\n");
    assert_eq!(
        fixture.loader().load::<Config>().unwrap().value,
        Config::default()
    );
}

#[test]
fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
    let fixture = Fixture::new("server: {port: 1, timeout: 1s}\n");
    let file = fixture.loader();
    assert_eq!(file.load::<Config>().unwrap().value.server.port, 1);
    let with_env = file.env(env(&[
        ("HYPERFLEET_SERVER_PORT", "2"),
        ("HYPERFLEET_SERVER_TLS", "1"),
    ]));
    assert_eq!(with_env.load::<Config>().unwrap().value.server.port, 2);
    let with_flag = with_env
        .flag("server.port", Some(3))
        .flag("server.tls", None::<bool>);
    let loaded = with_flag.load::<Config>().unwrap();
    assert_eq!(loaded.value.server.port, 3);
    assert_eq!(loaded.value.server.timeout, GoDuration::from_secs(1));
    assert!(loaded.value.server.tls);
    assert_eq!(
        loaded.origins["server.port"].to_string(),
        "flag --server-port"
    );
    assert_eq!(
        loaded.origins["server.tls"].to_string(),
        "environment HYPERFLEET_SERVER_TLS"
    );
    assert_eq!(
        loaded.origins["server.timeout"].to_string(),
        format!("{}:1", fixture.path().display())
    );
}

#[test]
fn aliases_win_over_generic_names_and_earlier_ones_over_later() {
    let loader = Loader::new("test")
        .env_alias("HYPERFLEET_API_BASE_URL", "clients.hyperfleet_api.base_url")
        .env_alias("API_BASE_URL", "clients.hyperfleet_api.base_url")
        .env(env(&[(
            "HYPERFLEET_CLIENTS_HYPERFLEET_API_BASE_URL",
            "generic",
        )]));
    let read = |loader: &Loader| {
        loader
            .load::<Config>()
            .unwrap()
            .value
            .clients
            .hyperfleet_api
            .base_url
    };
    assert_eq!(read(&loader), "generic");
    let loader = loader.env(env(&[("API_BASE_URL", "legacy")]));
    assert_eq!(read(&loader), "legacy");
    let loader = loader.env(env(&[("HYPERFLEET_API_BASE_URL", "alias")]));
    assert_eq!(read(&loader), "alias");
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let loader = Loader::new("test").env(env(&[("HYPERFLEET_SERVER_PORT", "")]));
    assert_eq!(loader.load::<Config>().unwrap().value.server.port, 8000);
}

#[test]
fn variables_are_read_by_the_type_of_their_key() {
    let loader = Loader::new("test").env(env(&[
        ("HYPERFLEET_SERVER_TIMEOUT", "1m30s"),
        ("HYPERFLEET_TAGS", "a, b,,c"),
        ("HYPERFLEET_LABELS", "{x: y}"),
        ("HYPERFLEET_DATABASE_PASSWORD", "12345"),
        ("HYPERFLEET_MAESTRO_ADDRESS", "host:1"),
    ]));
    let config = loader.load::<Config>().unwrap().value;
    assert_eq!(config.server.timeout, GoDuration::from_secs(90));
    assert_eq!(config.tags, ["a", "b", "c"]);
    assert_eq!(config.labels["x"], "y");
    assert_eq!(config.database.password.expose(), "12345");
    assert_eq!(
        config.maestro,
        Some(Maestro {
            address: "host:1".into()
        })
    );
}

#[test]
fn a_wrong_value_names_its_variable_or_flag() {
    let loader = Loader::new("test").env(env(&[("HYPERFLEET_SERVER_PORT", "http")]));
    let text = fail(&loader);
    assert!(
        text.starts_with("environment HYPERFLEET_SERVER_PORT: error: expected u16"),
        "{text}"
    );
    let text = fail(&loader.flag("server.port", Some("70000")));
    assert!(
        text.starts_with("flag --server-port: error: expected u16"),
        "{text}"
    );
    let text = fail(&Loader::new("test").env(env(&[("HYPERFLEET_SERVER_TIMEOUT", "10")])));
    assert!(
        text.contains("has no unit; write for example `10s`"),
        "{text}"
    );
}

#[test]
fn every_unknown_key_is_reported_with_line_and_column() {
    let fixture = Fixture::new("server:\n  prot: 1\ndatabse: {}\n");
    let text = fail(&fixture.loader());
    assert!(
        text.contains("config.yaml:2:3: error: unknown key `prot`"),
        "{text}"
    );
    assert!(text.contains("help: did you mean `port`?"), "{text}");
    assert!(
        text.contains("config.yaml:3:1: error: unknown key `databse`"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_no_mapping_or_misuses_a_section_is_refused() {
    let fixture = Fixture::new("- a\n");
    assert!(fail(&fixture.loader()).contains("expected a mapping of keys to values, found a list"));
    let fixture = Fixture::new("server: 8000\n");
    let loader = fixture
        .loader()
        .env(env(&[("HYPERFLEET_SERVER_PORT", "1")]));
    assert!(fail(&loader).contains("config.yaml:1:9: error: expected a mapping"));
}

#[test]
fn a_file_that_was_named_must_exist() {
    let missing = PathBuf::from("/nonexistent/config.yaml");
    let text = fail(&Loader::new("test").file(Some(missing)));
    assert!(
        text.starts_with(
            "cannot read the test configuration /nonexistent/config.yaml (from flag --config)"
        ),
        "{text}"
    );
    let text = fail(&Loader::new("test").env(env(&[("HYPERFLEET_CONFIG", "/nonexistent/x")])));
    assert!(
        text.contains("(from environment HYPERFLEET_CONFIG)"),
        "{text}"
    );
    let text = fail(&Loader::new("test").file(Some(PathBuf::from("/"))));
    assert!(text.starts_with("cannot read"), "{text}");
}

#[test]
fn the_first_existing_default_path_is_read() {
    let fixture = Fixture::new("server: {port: 7}\n");
    let loader = Loader::new("test").search([PathBuf::from("/nonexistent"), fixture.path()]);
    let loaded = loader.load::<Config>().unwrap();
    assert_eq!(loaded.value.server.port, 7);
    assert_eq!(loaded.file, Some(fixture.path()));
    let nothing = Loader::new("test").search(["/nonexistent"]);
    assert_eq!(nothing.load::<Config>().unwrap().value, Config::default());
}

#[test]
fn a_variable_that_looks_misspelt_is_remarked_on_and_others_are_not() {
    let loader = Loader::new("test").env(env(&[
        ("HYPERFLEET_SERVER_PROT", "1"),
        ("HYPERFLEET_BROKER_TOPIC", "x"),
        ("HYPERFLEET_HOME", "/x"),
        ("PATH", "/bin"),
    ]));
    assert_eq!(
        loader.load::<Config>().unwrap().warnings,
        [
            "the environment variable HYPERFLEET_SERVER_PROT is not known; did you mean HYPERFLEET_SERVER_PORT?"
        ]
    );
}

#[test]
fn an_alias_for_a_key_that_does_not_exist_is_our_own_mistake() {
    let loader = Loader::new("test")
        .env_alias("X", "no.such")
        .env(env(&[("X", "1")]));
    assert!(fail(&loader).contains("environment X sets the key `no.such`"));
}

#[test]
fn a_missing_required_key_is_named_even_without_a_file() {
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Needs {
        name: String,
    }
    let text = Loader::new("adapter")
        .load::<Needs>()
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        "adapter configuration: error: the key `name` is missing"
    );
}

#[test]
fn the_printed_configuration_shows_origins_and_no_secrets() {
    let fixture = Fixture::new(
        "server: {port: 1}\ndatabase:\n  url: postgres://u:hunter2@h/d\n  password: hunter2\n\
         labels: {'on': 'true'}\ntags: [x, '- y']\n",
    );
    let loaded = fixture
        .loader()
        .env(env(&[("HYPERFLEET_SERVER_TIMEOUT", "9s")]))
        .load::<Config>()
        .unwrap();
    let text = loaded.print(Format::Yaml).unwrap();
    let file = fixture.path().display().to_string();
    let expected = format!(
        "clients:
  hyperfleet_api:
    base_url: \"\"
database:
  password: \"**REDACTED**\" # {file}:4
  url: \"postgres://u:**REDACTED**@h/d\" # {file}:3
labels:
  \"on\": \"true\" # {file}:5
server:
  port: 1 # {file}:1
  timeout: 9s # environment HYPERFLEET_SERVER_TIMEOUT
  tls: false
tags: # {file}:6
  - x
  - \"- y\"
"
    );
    assert_eq!(text, expected);
    // What is printed can be read back.
    let again = Fixture::new(&text);
    assert_eq!(
        again.loader().load::<Config>().unwrap().value.server,
        loaded.value.server
    );
    let json = loaded.print(Format::Json).unwrap();
    assert!(
        !json.contains("hunter2") && json.contains("\"timeout\": \"9s\""),
        "{json}"
    );
}
