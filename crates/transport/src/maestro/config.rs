//! How to reach a Maestro server.

use std::path::PathBuf;
use std::time::Duration;

/// How to reach a Maestro server.
#[derive(Clone, PartialEq, Eq)]
pub struct MaestroConfig {
    /// Where it takes events: host and port.
    pub grpc_address: String,
    /// Where it is read: scheme, host and port.
    pub http_address: String,
    /// In whose name works are kept. Nobody else's are seen or touched.
    pub source_id: String,
    /// What Maestro's logs know us by.
    pub client_id: String,
    /// How the connections are protected.
    pub security: MaestroSecurity,
    /// How long a read may take.
    pub timeout: Duration,
    /// How long an event may go unanswered before the server counts as gone.
    pub silence: Duration,
    /// Attempts in total, while the server cannot be reached.
    pub attempts: u32,
    /// Whether the connection is probed while an event is under way.
    pub keepalive: Option<MaestroKeepalive>,
    /// How often it is looked whether the files of TLS are still the same.
    pub reread: Duration,
}

/// How the connections to Maestro are protected.
#[derive(Clone, PartialEq, Eq)]
pub enum MaestroSecurity {
    /// Not at all: plain text for events, and any certificate for reads.
    None,
    /// By certificates. Files are read again when they change.
    Tls(MaestroTls),
}

/// The files of TLS. They are named by their keys in every message, never by their paths.
#[derive(Clone, PartialEq, Eq)]
pub struct MaestroTls {
    /// Who vouches for the server.
    pub ca: PathBuf,
    /// Certificate and key of our own, where the server wants to know us.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Who vouches for the server of reads, if it is somebody else.
    pub http_ca: Option<PathBuf>,
    /// What the server of events calls itself, if not by its address.
    pub server_name: Option<String>,
}

/// Probes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaestroKeepalive {
    /// How long nothing may be heard before a probe is sent.
    pub time: Duration,
    /// How long its answer may take.
    pub timeout: Duration,
}

impl MaestroConfig {
    /// Without protection; 10 s for a read, 20 s for an event, three attempts.
    pub fn new(
        grpc_address: impl Into<String>,
        http_address: impl Into<String>,
        source_id: impl Into<String>,
    ) -> Self {
        let source_id = source_id.into();
        Self {
            grpc_address: grpc_address.into(),
            http_address: http_address.into(),
            client_id: source_id.clone(),
            source_id,
            security: MaestroSecurity::None,
            timeout: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            attempts: 3,
            keepalive: None,
            reread: Duration::from_secs(60),
        }
    }
}

/// Why there is no connection to Maestro.
#[derive(Debug, thiserror::Error)]
pub enum MaestroError {
    /// A value cannot be used.
    #[error("clients.maestro.{key}: {problem}")]
    Config {
        /// Which.
        key: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The server does not answer.
    #[error(
        "Maestro at {server} does not answer: {reason}; check clients.maestro.http_server_address and that the server \
         runs"
    )]
    Unreachable {
        /// Where it is read.
        server: String,
        /// What was seen.
        reason: String,
    },
    /// The server answers, but not as Maestro does, or not to us.
    #[error("Maestro at {server} refused us: {reason}")]
    Refused {
        /// Where it is read.
        server: String,
        /// What it said.
        reason: String,
    },
}
