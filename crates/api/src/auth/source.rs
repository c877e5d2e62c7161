//! Where the keys of an issuer come from: a file, an address, or the address its discovery document names.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;

/// The largest answer that is read.
const MAX_BYTES: usize = 1024 * 1024;
/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why there are no keys, or no new ones.
#[derive(Debug, thiserror::Error)]
pub(super) enum SourceError {
    #[error("cannot read {path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot fetch {url}: {}", chain(source))]
    Fetch { url: String, source: reqwest::Error },
    #[error("{url} answers with status {status}")]
    Status { url: String, status: u16 },
    #[error("{url} answers with more than {MAX_BYTES} bytes")]
    TooLarge { url: String },
    #[error("the discovery document {url} {what}")]
    Discovery { url: String, what: String },
}

/// An error with its causes: what `reqwest` says first is seldom the reason.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[derive(Debug)]
pub(super) enum Source {
    File(PathBuf),
    /// An address, and a file for when it does not answer.
    Url(Url, Fetcher, Option<PathBuf>),
    Discovery {
        issuer: String,
        document: Url,
        fetcher: Fetcher,
    },
}

impl Source {
    /// The text of the key set as it is now.
    pub(super) async fn read(&self) -> Result<Vec<u8>, SourceError> {
        match self {
            Source::File(path) => file(path).await,
            Source::Url(url, fetcher, instead) => match (fetcher.get(url).await, instead) {
                (Err(error), Some(path)) => {
                    tracing::warn!(%error, file = %path.display(), "the keys in the file are taken instead");
                    file(path).await
                }
                (outcome, _) => outcome,
            },
            Source::Discovery {
                issuer,
                document,
                fetcher,
            } => {
                let keys = discover(issuer, document, fetcher).await?;
                fetcher.get(&keys).await
            }
        }
    }
}

async fn file(path: &Path) -> Result<Vec<u8>, SourceError> {
    tokio::fs::read(path).await.map_err(|source| {
        let path = path.to_owned();
        SourceError::File { path, source }
    })
}

/// The address of the keys, from a document that must speak of the same issuer.
async fn discover(issuer: &str, document: &Url, fetcher: &Fetcher) -> Result<Url, SourceError> {
    let failed = |what: String| SourceError::Discovery {
        url: document.to_string(),
        what,
    };
    let text = fetcher.get(document).await?;
    let read: Value =
        serde_json::from_slice(&text).map_err(|error| failed(format!("is not JSON: {error}")))?;
    if read["issuer"].as_str() != Some(issuer) {
        return Err(failed(format!("is not that of {issuer}")));
    }
    let keys = read["jwks_uri"].as_str().and_then(|url| url.parse().ok());
    keys.filter(is_safe)
        .ok_or_else(|| failed("names no jwks_uri with https".to_owned()))
}

/// Keys that came over plain HTTP could be anybody's, except from this machine.
pub(super) fn is_safe(url: &Url) -> bool {
    match url.scheme() {
        "https" => true,
        "http" => crate::loopback::is_loopback_host(url.host_str().unwrap_or_default()),
        _ => false,
    }
}

/// Gets documents: bounded in time and size, and without following anybody elsewhere.
#[derive(Debug)]
pub(super) struct Fetcher {
    client: reqwest::Client,
    token_file: Option<PathBuf>,
}

/// Why no document can be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetcherError {
    #[error("cannot read the certificates in {path}: {reason}")]
    Authorities { path: PathBuf, reason: String },
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("no HTTP client can be made: {0}")]
    Client(#[from] reqwest::Error),
}

impl Fetcher {
    pub(super) fn new(
        authorities: Option<PathBuf>,
        token_file: Option<PathBuf>,
    ) -> Result<Fetcher, FetcherError> {
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots(authorities)?)
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIMEOUT)
            .build()?;
        Ok(Fetcher { client, token_file })
    }

    async fn get(&self, url: &Url) -> Result<Vec<u8>, SourceError> {
        let failed = |source| SourceError::Fetch {
            url: url.to_string(),
            source,
        };
        let mut request = self.client.get(url.clone());
        if let Some(path) = &self.token_file {
            let token = file(path).await?;
            request = request.bearer_auth(String::from_utf8_lossy(&token).trim());
        }
        let mut answer = request.send().await.map_err(failed)?;
        if !answer.status().is_success() {
            return Err(SourceError::Status {
                url: url.to_string(),
                status: answer.status().as_u16(),
            });
        }
        let mut text = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if text.len() + chunk.len() > MAX_BYTES {
                return Err(SourceError::TooLarge {
                    url: url.to_string(),
                });
            }
            text.extend_from_slice(&chunk);
        }
        Ok(text)
    }
}

fn roots(authorities: Option<PathBuf>) -> Result<RootCertStore, FetcherError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = authorities else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    let failed = |reason: String| FetcherError::Authorities {
        path: path.clone(),
        reason,
    };
    let listed = CertificateDer::pem_file_iter(&path).map_err(|error| failed(error.to_string()))?;
    for certificate in listed {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(failed("there are none".to_owned()));
    }
    Ok(roots)
}
