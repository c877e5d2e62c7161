//! `clients.maestro` of configuration files: the server that works are handed to.

use std::path::PathBuf;
use std::time::Duration;

use hyperfleet_runtime::{GoDuration, Secret};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{MaestroConfig, MaestroKeepalive, MaestroSecurity, MaestroTls};

/// Which environment variable sets which key of `clients.maestro`, in every component that has one.
pub const MAESTRO_VARIABLES: [(&str, &str); 16] = [
    (
        "HYPERFLEET_MAESTRO_GRPC_SERVER_ADDRESS",
        "clients.maestro.grpc_server_address",
    ),
    (
        "HYPERFLEET_MAESTRO_HTTP_SERVER_ADDRESS",
        "clients.maestro.http_server_address",
    ),
    ("HYPERFLEET_MAESTRO_SOURCE_ID", "clients.maestro.source_id"),
    ("HYPERFLEET_MAESTRO_CLIENT_ID", "clients.maestro.client_id"),
    ("HYPERFLEET_MAESTRO_AUTH_TYPE", "clients.maestro.auth.type"),
    (
        "HYPERFLEET_MAESTRO_CA_FILE",
        "clients.maestro.auth.tls_config.ca_file",
    ),
    (
        "HYPERFLEET_MAESTRO_CERT_FILE",
        "clients.maestro.auth.tls_config.cert_file",
    ),
    (
        "HYPERFLEET_MAESTRO_KEY_FILE",
        "clients.maestro.auth.tls_config.key_file",
    ),
    (
        "HYPERFLEET_MAESTRO_HTTP_CA_FILE",
        "clients.maestro.auth.tls_config.http_ca_file",
    ),
    (
        "HYPERFLEET_MAESTRO_SERVER_NAME",
        "clients.maestro.auth.tls_config.server_name",
    ),
    ("HYPERFLEET_MAESTRO_TIMEOUT", "clients.maestro.timeout"),
    (
        "HYPERFLEET_MAESTRO_SERVER_HEALTHINESS_TIMEOUT",
        "clients.maestro.server_healthiness_timeout",
    ),
    (
        "HYPERFLEET_MAESTRO_RETRY_ATTEMPTS",
        "clients.maestro.retry_attempts",
    ),
    (
        "HYPERFLEET_MAESTRO_KEEPALIVE_TIME",
        "clients.maestro.keepalive.time",
    ),
    (
        "HYPERFLEET_MAESTRO_KEEPALIVE_TIMEOUT",
        "clients.maestro.keepalive.timeout",
    ),
    ("HYPERFLEET_MAESTRO_INSECURE", "clients.maestro.insecure"),
];

/// How long the answer to a probe may take, if nothing else is said.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The Maestro server that works are handed to. Needed only by resources whose transport is `maestro`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MaestroClient {
    /// Host and port of its gRPC server, which takes events. Required.
    pub grpc_server_address: String,
    /// Scheme, host and port of its REST API, which is read; https, unless `insecure` is true. Required.
    pub http_server_address: String,
    /// In whose name works are kept; works of other sources are neither seen nor touched. Required.
    pub source_id: String,
    /// What Maestro's logs know us by. Empty: its `source_id`.
    pub client_id: String,
    /// How the connections are protected.
    pub auth: MaestroAuth,
    /// Bounds one read, and the making of a connection.
    pub timeout: GoDuration,
    /// How long an event may go unanswered before the server counts as gone.
    pub server_healthiness_timeout: GoDuration,
    /// Attempts in total while Maestro cannot be reached; zero is 3.
    pub retry_attempts: u32,
    /// Probes of the connection while an event is under way.
    pub keepalive: MaestroProbes,
    /// Plain text for events, and any certificate for reads. For trials only.
    pub insecure: bool,
}

impl Default for MaestroClient {
    fn default() -> Self {
        Self {
            grpc_server_address: String::new(),
            http_server_address: String::new(),
            source_id: String::new(),
            client_id: String::new(),
            auth: MaestroAuth::default(),
            timeout: GoDuration::from_secs(10),
            server_healthiness_timeout: GoDuration::from_secs(20),
            retry_attempts: 3,
            keepalive: MaestroProbes::default(),
            insecure: false,
        }
    }
}

/// How the connections to Maestro are protected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MaestroAuth {
    /// `tls`, or `none`, which needs `insecure: true`. Empty: what `insecure` says.
    #[serde(rename = "type")]
    pub kind: MaestroAuthType,
    /// The files of TLS; where they are is shown to nobody.
    pub tls_config: MaestroTlsFiles,
}

/// How the connections to Maestro are protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MaestroAuthType {
    /// As `insecure` says.
    #[default]
    #[serde(rename = "")]
    Unsaid,
    /// By certificates.
    Tls,
    /// Not at all.
    None,
}

/// Certificates for Maestro. Files that change are read again within a minute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MaestroTlsFiles {
    /// The certificate authority of the gRPC server. Required, unless `insecure` is true.
    pub ca_file: Secret,
    /// Our certificate, where the gRPC server wants one; together with `key_file`.
    pub cert_file: Secret,
    /// Its key.
    pub key_file: Secret,
    /// The certificate authority of the REST API. Empty: `ca_file`.
    pub http_ca_file: Secret,
    /// The name in the gRPC server's certificate, if it is not its address.
    pub server_name: String,
}

/// Probes of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MaestroProbes {
    /// How long nothing may be heard before a probe is sent; zero sends none.
    pub time: GoDuration,
    /// How long its answer may take; zero is 10 s.
    pub timeout: GoDuration,
}

impl MaestroClient {
    /// Whether anything was said about it.
    pub fn is_configured(&self) -> bool {
        *self != Self::default()
    }

    /// What it says, or what is wrong with it.
    pub fn target(&self) -> Result<MaestroConfig, String> {
        let wrong = |key: &str, problem: &str| Err(format!("clients.maestro.{key}: {problem}"));
        for (key, value) in [
            ("grpc_server_address", &self.grpc_server_address),
            ("http_server_address", &self.http_server_address),
            ("source_id", &self.source_id),
        ] {
            if value.is_empty() {
                return wrong(key, "it is missing");
            }
        }
        for (key, time) in [
            ("timeout", self.timeout),
            (
                "server_healthiness_timeout",
                self.server_healthiness_timeout,
            ),
        ] {
            if time.is_zero() {
                return wrong(key, "it must be longer than nothing");
            }
        }
        let probes = &self.keepalive;
        if probes.time.is_zero() && !probes.timeout.is_zero() {
            return wrong(
                "keepalive.timeout",
                "without keepalive.time there are no probes",
            );
        }
        let mut config = MaestroConfig::new(
            &self.grpc_server_address,
            &self.http_server_address,
            &self.source_id,
        );
        if !self.client_id.is_empty() {
            config.client_id.clone_from(&self.client_id);
        }
        if self.retry_attempts > 0 {
            config.attempts = self.retry_attempts;
        }
        config.timeout = self.timeout.get();
        config.silence = self.server_healthiness_timeout.get();
        config.keepalive = (!probes.time.is_zero()).then(|| MaestroKeepalive {
            time: probes.time.get(),
            timeout: match probes.timeout.is_zero() {
                true => PROBE_TIMEOUT,
                false => probes.timeout.get(),
            },
        });
        config.security = self.security()?;
        Ok(config)
    }

    fn security(&self) -> Result<MaestroSecurity, String> {
        let files = &self.auth.tls_config;
        let wrong = |problem: &str| Err(format!("clients.maestro.{problem}"));
        if self.insecure {
            return match (self.auth.kind, *files == MaestroTlsFiles::default()) {
                (MaestroAuthType::Tls, _) => wrong(
                    "insecure: it is true, but auth.type is tls: nothing would be encrypted; decide on one",
                ),
                (_, false) => wrong(
                    "insecure: it is true, but auth.tls_config is given: nothing of it would be used; decide on one",
                ),
                (MaestroAuthType::None | MaestroAuthType::Unsaid, true) => {
                    Ok(MaestroSecurity::None)
                }
            };
        }
        if self.auth.kind == MaestroAuthType::None {
            return wrong("auth.type: none is plain text, and needs `insecure: true`");
        }
        let path = |file: &Secret| (!file.is_empty()).then(|| PathBuf::from(file.expose()));
        let Some(ca) = path(&files.ca_file) else {
            return wrong(
                "auth.tls_config.ca_file: it is missing: without a certificate authority nobody can be trusted, and \
                 `insecure` is not true",
            );
        };
        let identity = match (path(&files.cert_file), path(&files.key_file)) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return wrong("auth.tls_config: cert_file and key_file belong together"),
        };
        Ok(MaestroSecurity::Tls(MaestroTls {
            ca,
            identity,
            http_ca: path(&files.http_ca_file),
            server_name: (!files.server_name.is_empty()).then(|| files.server_name.clone()),
        }))
    }
}

#[cfg(test)]
mod tests;
