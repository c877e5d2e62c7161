//! A stand-in for a Maestro server, in memory.
//!
//! ```text
//!  REST  GET /api/maestro/v1/{resource-bundles,consumers} ──┐
//!  gRPC  CloudEventService/Publish ─────────────────────────┼──► State ◄── the test, as agent and operator
//! ```
//!
//! Where it and Maestro differ, this is wrong.

#![forbid(unsafe_code)]

mod grpc;
mod rest;
mod state;
mod tls;
mod wire;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use state::State;

/// How it listens.
#[derive(Clone, Default)]
pub struct Options {
    /// The certificate and key it shows, and whom it wants to know; without, plain text.
    pub tls: Option<Arc<rustls::ServerConfig>>,
}

/// A running server. It stops when this is dropped.
pub struct Server {
    state: Handle,
    http: SocketAddr,
    grpc: SocketAddr,
    scheme: &'static str,
    tasks: Vec<JoinHandle<()>>,
}

/// What is shared with the handlers.
#[derive(Clone, Default)]
pub(crate) struct Handle(Arc<Mutex<State>>);

impl Handle {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|held| held.into_inner())
    }
}

impl Server {
    /// On free ports of the loopback.
    pub async fn start(options: Options) -> std::io::Result<Self> {
        let state = Handle::default();
        let mut tasks = Vec::new();
        let rest = rest::router().layer(middleware::from_fn_with_state(state.clone(), door));
        let grpc = grpc::router().layer(middleware::from_fn_with_state(state.clone(), grpc::door));
        let http = listen(rest.with_state(state.clone()), &options, &mut tasks).await?;
        let grpc = listen(grpc.with_state(state.clone()), &options, &mut tasks).await?;
        Ok(Self {
            state,
            http,
            grpc,
            scheme: match options.tls {
                Some(_) => "https",
                None => "http",
            },
            tasks,
        })
    }

    /// Where it is read. With TLS under the name `localhost`, which certificates are made for.
    pub fn http_address(&self) -> String {
        match self.scheme {
            "https" => format!("https://localhost:{}", self.http.port()),
            _ => format!("http://{}", self.http),
        }
    }

    /// Where it takes events.
    pub fn grpc_address(&self) -> String {
        match self.scheme {
            "https" => format!("localhost:{}", self.grpc.port()),
            _ => self.grpc.to_string(),
        }
    }

    /// Makes a cluster known.
    pub fn register(&self, consumer: &str) {
        self.state.lock().consumers.insert(consumer.to_owned());
    }

    /// From now on it answers nobody, or everybody again.
    pub fn set_down(&self, down: bool) {
        self.state.lock().down = down;
    }

    /// The next so many requests are answered with an outage.
    pub fn fail_next(&self, requests: usize) {
        self.state.lock().failing = requests;
    }

    /// From now on it takes events and says nothing.
    pub fn set_mute(&self, mute: bool) {
        self.state.lock().mute = mute;
    }

    /// What it keeps, as REST shows it.
    pub fn bundles(&self) -> Vec<Value> {
        self.state.lock().shown()
    }

    /// Who has called so far.
    pub fn callers(&self) -> Vec<String> {
        self.state.lock().callers.clone()
    }

    /// How many events were taken so far.
    pub fn events(&self) -> usize {
        self.state.lock().events
    }

    /// Plays the agent: says this of the work as it is now. `false` if there is no such work.
    pub fn report(&self, consumer: &str, name: &str, status: Value) -> bool {
        self.state.lock().report(consumer, name, status)
    }

    /// Plays the agent: a work that is to go has gone. `false` if none is.
    pub fn confirm_deletion(&self, consumer: &str, name: &str) -> bool {
        self.state.lock().confirm_deletion(consumer, name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn listen(
    router: Router,
    options: &Options,
    tasks: &mut Vec<JoinHandle<()>>,
) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tasks.push(match &options.tls {
        None => tokio::spawn(async move {
            // It never ends by itself.
            let _ = axum::serve(listener, router).await;
        }),
        Some(config) => {
            let listener = tls::Listener::new(listener, Arc::clone(config));
            tokio::spawn(async move {
                let _ = axum::serve(listener, router).await;
            })
        }
    });
    Ok(address)
}

/// Notes who calls, and keeps everybody out while it is down.
async fn door(
    Shared(state): Shared<Handle>,
    headers: HeaderMap,
    request: axum::extract::Request,
    next: Next,
) -> Response {
    if state.lock().meet(&caller(&headers)) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    next.run(request).await
}

pub(crate) fn caller(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    agent.unwrap_or_default().to_owned()
}
