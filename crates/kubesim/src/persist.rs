//! The state file: every object as JSON, replaced as a whole shortly after a change.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, State};
use crate::server::StartError;

/// Changes within this time are saved together.
const DEBOUNCE: Duration = Duration::from_millis(200);
const FORMAT: &str = "kubesim/1";

#[derive(Debug)]
pub(crate) struct Saved {
    revision: u64,
    objects: Vec<(String, Value)>,
}

impl Saved {
    pub(crate) fn restore(self, state: &mut State) {
        for (storage, object) in &self.objects {
            if storage == "customresourcedefinitions.apiextensions.k8s.io" {
                state.catalog.serve_custom(object);
            }
        }
        state.store.restore(self.revision, self.objects);
    }
}

/// Reads a state file; `None` when there is none yet.
pub(crate) fn load(path: &Path) -> Result<Option<Saved>, StartError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(StartError::StateFile {
                path: path.to_owned(),
                source,
            });
        }
    };
    parse(&bytes)
        .map(Some)
        .map_err(|problem| StartError::DamagedState {
            path: path.to_owned(),
            problem,
        })
}

fn parse(bytes: &[u8]) -> Result<Saved, String> {
    let mut file: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if file["format"] != FORMAT {
        return Err(format!("its format is not {FORMAT}"));
    }
    let revision = file["revision"].as_u64().ok_or("it has no revision")?;
    let Value::Object(resources) = file["objects"].take() else {
        return Err("it has no objects".into());
    };
    let mut objects = Vec::new();
    for (storage, list) in resources {
        let Value::Array(list) = list else {
            return Err(format!("{storage} is not a list"));
        };
        for object in list {
            if crate::meta::uid(&object).is_empty() {
                return Err(format!("an object of {storage} has no uid"));
            }
            objects.push((storage.clone(), object));
        }
    }
    Ok(Saved { revision, objects })
}

/// Saves after every change, and a last time when the server stops.
pub(crate) async fn run(cluster: Arc<Cluster>, path: PathBuf, cancel: CancellationToken) {
    let mut saved = 0;
    loop {
        tokio::select! {
            () = cluster.dirty.notified() => {
                tokio::select! {
                    () = tokio::time::sleep(DEBOUNCE) => {}
                    () = cancel.cancelled() => {}
                }
            }
            () = cancel.cancelled() => {}
        }
        saved = save_off_thread(&cluster, &path, saved).await;
        if cancel.is_cancelled() {
            return;
        }
    }
}

/// Saves whatever there is now.
pub(crate) async fn save(cluster: &Arc<Cluster>, path: &Path) {
    save_off_thread(cluster, path, 0).await;
}

/// Returns the revision now on disk.
async fn save_off_thread(cluster: &Arc<Cluster>, path: &Path, saved: u64) -> u64 {
    let (revision, snapshot) = snapshot(cluster);
    if revision == saved {
        return saved;
    }
    let target = path.to_owned();
    let result = tokio::task::spawn_blocking(move || write(&target, &snapshot)).await;
    match result {
        Ok(Ok(())) => revision,
        Ok(Err(error)) => {
            tracing::error!(path = %path.display(), %error, "kubesim cannot save its state");
            saved
        }
        Err(error) => {
            tracing::error!(%error, "kubesim's saving task failed");
            saved
        }
    }
}

type Snapshot = Vec<(String, Vec<Arc<Value>>)>;

/// Copies pointers under the lock; the JSON is written outside it.
fn snapshot(cluster: &Cluster) -> (u64, (u64, Snapshot)) {
    let state = cluster.lock();
    let objects = state
        .store
        .storages()
        .map(|storage| {
            let list = state
                .store
                .range(storage, "", None)
                .map(|(_, object)| Arc::clone(object))
                .collect();
            (storage.clone(), list)
        })
        .collect();
    let revision = state.store.revision();
    (revision, (revision, objects))
}

fn write(path: &Path, (revision, objects): &(u64, Snapshot)) -> io::Result<()> {
    let objects: serde_json::Map<String, Value> = objects
        .iter()
        .map(|(storage, list)| {
            (
                storage.clone(),
                list.iter().map(|o| (**o).clone()).collect(),
            )
        })
        .collect();
    let file = json!({ "format": FORMAT, "revision": revision, "objects": objects });
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let temporary = path.with_extension("tmp");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(&temporary)?;
    out.write_all(file.to_string().as_bytes())?;
    out.sync_all()?;
    fs::rename(&temporary, path)
}
