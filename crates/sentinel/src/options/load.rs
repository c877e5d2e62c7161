//! The layers of a Sentinel's configuration: which flag and which variable sets which key.

use std::path::PathBuf;

use hyperfleet_runtime::config::{ConfigError, Loaded, Loader};

use super::Options;

/// What was given on the command line; `None` was not.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--config`, `-c`
    pub config: Option<PathBuf>,
    /// `--name`, `-n`
    pub name: Option<String>,
    /// `--debug-config`
    pub debug_config: Option<bool>,
    /// `--tracing-enabled`
    pub tracing_enabled: Option<bool>,
    /// `--log-level`, `-l`
    pub log_level: Option<String>,
    /// `--log-format`, `-f`
    pub log_format: Option<String>,
    /// `--log-output`
    pub log_output: Option<String>,
    /// `--hyperfleet-api-base-url`
    pub api_base_url: Option<String>,
    /// `--hyperfleet-api-version`
    pub api_version: Option<String>,
    /// `--hyperfleet-api-timeout`
    pub api_timeout: Option<String>,
    /// `--hyperfleet-api-page-size`
    pub api_page_size: Option<u32>,
    /// `--broker-topic`
    pub broker_topic: Option<String>,
    /// `--resource-type`
    pub resource_type: Option<String>,
    /// `--poll-interval`
    pub poll_interval: Option<String>,
    /// `--health-server-bindaddress`, such as `:8080`
    pub health_bind: Option<String>,
    /// `--metrics-server-bindaddress`, such as `:9090`
    pub metrics_bind: Option<String>,
}

/// Variables whose names do not follow from their keys.
const VARIABLES: [(&str, &str); 11] = [
    ("HYPERFLEET_API_BASE_URL", "clients.hyperfleet_api.base_url"),
    ("HYPERFLEET_API_VERSION", "clients.hyperfleet_api.version"),
    ("HYPERFLEET_API_TIMEOUT", "clients.hyperfleet_api.timeout"),
    (
        "HYPERFLEET_API_PAGE_SIZE",
        "clients.hyperfleet_api.page_size",
    ),
    (
        "HYPERFLEET_API_AUTH_TOKEN_PATH",
        "clients.hyperfleet_api.auth.token_path",
    ),
    (
        "HYPERFLEET_API_AUTH_TOKEN_CACHE_TTL",
        "clients.hyperfleet_api.auth.token_cache_ttl",
    ),
    ("HYPERFLEET_BROKER_TOPIC", "clients.broker.topic"),
    ("BROKER_TOPIC", "clients.broker.topic"),
    ("HYPERFLEET_MAX_AGE_NOT_READY", "backoff_not_ready"),
    ("HYPERFLEET_MAX_AGE_READY", "backoff_ready"),
    ("HYPERFLEET_API_ENDPOINT", "hyperfleet_api.endpoint"),
];

impl Options {
    /// Reads file, environment and flags. What is read is not yet checked: see [`Options::check`].
    ///
    /// Where two dialects set the same thing in different layers, the higher layer wins: a base URL from a flag or
    /// a variable beats the `hyperfleet_api.endpoint` of a file.
    pub fn load(
        flags: Flags,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Loaded<Options>, ConfigError> {
        let loader = Loader::new("sentinel")
            .file(flags.config)
            .search(["/etc/hyperfleet/config.yaml"])
            .env(environment);
        let loader = VARIABLES
            .into_iter()
            .fold(loader, |loader, (name, path)| loader.env_alias(name, path));
        let loader = bind(
            loader,
            "--health-server-bindaddress",
            "health",
            flags.health_bind,
        );
        let loader = bind(
            loader,
            "--metrics-server-bindaddress",
            "metrics",
            flags.metrics_bind,
        );
        let mut loaded: Loaded<Options> = loader
            .flag("log.level", flags.log_level)
            .flag("log.format", flags.log_format)
            .flag("log.output", flags.log_output)
            .flag_named("--name", "sentinel.name", flags.name)
            .flag("debug_config", flags.debug_config)
            .flag("tracing_enabled", flags.tracing_enabled)
            .flag_named(
                "--hyperfleet-api-base-url",
                "clients.hyperfleet_api.base_url",
                flags.api_base_url,
            )
            .flag_named(
                "--hyperfleet-api-version",
                "clients.hyperfleet_api.version",
                flags.api_version,
            )
            .flag_named(
                "--hyperfleet-api-timeout",
                "clients.hyperfleet_api.timeout",
                flags.api_timeout,
            )
            .flag_named(
                "--hyperfleet-api-page-size",
                "clients.hyperfleet_api.page_size",
                flags.api_page_size,
            )
            .flag_named("--broker-topic", "clients.broker.topic", flags.broker_topic)
            .flag("resource_type", flags.resource_type)
            .flag("poll_interval", flags.poll_interval)
            .load()?;
        loaded.prefer_higher_layer();
        Ok(loaded)
    }
}

/// `host:port`; without a host, all addresses.
fn bind(loader: Loader, flag: &str, section: &str, address: Option<String>) -> Loader {
    let Some(address) = address else {
        return loader;
    };
    let (host, port) = address.rsplit_once(':').unwrap_or(("", &address));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    loader
        .flag_named(flag, format!("{section}.host"), Some(host))
        .flag_named(flag, format!("{section}.port"), Some(port))
}

trait PreferHigherLayer {
    fn prefer_higher_layer(&mut self);
}

impl PreferHigherLayer for Loaded<Options> {
    fn prefer_higher_layer(&mut self) {
        use hyperfleet_runtime::config::Origin;
        let beats = |modern: &str, seed: &str| {
            matches!(self.origins.get(modern), Some(Origin::Named(_)))
                && matches!(self.origins.get(seed), Some(Origin::File(..)))
        };
        let url = beats("clients.hyperfleet_api.base_url", "hyperfleet_api.endpoint");
        let timeout = beats("clients.hyperfleet_api.timeout", "hyperfleet_api.timeout");
        if url {
            self.value.hyperfleet_api.endpoint = None;
        }
        if timeout {
            self.value.hyperfleet_api.timeout = None;
        }
    }
}
