//! Certificates made for one run of the tests, by openssl.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;

pub(crate) struct Certificates {
    directory: tempfile::TempDir,
}

impl Certificates {
    /// An authority, a server called `localhost`, a client, and an authority that vouches for nobody.
    pub(crate) fn make() -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let made = Self { directory };
        let at = made.directory.path();
        for authority in ["ca", "stranger"] {
            let subject = format!("/CN={authority}");
            let key = format!("{authority}.key");
            let certificate = format!("{authority}.crt");
            openssl(
                at,
                &[
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:prime256v1",
                    "-nodes",
                    "-days",
                    "2",
                    "-subj",
                    &subject,
                    "-keyout",
                    &key,
                    "-out",
                    &certificate,
                ],
            )?;
        }
        for (name, extension) in [
            ("server", "subjectAltName=DNS:localhost"),
            ("client", "extendedKeyUsage=clientAuth"),
        ] {
            let subject = format!("/CN={name}");
            let (key, request, certificate) = (
                format!("{name}.key"),
                format!("{name}.csr"),
                format!("{name}.crt"),
            );
            let extensions = format!("{name}.ext");
            std::fs::write(at.join(&extensions), extension).map_err(|error| error.to_string())?;
            openssl(
                at,
                &[
                    "req",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:prime256v1",
                    "-nodes",
                    "-subj",
                    &subject,
                    "-keyout",
                    &key,
                    "-out",
                    &request,
                ],
            )?;
            openssl(
                at,
                &[
                    "x509",
                    "-req",
                    "-days",
                    "2",
                    "-in",
                    &request,
                    "-CA",
                    "ca.crt",
                    "-CAkey",
                    "ca.key",
                    "-CAcreateserial",
                    "-extfile",
                    &extensions,
                    "-out",
                    &certificate,
                ],
            )?;
        }
        Ok(made)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What the server shows; `demanding` wants to see a certificate too.
    pub(crate) fn server(&self, demanding: bool) -> Arc<rustls::ServerConfig> {
        hyperfleet_runtime::crypto::install_ring();
        let chain = vec![self.certificate("server.crt")];
        let key = PrivateKeyDer::from_pem_file(self.path("server.key")).unwrap();
        let builder = rustls::ServerConfig::builder();
        let builder = match demanding {
            false => builder.with_no_client_auth(),
            true => {
                let mut roots = RootCertStore::empty();
                roots.add(self.certificate("ca.crt")).unwrap();
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots));
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }

    fn certificate(&self, name: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(self.path(name)).unwrap()
    }
}

fn openssl(at: &Path, arguments: &[&str]) -> Result<(), String> {
    let status = Command::new("openssl")
        .args(arguments)
        .current_dir(at)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("openssl cannot be run: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("openssl {} failed", arguments.join(" "))),
    }
}
