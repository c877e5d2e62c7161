//! From a configuration to connections, made anew when a certificate changes.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hyperfleet_runtime::crypto;
use reqwest::Url;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use super::config::{MaestroConfig, MaestroError, MaestroSecurity, MaestroTls};

/// Both ways to the server.
pub(super) struct Connection {
    pub(super) http: reqwest::Client,
    pub(super) grpc: Channel,
}

/// The connections of a configuration.
pub(super) struct Connections {
    config: MaestroConfig,
    pub(super) base: Url,
    state: Mutex<State>,
}

struct State {
    connection: Arc<Connection>,
    made_of: Option<Material>,
    looked: Instant,
}

/// What the files of TLS hold.
#[derive(PartialEq, Eq)]
struct Material {
    ca: Vec<u8>,
    http_ca: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Connections {
    /// Connects to nothing yet: that happens with the first call.
    pub(super) fn new(config: MaestroConfig) -> Result<Self, MaestroError> {
        crypto::install_ring();
        let base = base(&config)?;
        let made_of = material(&config)?;
        let connection = Arc::new(connection(&config, made_of.as_ref())?);
        Ok(Self {
            config,
            base,
            state: Mutex::new(State {
                connection,
                made_of,
                looked: Instant::now(),
            }),
        })
    }

    /// The current one. Files that changed to something unusable are told, and the old connection serves on.
    pub(super) fn get(&self) -> Arc<Connection> {
        let mut state = self.state.lock().unwrap_or_else(|held| held.into_inner());
        if state.made_of.is_some() && state.looked.elapsed() >= self.config.reread {
            state.looked = Instant::now();
            self.renew(&mut state);
        }
        Arc::clone(&state.connection)
    }

    fn renew(&self, state: &mut State) {
        let made = material(&self.config).and_then(|found| {
            if found == state.made_of {
                return Ok(None);
            }
            let made = connection(&self.config, found.as_ref())?;
            Ok(Some((made, found)))
        });
        match made {
            Ok(None) => {}
            Ok(Some((made, found))) => {
                tracing::info!("the certificates for Maestro changed: connecting anew");
                (state.connection, state.made_of) = (Arc::new(made), found);
            }
            Err(error) => tracing::warn!(%error, "the old certificates for Maestro are kept"),
        }
    }
}

fn wrong(key: &'static str, problem: impl ToString) -> MaestroError {
    MaestroError::Config {
        key,
        problem: problem.to_string(),
    }
}

fn base(config: &MaestroConfig) -> Result<Url, MaestroError> {
    const KEY: &str = "http_server_address";
    let url = Url::parse(&config.http_address).map_err(|error| wrong(KEY, error))?;
    match (url.scheme(), &config.security) {
        ("https", _) | ("http", MaestroSecurity::None) => {}
        ("http", MaestroSecurity::Tls(_)) => {
            let problem = "without `insecure: true` it must be https";
            return Err(wrong(KEY, problem));
        }
        (other, _) => {
            let problem = format!("it must be http or https, not {other}");
            return Err(wrong(KEY, problem));
        }
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() {
        let problem = "scheme, host and port are enough: no user, query or fragment";
        return Err(wrong(KEY, problem));
    }
    Ok(url)
}

fn material(config: &MaestroConfig) -> Result<Option<Material>, MaestroError> {
    let MaestroSecurity::Tls(files) = &config.security else {
        return Ok(None);
    };
    let http_ca = files.http_ca.as_deref();
    let identity = files.identity.as_ref().map(|(certificate, key)| {
        Ok((
            read("auth.tls_config.cert_file", certificate)?,
            read("auth.tls_config.key_file", key)?,
        ))
    });
    Ok(Some(Material {
        ca: read("auth.tls_config.ca_file", &files.ca)?,
        http_ca: http_ca
            .map(|path| read("auth.tls_config.http_ca_file", path))
            .transpose()?,
        identity: identity.transpose()?,
    }))
}

fn read(key: &'static str, path: &Path) -> Result<Vec<u8>, MaestroError> {
    std::fs::read(path).map_err(|error| wrong(key, format!("cannot read the file: {error}")))
}

fn connection(
    config: &MaestroConfig,
    material: Option<&Material>,
) -> Result<Connection, MaestroError> {
    Ok(Connection {
        http: http(config, material)?,
        grpc: grpc(config, material)?,
    })
}

fn http(
    config: &MaestroConfig,
    material: Option<&Material>,
) -> Result<reqwest::Client, MaestroError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(&config.client_id)
        .timeout(config.timeout)
        .redirect(reqwest::redirect::Policy::none());
    builder = match material {
        None => builder.tls_danger_accept_invalid_certs(true),
        Some(material) => {
            let (key, pem) = match &material.http_ca {
                Some(pem) => ("auth.tls_config.http_ca_file", pem),
                None => ("auth.tls_config.ca_file", &material.ca),
            };
            let roots = reqwest::Certificate::from_pem_bundle(pem);
            let roots = roots.map_err(|error| wrong(key, error))?;
            if roots.is_empty() {
                return Err(wrong(key, "there is no certificate in the file"));
            }
            builder.tls_certs_only(roots)
        }
    };
    builder
        .build()
        .map_err(|error| wrong("http_server_address", crate::kubernetes::reason(&error)))
}

fn grpc(config: &MaestroConfig, material: Option<&Material>) -> Result<Channel, MaestroError> {
    const KEY: &str = "grpc_server_address";
    let scheme = match material {
        None => "http",
        Some(_) => "https",
    };
    let address = &config.grpc_address;
    if address.contains("://") {
        let problem = "host and port are enough: whether it is TLS follows from `insecure`";
        return Err(wrong(KEY, problem));
    }
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"));
    let mut endpoint = endpoint
        .and_then(|endpoint| endpoint.user_agent(config.client_id.as_str()))
        .map_err(|error| wrong(KEY, crate::kubernetes::reason(&error)))?
        .connect_timeout(config.timeout);
    if endpoint.uri().port().is_none() {
        return Err(wrong(
            KEY,
            "host and port are needed, such as `maestro:8090`",
        ));
    }
    if let Some(keepalive) = config.keepalive {
        // Only while a call is under way: a server may hang up on who probes an idle connection.
        endpoint = endpoint
            .http2_keep_alive_interval(keepalive.time)
            .keep_alive_timeout(keepalive.timeout);
    }
    if let (Some(material), MaestroSecurity::Tls(files)) = (material, &config.security) {
        let tls = endpoint.tls_config(tls(files, material));
        endpoint =
            tls.map_err(|error| wrong("auth.tls_config", crate::kubernetes::reason(&error)))?;
    }
    Ok(endpoint.connect_lazy())
}

fn tls(files: &MaestroTls, material: &Material) -> ClientTlsConfig {
    let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&material.ca));
    if let Some((certificate, key)) = &material.identity {
        tls = tls.identity(Identity::from_pem(certificate, key));
    }
    match &files.server_name {
        Some(name) => tls.domain_name(name),
        None => tls,
    }
}
