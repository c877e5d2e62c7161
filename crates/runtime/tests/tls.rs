//! Listeners that speak TLS.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use hyperfleet_runtime::http::{self, ServeOptions};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_runtime::tls::{Tls, TlsConfig};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

fn given(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tls")
        .join(name)
}

/// A server with a copy of a certificate, which a test can replace.
struct Server {
    address: SocketAddr,
    directory: tempfile::TempDir,
    shutdown: Shutdown,
}

impl Server {
    async fn start(config: TlsConfig) -> Server {
        let directory = tempfile::tempdir().unwrap();
        let server = |address| Server {
            address,
            directory,
            shutdown: Shutdown::new(),
        };
        let listener = http::bind("127.0.0.1", 0, "server").await.unwrap();
        let server = server(listener.local_addr().unwrap());
        server.use_certificate("one");
        let config = TlsConfig {
            enabled: true,
            cert_file: Some("server.crt".into()),
            key_file: Some("server.key".into()),
            ..config
        };
        let tls = Tls::new(&config, server.directory.path()).unwrap().unwrap();
        tokio::spawn(tls.clone().reload(server.shutdown.clone()));
        let router = Router::new().route("/", get(|| async { "hello" }));
        let options = ServeOptions {
            tls: Some(tls),
            ..ServeOptions::default()
        };
        tokio::spawn(http::serve(
            listener,
            router,
            server.shutdown.token(),
            options,
        ));
        server
    }

    fn use_certificate(&self, name: &str) {
        for ending in ["key", "crt"] {
            let to = self.directory.path().join(format!("server.{ending}"));
            std::fs::copy(given(&format!("{name}.{ending}")), to).unwrap();
        }
    }

    /// What the server answers to somebody who trusts one certificate, and shows one or none.
    async fn ask(&self, trusted: &str, shown: Option<&str>) -> std::io::Result<String> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(given(trusted)).unwrap())
            .unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match shown {
            None => builder.with_no_client_auth(),
            Some(name) => {
                let chain =
                    vec![CertificateDer::from_pem_file(given(&format!("{name}.crt"))).unwrap()];
                let key = PrivateKeyDer::from_pem_file(given(&format!("{name}.key"))).unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await?;
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }
}

#[tokio::test]
async fn an_encrypted_listener_answers_and_plain_http_gets_nothing() {
    let server = Server::start(TlsConfig::default()).await;
    let answer = server.ask("one.crt", None).await.unwrap();
    assert!(answer.ends_with("hello"), "{answer}");
    let mut plain = TcpStream::connect(server.address).await.unwrap();
    plain
        .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("hello"));
    assert!(
        server.ask("two.crt", None).await.is_err(),
        "somebody else's certificate"
    );
}

#[tokio::test]
async fn a_new_certificate_is_used_without_a_restart_and_a_bad_one_is_not() {
    let server = Server::start(TlsConfig::default()).await;
    std::fs::write(server.directory.path().join("server.crt"), "nonsense").unwrap();
    assert!(
        server.ask("one.crt", None).await.is_ok(),
        "nonsense is not used"
    );
    server.use_certificate("two");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while server.ask("two.crt", None).await.is_err() {
        assert!(
            tokio::time::Instant::now() < deadline,
            "the new certificate is never used"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(server.ask("one.crt", None).await.is_err());
}

#[tokio::test]
async fn callers_show_a_certificate_where_one_is_asked_for() {
    let required = TlsConfig {
        client_ca_file: Some(given("ca.crt")),
        ..TlsConfig::default()
    };
    let optional = TlsConfig {
        client_certificate_optional: true,
        ..required.clone()
    };
    let server = Server::start(required).await;
    assert!(
        server
            .ask("one.crt", Some("caller"))
            .await
            .unwrap()
            .ends_with("hello")
    );
    assert!(server.ask("one.crt", None).await.is_err());
    assert!(
        server.ask("one.crt", Some("two")).await.is_err(),
        "of another authority"
    );
    let server = Server::start(optional).await;
    assert!(
        server
            .ask("one.crt", None)
            .await
            .unwrap()
            .ends_with("hello")
    );
    assert!(server.ask("one.crt", Some("two")).await.is_err());
}

#[tokio::test]
async fn what_cannot_be_used_is_told_with_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = |config: TlsConfig| {
        let config = TlsConfig {
            enabled: true,
            ..config
        };
        let error = Tls::new(&config, directory.path()).unwrap_err();
        error.to_string()
    };
    assert!(wrong(TlsConfig::default()).contains("`cert_file` is not set"));
    let missing = TlsConfig {
        cert_file: Some("no.crt".into()),
        key_file: Some("no.key".into()),
        ..TlsConfig::default()
    };
    assert!(wrong(missing).contains("no.key"));
    let mixed = TlsConfig {
        cert_file: Some(given("one.crt")),
        key_file: Some(given("two.key")),
        ..TlsConfig::default()
    };
    assert!(wrong(mixed).contains("one.crt"));
    assert!(
        Tls::new(&TlsConfig::default(), directory.path())
            .unwrap()
            .is_none()
    );
}
