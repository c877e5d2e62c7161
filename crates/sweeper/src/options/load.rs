//! The layers of a sweeper's configuration.

use std::path::PathBuf;

use hyperfleet_runtime::config::{ConfigError, Loaded, Loader};
use hyperfleet_transport::MAESTRO_VARIABLES;

use super::Options;

/// What was given on the command line; `None` was not.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--config`, `-c`
    pub config: Option<PathBuf>,
    /// `--dry-run`
    pub dry_run: Option<bool>,
    /// `--interval`
    pub interval: Option<String>,
    /// `--kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--hyperfleet-api-base-url`
    pub api_base_url: Option<String>,
    /// `--ownership-key-file`
    pub key_file: Option<PathBuf>,
    /// `--log-level`
    pub log_level: Option<String>,
}

/// Variables whose names do not follow from their keys; the same as the other components'.
const VARIABLES: [(&str, &str); 6] = [
    ("HYPERFLEET_API_BASE_URL", "clients.hyperfleet_api.base_url"),
    ("HYPERFLEET_API_VERSION", "clients.hyperfleet_api.version"),
    ("HYPERFLEET_API_TIMEOUT", "clients.hyperfleet_api.timeout"),
    (
        "HYPERFLEET_API_AUTH_TOKEN_PATH",
        "clients.hyperfleet_api.auth.token_path",
    ),
    (
        "HYPERFLEET_API_AUTH_TOKEN_CACHE_TTL",
        "clients.hyperfleet_api.auth.token_cache_ttl",
    ),
    (
        "HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH",
        "clients.kubernetes.kube_config_path",
    ),
];

impl Options {
    /// Reads file, environment and flags. What is read is not yet checked: see [`Options::check`].
    pub fn load(
        flags: Flags,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Loaded<Options>, ConfigError> {
        let loader = Loader::new("sweeper")
            .file(flags.config)
            .search(["/etc/hyperfleet/config.yaml"])
            .env(environment);
        let loader = VARIABLES
            .into_iter()
            .chain(MAESTRO_VARIABLES)
            .fold(loader, |loader, (name, path)| loader.env_alias(name, path));
        let path = |path: Option<PathBuf>| path.map(|path| path.display().to_string());
        loader
            .flag("dry_run", flags.dry_run)
            .flag("interval", flags.interval)
            .flag_named(
                "--kubeconfig",
                "clients.kubernetes.kube_config_path",
                path(flags.kubeconfig),
            )
            .flag_named(
                "--hyperfleet-api-base-url",
                "clients.hyperfleet_api.base_url",
                flags.api_base_url,
            )
            .flag("ownership.key_file", path(flags.key_file))
            .flag("log.level", flags.log_level)
            .load()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: Flags, environment: &[(&str, &str)]) -> Options {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Options::load(flags, environment).unwrap().value
    }

    #[test]
    fn flags_win_over_variables() {
        let flags = Flags {
            dry_run: Some(true),
            interval: Some("1m".to_owned()),
            kubeconfig: Some("/k".into()),
            ..Flags::default()
        };
        let environment = [
            ("HYPERFLEET_INTERVAL", "2m"),
            ("HYPERFLEET_API_BASE_URL", "http://api"),
            ("HYPERFLEET_OWNERSHIP_KEY_FILE", "/key"),
            ("HYPERFLEET_LEASE_NAME", "other"),
        ];
        let options = load(flags, &environment);
        assert!(options.dry_run);
        assert_eq!(options.interval.get().as_secs(), 60);
        assert_eq!(options.clients.hyperfleet_api.base_url, "http://api");
        assert_eq!(options.ownership.key_file, Some("/key".into()));
        assert_eq!(options.lease.name, "other");
        options.check().unwrap();
    }

    #[test]
    fn what_would_switch_a_limit_off_is_refused() {
        type Change = fn(&mut Options);
        let wrong: [(&str, Change); 6] = [
            ("max_share", |options| options.max_share = f64::NAN),
            ("max_share", |options| options.max_share = 1.1),
            ("deletions_per_second", |options| {
                options.deletions_per_second = 0.0;
            }),
            ("max_deletions", |options| options.max_deletions = 0),
            ("interval", |options| {
                options.interval = "0s".parse().unwrap()
            }),
            ("lease.duration", |options| {
                options.lease.duration = "1s".parse().unwrap();
            }),
        ];
        for (key, change) in wrong {
            let mut options = load(Flags::default(), &[("HYPERFLEET_API_BASE_URL", "http://a")]);
            change(&mut options);
            let message = options.check().unwrap_err().to_string();
            assert!(message.starts_with(key), "{message}");
        }
        assert!(Options::default().check().is_err(), "no API");
    }
}
