//! Callers that ask and do not listen.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::get;
use futures::StreamExt;
use hyperfleet_runtime::http::{self, ServeOptions};
use hyperfleet_runtime::shutdown::Shutdown;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// More than any pair of sockets holds between them.
const CHUNKS: usize = 1024;
const CHUNK: usize = 64 * 1024;

/// Says when it goes.
struct Held(Arc<Notify>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn server(gone: Arc<Notify>, shutdown: &Shutdown) -> std::net::SocketAddr {
    let listener = http::bind("127.0.0.1", 0, "server").await.unwrap();
    let address = listener.local_addr().unwrap();
    let large = move || {
        let held = Held(gone.clone());
        let chunks = futures::stream::iter(0..CHUNKS).map(move |_| {
            let _ = &held;
            Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b'x'; CHUNK]))
        });
        async move { Body::from_stream(chunks) }
    };
    let options = ServeOptions {
        write_timeout: Duration::from_millis(300),
        ..ServeOptions::default()
    };
    let router = Router::new().route("/", get(large));
    tokio::spawn(http::serve(listener, router, shutdown.token(), options));
    address
}

const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn a_caller_that_never_reads_its_answer_is_cut_off() {
    let (gone, shutdown) = (Arc::new(Notify::new()), Shutdown::new());
    let address = server(gone.clone(), &shutdown).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(ASK).await.unwrap();
    // The answer is let go of although the caller is still there.
    let let_go = tokio::time::timeout(Duration::from_secs(60), gone.notified());
    assert!(let_go.await.is_ok(), "the answer is held for ever");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.len() < CHUNKS * CHUNK, "it was not sent to its end");
    shutdown.trigger();
}
