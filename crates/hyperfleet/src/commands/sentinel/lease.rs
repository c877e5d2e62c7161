//! Sentinels that find each other through a Lease object: one for each kind, with an annotation that lists them.
//!
//! There is no clock that all of them share. A replica counts as gone when its entry has not changed for as long as it
//! said, by the clock of whoever looks and from when that one first saw it: later than by the replica's own reckoning,
//! so a shard never has two holders. Two that write at once are told apart by the object's version.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use chrono::{SecondsFormat, Utc};
use hyperfleet_core::presence::{Announcement, Presence, Standing};
use hyperfleet_core::shard::Shards;
use hyperfleet_sentinel::{Options, Registrar, RegistrarError};
use hyperfleet_transport::{
    Failure, KubernetesConfig, KubernetesTransport, ObjectKind, ObjectRef, Transport,
    TransportError, pod_namespace,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

#[cfg(test)]
mod tests;

const ANNOTATION: &str = "hyperfleet.io/sentinels";
/// How often a write is tried that others were faster than.
const TRIES: u32 = 8;

pub(super) struct LeaseRegistrar {
    transport: Box<dyn Transport>,
    namespace: String,
    /// How often each of the others had renewed when it was first seen so, and when that was.
    seen: Mutex<HashMap<Uuid, (u64, Instant)>>,
    /// The kind each of ours watches, for when it goes.
    ours: Mutex<HashMap<Uuid, String>>,
}

/// One Sentinel in the annotation.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    name: String,
    #[serde(default)]
    selector: BTreeMap<String, String>,
    shares: bool,
    held: Shards,
    leaving: bool,
    duration_seconds: u32,
    renewals: u64,
}

type Entries = BTreeMap<Uuid, Entry>;

impl LeaseRegistrar {
    pub(super) async fn connect(options: &Options) -> Result<LeaseRegistrar> {
        let mut config = KubernetesConfig::new("hyperfleet-sentinel");
        if let Some(path) = &options.sentinel.kube_config_path {
            config = config.with_kube_config(path);
        }
        let namespace = match &options.sentinel.lease_namespace {
            Some(namespace) => namespace.clone(),
            None => pod_namespace().await,
        };
        let transport = KubernetesTransport::connect(config).await?;
        Ok(LeaseRegistrar::new(Box::new(transport), namespace))
    }

    fn new(transport: Box<dyn Transport>, namespace: String) -> LeaseRegistrar {
        LeaseRegistrar {
            transport,
            namespace,
            seen: Mutex::default(),
            ours: Mutex::default(),
        }
    }

    fn lease(&self, resource_type: &str) -> ObjectRef {
        let name = format!("hyperfleet-sentinel-{}", resource_type.to_lowercase());
        ObjectKind::new("coordination.k8s.io/v1", "Lease").named(Some(&self.namespace), &name)
    }

    /// Changes the list: reads, decides, writes if nobody was faster, and otherwise begins again.
    async fn change<T>(
        &self,
        resource_type: &str,
        change: impl Fn(&mut Entries) -> (Option<Uuid>, T),
    ) -> Result<T, RegistrarError> {
        let lease = self.lease(resource_type);
        let mut last = String::new();
        for _ in 0..TRIES {
            let found = self.transport.get(&lease).await.map_err(failed)?;
            let mut entries = match &found {
                Some(found) => entries(found)?,
                None => Entries::new(),
            };
            let (holder, answer) = change(&mut entries);
            let object = object(&lease, found.as_ref(), &entries, holder);
            let written = match found {
                Some(_) => self.transport.patch(&lease, &object).await,
                None => self.transport.create(&object).await,
            };
            match written {
                Ok(_) => return Ok(answer),
                Err(error) if is_race(&error) => last = error.to_string(),
                Err(error) => return Err(failed(error)),
            }
        }
        Err(RegistrarError::Failed(last))
    }

    /// Removes those that have been silent for too long.
    fn expire(&self, entries: &mut Entries, me: Uuid) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        entries.retain(|id, entry| {
            let (renewals, since) = seen.entry(*id).or_insert((entry.renewals, now));
            if *renewals != entry.renewals {
                (*renewals, *since) = (entry.renewals, now);
            }
            let patience = Duration::from_secs(entry.duration_seconds.into());
            *id == me || now.duration_since(*since) < patience
        });
        seen.retain(|id, _| entries.contains_key(id));
    }
}

#[async_trait]
impl Registrar for LeaseRegistrar {
    async fn announce(&self, id: Uuid, said: &Announcement) -> Result<Standing, RegistrarError> {
        let ours = || self.ours.lock().unwrap_or_else(PoisonError::into_inner);
        ours().insert(id, said.resource_type.clone());
        self.change(&said.resource_type, |entries| {
            self.expire(entries, id);
            let others: Vec<Presence> = entries
                .iter()
                .filter(|(other, _)| **other != id)
                .map(|(other, entry)| entry.presence(*other, &said.resource_type))
                .collect();
            let standing = said.standing(others);
            let renewals = entries.get(&id).map_or(0, |entry| entry.renewals);
            entries.insert(
                id,
                Entry {
                    name: said.name.clone(),
                    selector: said.selector.clone(),
                    shares: said.shares,
                    held: standing.held,
                    leaving: said.leaving,
                    duration_seconds: said.duration_seconds,
                    renewals: renewals + 1,
                },
            );
            (Some(id), standing)
        })
        .await
    }

    async fn withdraw(&self, id: Uuid) -> Result<(), RegistrarError> {
        let kind = {
            let mut ours = self.ours.lock().unwrap_or_else(PoisonError::into_inner);
            ours.remove(&id)
        };
        let Some(kind) = kind else {
            return Ok(());
        };
        self.change(&kind, |entries| {
            entries.remove(&id);
            (None, ())
        })
        .await
    }
}

impl Entry {
    fn presence(&self, id: Uuid, resource_type: &str) -> Presence {
        Presence {
            id,
            name: self.name.clone(),
            resource_type: resource_type.to_owned(),
            selector: self.selector.clone(),
            shares: self.shares,
            held: self.held,
            leaving: self.leaving,
            expires_time: Utc::now() + Duration::from_secs(self.duration_seconds.into()),
            decides: serde_json::Map::new(),
        }
    }
}

/// What the object says. One that cannot be read is left alone: to begin anew would take from others what they hold.
fn entries(object: &Value) -> Result<Entries, RegistrarError> {
    let annotations = object.pointer("/metadata/annotations");
    let text = annotations
        .and_then(|annotations| annotations.get(ANNOTATION))
        .and_then(Value::as_str);
    text.map_or_else(|| Ok(Entries::new()), serde_json::from_str)
        .map_err(|error| {
            RegistrarError::Failed(format!(
                "the annotation {ANNOTATION} of the Lease cannot be read ({error}); stop all Sentinels of the kind and \
                 delete the Lease"
            ))
        })
}

/// The whole object to create, or the part to change if it is still the version that was read.
fn object(
    lease: &ObjectRef,
    found: Option<&Value>,
    entries: &Entries,
    holder: Option<Uuid>,
) -> Value {
    let list = serde_json::to_string(entries).unwrap_or_default();
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
    let duration = entries.values().map(|entry| entry.duration_seconds).max();
    let spec = json!({
        "holderIdentity": holder.map(|id| id.to_string()),
        "leaseDurationSeconds": duration.unwrap_or(1),
        "renewTime": now,
    });
    let annotations = json!({ANNOTATION: list});
    match found.and_then(|found| found.pointer("/metadata/resourceVersion")) {
        Some(version) => json!({
            "metadata": {"resourceVersion": version, "annotations": annotations},
            "spec": spec,
        }),
        None => json!({
            "apiVersion": lease.kind.api_version,
            "kind": lease.kind.kind,
            "metadata": {
                "name": lease.name,
                "namespace": lease.namespace,
                "labels": {"app.kubernetes.io/part-of": "hyperfleet"},
                "annotations": annotations,
            },
            "spec": spec,
        }),
    }
}

fn is_race(error: &TransportError) -> bool {
    matches!(
        error.failure,
        Failure::Conflict { .. } | Failure::AlreadyExists { .. }
    )
}

fn failed(error: TransportError) -> RegistrarError {
    RegistrarError::Failed(error.to_string())
}
