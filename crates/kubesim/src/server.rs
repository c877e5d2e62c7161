//! Starting, serving and stopping.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::catalog::Catalog;
use crate::cluster::{Call, Cluster, State, create};
use crate::failure::Failure;
use crate::options::Options;
use crate::query::Query;
use crate::store::Store;
use crate::{controllers, http, kubeconfig, persist};

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken or the address is not ours.
    #[error(
        "kubesim cannot listen on {address}: {source}; choose another address or stop what listens there"
    )]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The state file could not be read or written.
    #[error("kubesim cannot use the state file {}: {source}", path.display())]
    StateFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The state file is cut short or not ours.
    #[error(
        "the state file {} is damaged ({problem}); move it away to start with an empty world, or restore it from a copy",
        path.display()
    )]
    DamagedState {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// A running server. Dropping it stops it; [`Server::shutdown`] also waits for the state file.
#[derive(Debug)]
pub struct Server {
    url: String,
    cluster: Arc<Cluster>,
    requests: Arc<AtomicU64>,
    cancel: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    _stop_on_drop: DropGuard,
}

impl Server {
    /// Loads the state, if any, and serves until dropped.
    pub async fn start(options: Options) -> Result<Server, StartError> {
        let mut state = State {
            catalog: Catalog::builtin(),
            store: Store::default(),
        };
        let saved = match &options.state_file {
            Some(path) => persist::load(path)?,
            None => None,
        };
        match saved {
            Some(saved) => saved.restore(&mut state),
            None => state.store.restore(1, Vec::new()),
        }
        ensure_default_namespaces(&mut state);

        let listener =
            TcpListener::bind(options.listen)
                .await
                .map_err(|source| StartError::Listen {
                    address: options.listen,
                    source,
                })?;
        let address = listener.local_addr().map_err(|source| StartError::Listen {
            address: options.listen,
            source,
        })?;
        let cluster = Arc::new(Cluster::new(state, options));
        let cancel = CancellationToken::new();

        let mut tasks = vec![tokio::spawn(controllers::run(
            Arc::clone(&cluster),
            cancel.clone(),
        ))];
        if let Some(path) = cluster.options.state_file.clone() {
            tasks.push(tokio::spawn(persist::run(
                Arc::clone(&cluster),
                path,
                cancel.clone(),
            )));
        }
        let requests = Arc::new(AtomicU64::new(0));
        let router = http::router(http::Front {
            cluster: Arc::clone(&cluster),
            cancel: cancel.clone(),
            requests: Arc::clone(&requests),
        });
        let stopped = cancel.clone();
        tasks.push(tokio::spawn(async move {
            let serve =
                axum::serve(listener, router).with_graceful_shutdown(stopped.cancelled_owned());
            if let Err(error) = serve.await {
                tracing::error!(%error, "kubesim stopped serving");
            }
        }));
        Ok(Server {
            url: format!("http://{address}"),
            cluster,
            requests,
            _stop_on_drop: cancel.clone().drop_guard(),
            cancel,
            tasks,
        })
    }

    /// `http://HOST:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A kubeconfig for this server, as YAML.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::kubeconfig(&self.url)
    }

    /// How many requests it has been asked, of whatever sort.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Stops accepting requests, ends watches, saves the state and waits for all of it.
    pub async fn shutdown(mut self) {
        self.cancel.cancel();
        for task in self.tasks.drain(..) {
            if let Err(error) = task.await {
                tracing::error!(%error, "a kubesim task did not end well");
            }
        }
        // Once more, for what the last requests wrote while the saving task was stopping.
        if let Some(path) = &self.cluster.options.state_file {
            persist::save(&self.cluster, path).await;
        }
    }
}

fn ensure_default_namespaces(state: &mut State) {
    let Some(namespaces) = state.catalog.find("", "v1", "namespaces") else {
        return;
    };
    let query = Query {
        field_manager: "kube-apiserver".into(),
        ..Query::default()
    };
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let call = Call {
            resource: &namespaces,
            namespace: "",
            name: "",
            subresource: "",
            query: &query,
            now: chrono::Utc::now(),
        };
        match create(state, &call, json!({ "metadata": { "name": name } })) {
            Ok(_)
            | Err(Failure {
                reason: "AlreadyExists",
                ..
            }) => {}
            Err(failure) => tracing::error!(
                name,
                message = failure.message,
                "cannot create a default namespace"
            ),
        }
    }
}
