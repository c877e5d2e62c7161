//! Listening and serving: bind with errors a person can act on, serve until told to stop, drain.

mod patience;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::tls::Tls;
use patience::Patient;

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {reason}")]
pub struct BindError {
    address: String,
    reason: String,
    // Not a `source`: the reason says it, in better words.
    kind: io::ErrorKind,
}

impl BindError {
    /// Whether somebody else listens there.
    pub fn is_in_use(&self) -> bool {
        self.kind == io::ErrorKind::AddrInUse
    }

    /// What could not be listened on.
    pub fn address(&self) -> &str {
        &self.address
    }
}

/// Listens on `host:port`. `key` is the configuration section of the two (`server` for
/// `server.host` and `server.port`); an error says which setting to change.
///
/// An empty host means all addresses. A name is bound at its first IPv4 address, or else its
/// first IPv6 one, and at no other: a port in use must be an error, not a different address.
pub async fn bind(host: &str, port: u16, key: &str) -> Result<TcpListener, BindError> {
    let name = if host.is_empty() { "0.0.0.0" } else { host };
    let failed = |source: io::Error| BindError {
        address: format!("{name}:{port}"),
        reason: explain(&source, port, key),
        kind: source.kind(),
    };
    let mut addresses: Vec<SocketAddr> = tokio::net::lookup_host((name, port))
        .await
        .map_err(failed)?
        .collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let Some(address) = addresses.first() else {
        return Err(failed(io::ErrorKind::NotFound.into()));
    };
    TcpListener::bind(address).await.map_err(failed)
}

fn explain(error: &io::Error, port: u16, key: &str) -> String {
    let setting = |name: &str| {
        let dashed = key.replace(['.', '_'], "-");
        let variable = key.replace('.', "_").to_uppercase();
        format!(
            "`{key}.{name}` (flag --{dashed}-{name}, environment HYPERFLEET_{variable}_{})",
            name.to_uppercase()
        )
    };
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "the port is in use. Stop the process that has it (`ss -ltnp sport = :{port}` shows \
             it) or choose another port with {}",
            setting("port")
        ),
        io::ErrorKind::PermissionDenied => format!(
            "not permitted. Ports below 1024 need privileges; choose another port with {}",
            setting("port")
        ),
        io::ErrorKind::AddrNotAvailable => format!(
            "no interface of this machine has that address. Change {}",
            setting("host")
        ),
        _ => format!("{error}. Check {} and {}", setting("host"), setting("port")),
    }
}

/// How long a server waits for its peers.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// For the whole head of a request, and for the next request on a connection that is kept.
    pub header_read_timeout: Duration,
    /// For a peer to take anything of what it is sent. One that takes nothing for longer is cut off.
    pub write_timeout: Duration,
    /// For requests in flight once the server is told to stop. What still runs then is cut off.
    pub max_drain: Duration,
    /// Encrypts every connection.
    pub tls: Option<Tls>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            header_read_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_drain: Duration::from_secs(15),
            tls: None,
        }
    }
}

/// Serves `router` until `stop` is cancelled, then stops accepting, lets requests in flight
/// finish, and returns when all connections are closed. Handlers find the peer's address as
/// `ConnectInfo<SocketAddr>`.
pub async fn serve<L>(
    mut listener: L,
    router: Router,
    stop: CancellationToken,
    options: ServeOptions,
) where
    L: Listener<Addr = SocketAddr>,
{
    let mut connections = JoinSet::new();
    let mut server = hyper::server::conn::http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_read_timeout);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            (stream, peer) = listener.accept() => {
                let (server, router, stop) = (server.clone(), router.clone(), stop.clone());
                let stream = Patient::new(stream, options.write_timeout);
                match options.tls.clone() {
                    None => connections.spawn(connection(server, stream, peer, router, stop)),
                    // Here and not where connections are accepted: one slow peer must not hold up the others.
                    Some(tls) => connections.spawn(async move {
                        match tls.accept(stream).await {
                            Ok(stream) => connection(server, stream, peer, router, stop).await,
                            Err(error) => tracing::debug!(%peer, %error, "no agreement on TLS"),
                        }
                    }),
                };
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(options.max_drain, drained)
        .await
        .is_err()
    {
        tracing::warn!(
            connections = connections.len(),
            "cutting off connections that did not finish within {:?}",
            options.max_drain
        );
    }
    connections.shutdown().await;
}

async fn connection<I>(
    server: hyper::server::conn::http1::Builder,
    stream: I,
    peer: SocketAddr,
    router: Router,
    stop: CancellationToken,
) where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut router = router.clone();
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        async move { Ok::<_, Infallible>(router.call(request).await.into_response()) }
    });
    let connection = server
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Peers that go away or send no HTTP are everyday events.
        tracing::debug!(%peer, %error, "connection ended early");
    }
}

/// The answer to a path that does not exist, as RFC 9457 has it.
pub async fn not_found(request: Request) -> Response {
    let problem = serde_json::json!({
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": format!("there is nothing at {}", request.uri().path()),
        "instance": request.uri().path(),
    });
    (
        StatusCode::NOT_FOUND,
        [(header::CONTENT_TYPE, "application/problem+json")],
        problem.to_string(),
    )
        .into_response()
}
