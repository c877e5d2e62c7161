//! Somebody who looks on: samples API and Kubernetes all the time, and notes whatever must never be.
//!
//! - An object vanished although nobody asked for its owner's deletion, and the test did not take it away itself.
//! - A HostedCluster vanished before the NodePools of its namespace, or a Namespace before its HostedCluster, although
//!   its owner was not taken away by force.
//! - A resource that is not Ready gave no reason for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::call::call;
use crate::kubernetes::{Connection, HOSTED_CLUSTERS, Kubernetes, NODE_POOLS, metadata, owner};
use crate::ledger::Ledger;
use crate::stack::condition;

const LOOK: Duration = Duration::from_millis(200);

/// Kind, namespace and name.
type Key = (&'static str, String, String);
/// Each object with the id of its owner.
type Seen = BTreeMap<Key, String>;

/// Looks on until it is dropped.
pub struct Observer {
    stop: Arc<AtomicBool>,
    notes: Arc<Notes>,
    worker: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Notes {
    violations: Mutex<Vec<String>>,
    looks: AtomicUsize,
}

impl Notes {
    fn add(&self, violation: String) {
        let mut all = self
            .violations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&violation) {
            all.push(violation);
        }
    }
}

impl Observer {
    pub fn start(api: String, kubernetes: Kubernetes, ledger: Arc<Ledger>) -> Observer {
        let stop = Arc::new(AtomicBool::new(false));
        let notes = Arc::new(Notes::default());
        let (stopped, noted) = (Arc::clone(&stop), Arc::clone(&notes));
        let worker = std::thread::spawn(move || {
            let mut connection = None;
            let mut before = Look::default();
            while !stopped.load(Ordering::Relaxed) {
                connection = connection.or_else(|| kubernetes.connect().ok());
                match connection.as_ref().map(look) {
                    Some(Ok(now)) => {
                        // A simulated Kubernetes that was killed comes again at another address, and has
                        // forgotten what it took last.
                        if now.cluster == before.cluster {
                            judge(&before.objects, &now.objects, &ledger, &noted);
                        }
                        before = now;
                    }
                    // Whoever cannot look learns nothing; least of all that something is gone.
                    Some(Err(_)) => connection = None,
                    None => {}
                }
                // An API that is away is one of the things that are tried.
                let _ = explained(&api, &noted);
                noted.looks.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(LOOK);
            }
        });
        Observer {
            stop,
            notes,
            worker: Some(worker),
        }
    }

    /// What must never have been, so far.
    pub fn violations(&self) -> Vec<String> {
        let all = self.notes.violations.lock();
        all.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often it looked.
    pub fn looks(&self) -> usize {
        self.notes.looks.load(Ordering::Relaxed)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// What was there at one moment.
#[derive(Default)]
struct Look {
    /// Which Kubernetes it was: its address, and its kube-system, which no two share.
    cluster: (String, String),
    objects: Seen,
}

fn look(on: &Connection) -> Result<Look> {
    let now = Look {
        cluster: cluster(on)?,
        objects: objects(on)?,
    };
    anyhow::ensure!(
        now.cluster == cluster(on)?,
        "begun on one Kubernetes, ended on another"
    );
    Ok(now)
}

fn cluster(on: &Connection) -> Result<(String, String)> {
    let system = on.get("/api/v1/namespaces/kube-system")?;
    let system = system.context("a Kubernetes without kube-system")?;
    Ok((on.server.clone(), metadata(&system, "uid").to_owned()))
}

fn objects(on: &Connection) -> Result<Seen> {
    let mut seen = Seen::new();
    // What goes first is looked at first: then what went in between is never taken for the wrong order.
    for (kind, path) in [
        ("NodePool", NODE_POOLS),
        ("HostedCluster", HOSTED_CLUSTERS),
        (
            "Namespace",
            "/api/v1/namespaces?labelSelector=hyperfleet.io%2Fcluster-id",
        ),
    ] {
        for object in on.list(path)? {
            let name = |key: &str| metadata(&object, key).to_owned();
            let key = (kind, name("namespace"), name("name"));
            seen.insert(key, owner(&object).to_owned());
        }
    }
    Ok(seen)
}

fn judge(before: &Seen, now: &Seen, ledger: &Ledger, notes: &Notes) {
    for (key, owner) in before.iter().filter(|(key, _)| !now.contains_key(*key)) {
        let (kind, namespace, name) = key;
        if ledger.was_meddled_with(kind, namespace, name) {
            continue;
        }
        if !ledger.is_deletion_asked(owner) {
            notes.add(format!(
                "{kind} {namespace}/{name} vanished, and nobody deleted {owner}"
            ));
        }
        if ledger.is_forced(owner) {
            continue;
        }
        let (waits_for, within) = match *kind {
            "HostedCluster" => ("NodePool", namespace),
            "Namespace" => ("HostedCluster", name),
            _ => continue,
        };
        let left = now
            .keys()
            .find(|(k, ns, _)| *k == waits_for && ns == within);
        if let Some((_, _, left)) = left {
            notes.add(format!(
                "{kind} {name} went before {waits_for} {within}/{left}"
            ));
        }
    }
}

/// Everything that is not Ready says why.
fn explained(api: &str, notes: &Notes) -> Result<()> {
    for plural in ["clusters", "nodepools"] {
        let answer = call("GET", &format!("{api}/{plural}?size=100"), None)?;
        for resource in answer.body["items"].as_array().into_iter().flatten() {
            let status = &resource["status"];
            let reconciled = condition(status, "Reconciled");
            let said = |key: &str| {
                reconciled[key]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
            };
            let phase = status["phase"].as_str().unwrap_or_default();
            let described = status["phaseDescription"].as_str();
            let quiet =
                described.unwrap_or_default().is_empty() || !said("reason") || !said("message");
            if phase != "Ready" && quiet {
                notes.add(format!(
                    "{plural}/{} is {phase} and says nothing: {status}",
                    name(resource)
                ));
            }
        }
    }
    Ok(())
}

fn name(resource: &Value) -> &str {
    resource["name"].as_str().unwrap_or_default()
}
