//! Who gets an answer from health and metrics.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyperfleet_runtime::health::{
    Health, HealthConfig, ObserveError, ObserverConfig, ObserverServers,
};
use hyperfleet_runtime::metrics::{Build, MetricsConfig, MetricsRegistry};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_runtime::tls::TlsConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

fn given(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tls")
        .join(name)
}

struct Observers {
    health: SocketAddr,
    metrics: SocketAddr,
    directory: tempfile::TempDir,
    shutdown: Shutdown,
}

impl Drop for Observers {
    fn drop(&mut self) {
        self.shutdown.trigger();
    }
}

impl Observers {
    /// With the certificate `one`, as `server.crt` and `server.key`, and the token `secret`, beside the configuration.
    async fn start(health: HealthConfig, metrics: MetricsConfig) -> Observers {
        let directory = tempfile::tempdir().unwrap();
        use_certificate(directory.path(), "one");
        std::fs::write(directory.path().join("token"), "secret\n").unwrap();
        let health = HealthConfig { port: 0, ..health };
        let metrics = MetricsConfig { port: 0, ..metrics };
        let servers = ObserverServers::bind(&health, &metrics, directory.path())
            .await
            .unwrap();
        let observers = Observers {
            health: servers.health_address().unwrap(),
            metrics: servers.metrics_address().unwrap(),
            directory,
            shutdown: Shutdown::new(),
        };
        tokio::spawn(servers.serve(Health::new(), registry(), observers.shutdown.clone()));
        observers
    }
}

fn use_certificate(directory: &Path, name: &str) {
    for ending in ["key", "crt"] {
        let to = directory.join(format!("server.{ending}"));
        std::fs::copy(given(&format!("{name}.{ending}")), to).unwrap();
    }
}

fn registry() -> MetricsRegistry {
    MetricsRegistry::new(Build {
        version: "test".into(),
        commit: String::new(),
    })
    .unwrap()
}

fn encrypted() -> TlsConfig {
    TlsConfig {
        enabled: true,
        cert_file: Some("server.crt".into()),
        key_file: Some("server.key".into()),
        ..TlsConfig::default()
    }
}

async fn status(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    path: &str,
    headers: &str,
) -> std::io::Result<String> {
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.split(' ').nth(1).unwrap_or_default().to_owned())
}

async fn plain(address: SocketAddr, path: &str, headers: &str) -> String {
    let stream = TcpStream::connect(address).await.unwrap();
    status(stream, path, headers).await.unwrap()
}

async fn trusting(certificate: &str, address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from_pem_file(given(certificate)).unwrap();
    roots.add(trusted).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await?;
    status(stream, path, "").await
}

#[tokio::test]
async fn each_listener_is_encrypted_by_itself_and_takes_new_certificates() {
    let metrics = MetricsConfig {
        tls: encrypted(),
        ..MetricsConfig::default()
    };
    let observers = Observers::start(HealthConfig::default(), metrics).await;
    assert_eq!(plain(observers.health, "/healthz", "").await, "200");
    let asked = trusting("one.crt", observers.metrics, "/metrics").await;
    assert_eq!(asked.unwrap(), "200");
    use_certificate(observers.directory.path(), "two");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while trusting("two.crt", observers.metrics, "/metrics")
        .await
        .is_err()
    {
        assert!(
            tokio::time::Instant::now() < deadline,
            "the new certificate is never used"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    let health = HealthConfig {
        tls: encrypted(),
        ..HealthConfig::default()
    };
    let observers = Observers::start(health, MetricsConfig::default()).await;
    let asked = trusting("one.crt", observers.health, "/healthz").await;
    assert_eq!(asked.unwrap(), "200");
    assert_eq!(plain(observers.metrics, "/metrics", "").await, "200");
}

#[tokio::test]
async fn metrics_and_profiles_are_for_those_who_show_the_token() {
    let metrics = MetricsConfig {
        token_file: Some("token".into()),
        profiling: true,
        ..MetricsConfig::default()
    };
    let observers = Observers::start(HealthConfig::default(), metrics).await;
    let ask = async |headers: &str| plain(observers.metrics, "/metrics", headers).await;
    assert_eq!(ask("").await, "401");
    assert_eq!(ask("authorization: Bearer secre\r\n").await, "401");
    assert_eq!(ask("authorization: Basic secret\r\n").await, "401");
    assert_eq!(ask("authorization: Bearer secret\r\n").await, "200");
    let memory = plain(observers.metrics, "/debug/pprof/memory", "").await;
    assert_eq!(memory, "401");
    assert_eq!(plain(observers.metrics, "/nothing", "").await, "404");
    assert_eq!(plain(observers.health, "/healthz", "").await, "200");
    let file = observers.directory.path().join("token");
    std::fs::write(&file, "new").unwrap();
    assert_eq!(ask("authorization: Bearer secret\r\n").await, "401");
    assert_eq!(ask("authorization: Bearer new\r\n").await, "200");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(
        ask("authorization: Bearer new\r\n").await,
        "401",
        "without a token nobody is let in"
    );
}

#[tokio::test]
async fn what_cannot_be_served_as_configured_is_told_at_the_start() {
    let nowhere = Path::new("/nonexistent");
    let bind = async |health: HealthConfig, metrics: MetricsConfig| {
        let servers = ObserverServers::bind(&health, &metrics, nowhere).await;
        servers.unwrap_err()
    };
    let free = TcpStream::connect("127.0.0.1:1").await.is_err();
    assert!(free, "nobody listens there");
    let shared = bind(
        HealthConfig {
            port: 1,
            tls: encrypted(),
            ..HealthConfig::default()
        },
        MetricsConfig {
            port: 1,
            ..MetricsConfig::default()
        },
    )
    .await;
    assert!(matches!(shared, ObserveError::TwoKindsOfTls), "{shared}");
    let health = || HealthConfig {
        port: 0,
        ..HealthConfig::default()
    };
    let missing = bind(
        health(),
        MetricsConfig {
            port: 0,
            tls: encrypted(),
            ..MetricsConfig::default()
        },
    )
    .await;
    assert!(
        missing.to_string().starts_with("metrics.tls: "),
        "{missing}"
    );
    let no_token = bind(
        health(),
        MetricsConfig {
            port: 0,
            token_file: Some("token".into()),
            ..MetricsConfig::default()
        },
    )
    .await;
    assert!(no_token.to_string().contains("token_file"), "{no_token}");
}

#[test]
fn an_adapter_is_told_by_its_environment() {
    let variables = [
        ("HYPERFLEET_METRICS_TLS_ENABLED", "true"),
        ("HYPERFLEET_METRICS_TLS_CERT_FILE", "/tls/tls.crt"),
        ("HYPERFLEET_METRICS_TOKEN_FILE", "/token"),
        ("HYPERFLEET_HEALTH_HOST", ""),
        ("HYPERFLEET_CONFIG", "/of/something/else.yaml"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let read = ObserverConfig::from_environment("adapter", variables).unwrap();
    assert!(read.metrics.tls.enabled);
    assert_eq!(read.metrics.tls.cert_file, Some("/tls/tls.crt".into()));
    assert_eq!(read.metrics.token_file, Some("/token".into()));
    assert_eq!(read.health, HealthConfig::default());
    assert!(!read.tracing.enabled);
}

#[test]
fn the_older_names_of_an_adapters_environment_hold_where_the_newer_do_not() {
    let variables = [
        ("HEALTH_ENABLED", "false"),
        ("HEALTH_LIVENESS_PATH", "/alive"),
        ("METRICS_PATH", "/numbers"),
        ("METRICS_PORT", "9191"),
        ("HYPERFLEET_METRICS_PORT", "9292"),
        // Of a Service called `health`.
        ("HEALTH_PORT", "tcp://10.0.0.7:80"),
        ("TRACE_ENABLED", "true"),
        ("TRACE_ENDPOINT", "http://collector:4318/v1/traces"),
        ("TRACE_SAMPLE_RATE", "0.1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let read = ObserverConfig::from_environment("adapter", variables).unwrap();
    assert!(!read.health.enabled);
    assert_eq!(read.health.liveness_path, "/alive");
    assert_eq!((read.health.port, read.metrics.port), (8080, 9292));
    assert_eq!(read.metrics.path, "/numbers");
    let tracing = read.tracing;
    assert!(tracing.enabled);
    assert_eq!(tracing.sample_rate, Some(0.1));
    let endpoint = tracing.endpoint.unwrap();
    assert_eq!(endpoint, "http://collector:4318/v1/traces");
}

#[tokio::test]
async fn what_is_off_has_no_listener_and_what_moved_is_where_it_was_put() {
    let off = HealthConfig {
        enabled: false,
        ..HealthConfig::default()
    };
    let moved = MetricsConfig {
        port: 0,
        path: "/numbers".to_owned(),
        ..MetricsConfig::default()
    };
    let servers = ObserverServers::bind(&off, &moved, Path::new("")).await;
    let servers = servers.unwrap();
    assert!(servers.health_address().is_err());
    let address = servers.metrics_address().unwrap();
    let build = Build {
        version: "1".into(),
        commit: String::new(),
    };
    let registry = MetricsRegistry::new(build).unwrap();
    let shutdown = Shutdown::new();
    let serving = tokio::spawn(servers.serve(Health::new(), registry, shutdown.clone()));
    assert_eq!(plain(address, "/numbers", "").await, "200");
    assert_eq!(plain(address, "/metrics", "").await, "404");
    shutdown.trigger();
    serving.await.unwrap();
}

#[tokio::test]
async fn a_path_that_is_none_or_is_taken_is_refused_with_its_key() {
    let refused = async |liveness: &str, path: &str| {
        let health = HealthConfig {
            port: 0,
            liveness_path: liveness.to_owned(),
            ..HealthConfig::default()
        };
        let metrics = MetricsConfig {
            port: 0,
            path: path.to_owned(),
            ..MetricsConfig::default()
        };
        let bound = ObserverServers::bind(&health, &metrics, Path::new("")).await;
        bound.unwrap_err().to_string()
    };
    let told = refused("alive", "/metrics").await;
    assert!(
        told.starts_with("health.liveness_path is `alive`"),
        "{told}"
    );
    let told = refused("/{all}", "/metrics").await;
    assert!(
        told.starts_with("health.liveness_path is `/{all}`"),
        "{told}"
    );
    let told = refused("/healthz", "/readyz").await;
    assert!(
        told.starts_with("metrics.path is `/readyz`, where"),
        "{told}"
    );
}
