//! TLS for listeners: certificates that are replaced while the server runs, and callers that may have to show one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::shutdown::Shutdown;

/// How often the files are looked at. Their content counts: a mounted Secret is replaced by moving a link.
const EVERY: Duration = Duration::from_secs(2);
/// How long a peer may take to agree on a connection.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How a listener is encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TlsConfig {
    /// Whether callers must speak TLS.
    pub enabled: bool,
    /// The certificate and those that vouch for it, as PEM. Read again when it changes.
    pub cert_file: Option<PathBuf>,
    /// The key of the certificate, as PEM. Read again when it changes.
    pub key_file: Option<PathBuf>,
    /// Authorities, as PEM, whose certificates callers must show. Nobody must show one if nothing is said.
    pub client_ca_file: Option<PathBuf>,
    /// Lets in callers without a certificate, too; one that is shown must still be good.
    pub client_certificate_optional: bool,
}

/// Why a listener cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("tls is enabled and `{0}` is not set")]
    Missing(&'static str),
    #[error("cannot read {path}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("the certificate in {path} cannot be used: {reason}")]
    Unusable { path: PathBuf, reason: String },
}

/// Encrypts connections with the certificate that is in the files.
#[derive(Debug, Clone)]
pub struct Tls {
    files: Arc<Files>,
    current: Arc<ArcSwap<ServerConfig>>,
}

#[derive(Debug)]
struct Files {
    cert: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
    optional: bool,
}

impl Tls {
    /// `None` when the listener is not encrypted. Relative paths start at `directory`.
    pub fn new(config: &TlsConfig, directory: &Path) -> Result<Option<Tls>, TlsError> {
        if !config.enabled {
            return Ok(None);
        }
        let path = |written: &Option<PathBuf>| written.as_ref().map(|path| directory.join(path));
        let files = Files {
            cert: path(&config.cert_file).ok_or(TlsError::Missing("cert_file"))?,
            key: path(&config.key_file).ok_or(TlsError::Missing("key_file"))?,
            client_ca: path(&config.client_ca_file),
            optional: config.client_certificate_optional,
        };
        let current = Arc::new(ArcSwap::new(files.load()?));
        Ok(Some(Tls {
            files: Arc::new(files),
            current,
        }))
    }

    /// Agrees with a peer on an encrypted connection.
    pub(crate) async fn accept<I>(&self, stream: I) -> io::Result<TlsStream<I>>
    where
        I: AsyncRead + AsyncWrite + Unpin,
    {
        let acceptor = TlsAcceptor::from(self.current.load_full());
        match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
            Ok(agreed) => agreed,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Takes new certificates as they come, until told to stop. Bad ones leave the old ones in use.
    pub async fn reload(self, shutdown: Shutdown) {
        let mut seen = self.files.content();
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
            let now = self.files.content();
            if now == seen {
                continue;
            }
            seen = now;
            match self.files.load() {
                Ok(config) => {
                    self.current.store(config);
                    tracing::info!(file = %self.files.cert.display(), "a new certificate is in use");
                }
                Err(error) => tracing::error!(%error, "the old certificate stays in use"),
            }
        }
    }
}

impl Files {
    /// What the files hold; nothing for those that cannot be read.
    fn content(&self) -> Vec<Option<Vec<u8>>> {
        let files = [Some(&self.cert), Some(&self.key), self.client_ca.as_ref()];
        files
            .into_iter()
            .flatten()
            .map(|path| std::fs::read(path).ok())
            .collect()
    }

    fn load(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let unusable = |reason: String| TlsError::Unusable {
            path: self.cert.clone(),
            reason,
        };
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(ring.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(path)? {
                    roots
                        .add(authority)
                        .map_err(|error| file(path, error.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), ring);
                let verifier = match self.optional {
                    true => verifier.allow_unauthenticated(),
                    false => verifier,
                };
                let verifier = verifier
                    .build()
                    .map_err(|error| file(path, error.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| file(&self.key, error.to_string()))?;
        let mut config = builder
            .with_single_cert(certificates(&self.cert)?, key)
            .map_err(|error| unusable(error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let listed =
        CertificateDer::pem_file_iter(path).map_err(|error| file(path, error.to_string()))?;
    let listed: Vec<_> = listed
        .collect::<Result<_, _>>()
        .map_err(|error| file(path, error.to_string()))?;
    match listed.is_empty() {
        true => Err(file(path, "there is no certificate in it".to_owned())),
        false => Ok(listed),
    }
}

fn file(path: &Path, reason: String) -> TlsError {
    TlsError::File {
        path: path.to_owned(),
        reason,
    }
}
