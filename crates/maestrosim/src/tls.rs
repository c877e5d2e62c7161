//! Connections behind TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub(crate) struct Listener {
    inner: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener {
    pub(crate) fn new(inner: TcpListener, config: Arc<rustls::ServerConfig>) -> Self {
        let acceptor = TlsAcceptor::from(config);
        Self { inner, acceptor }
    }
}

impl axum::serve::Listener for Listener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            // Whoever breaks off, or is not let in, is nobody.
            if let Ok((stream, address)) = self.inner.accept().await
                && let Ok(stream) = self.acceptor.accept(stream).await
            {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.inner.local_addr()
    }
}
