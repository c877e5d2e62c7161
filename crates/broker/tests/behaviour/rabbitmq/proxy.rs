//! A wire between client and server that can be cut.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(super) struct Proxy {
    url: String,
    wire: Arc<Wire>,
}

struct Wire {
    connected: Mutex<CancellationToken>,
    refusing: AtomicBool,
}

impl Proxy {
    pub(super) async fn to(url: &str) -> Self {
        let (rest, target) = url.rsplit_once('@').unwrap();
        let target = target.trim_end_matches("/%2f").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let wire = Arc::new(Wire {
            connected: Mutex::default(),
            refusing: AtomicBool::new(false),
        });
        tokio::spawn(serve(listener, target, Arc::clone(&wire)));
        Self {
            url: format!("{rest}@{address}/%2f"),
            wire,
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Breaks every connection there is; new ones are welcome.
    pub(super) fn cut(&self) {
        std::mem::take(&mut *self.wire.connected.lock().unwrap()).cancel();
    }

    /// Breaks every connection and lets none in.
    pub(super) fn down(&self) {
        self.wire.refusing.store(true, Ordering::SeqCst);
        self.cut();
    }

    pub(super) fn up(&self) {
        self.wire.refusing.store(false, Ordering::SeqCst);
    }
}

async fn serve(listener: TcpListener, target: String, wire: Arc<Wire>) {
    while let Ok((mut client, _)) = listener.accept().await {
        if wire.refusing.load(Ordering::SeqCst) {
            continue;
        }
        let cut = wire.connected.lock().unwrap().clone();
        let target = target.clone();
        tokio::spawn(async move {
            let Ok(mut server) = TcpStream::connect(&target).await else {
                return;
            };
            tokio::select! {
                () = cut.cancelled() => {}
                _ended = copy_bidirectional(&mut client, &mut server) => {}
            }
        });
    }
}
