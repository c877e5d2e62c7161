//! Where metrics are answered, and to whom.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tls::TlsConfig;

/// Where metrics are answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MetricsConfig {
    /// Whether metrics are answered at all.
    pub enabled: bool,
    /// Address to listen on for `/metrics`. Empty means all addresses.
    pub host: String,
    /// Port to listen on for `/metrics`. The same address as health shares its listener.
    pub port: u16,
    /// The path they are at.
    pub path: String,
    /// Answer `/debug/pprof/profile`, `/debug/pprof/heap` and `/debug/pprof/memory` there too. Whoever reaches the port
    /// can then slow the process down.
    pub profiling: bool,
    /// How what is said there is encrypted, and whether callers must show a certificate.
    pub tls: TlsConfig,
    /// A file with the bearer token that callers must show; nobody must if nothing is said. Read again for every
    /// request.
    pub token_file: Option<PathBuf>,
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            host: "localhost".to_owned(),
            port: 9090,
            path: "/metrics".to_owned(),
            profiling: false,
            tls: TlsConfig::default(),
            token_file: None,
        }
    }
}
