//! What a scenario works with: a running system, whichever it is, and the words of its user.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::call::{Answer, call};
use crate::fast::Up;
use crate::kubernetes::{Connection, Kubernetes};
use crate::ledger::Ledger;
use crate::observer::Observer;
use crate::process::{PATIENCE, wait_as_long_as};
use crate::real::{Pace, Real};

/// How the system is put together.
pub enum Parts {
    Fast(Up),
    Real(Box<Real>),
}

/// A system, what was asked of it, and what was seen of it.
pub struct Stack {
    pub parts: Mutex<Parts>,
    pub ledger: Arc<Ledger>,
    pub kubernetes: Kubernetes,
    pub observer: Observer,
    api: String,
}

impl Stack {
    pub fn fast() -> Result<Stack> {
        let up = Up::start()?;
        let (api, kubeconfig) = (up.api(), up.kubeconfig());
        Stack::of(Parts::Fast(up), api, &kubeconfig)
    }

    pub fn real(pace: Pace) -> Result<Stack> {
        let real = Real::start(pace)?;
        let (api, kubeconfig) = (real.api(), real.kubeconfig());
        Stack::of(Parts::Real(Box::new(real)), api, &kubeconfig)
    }

    fn of(parts: Parts, api: String, kubeconfig: &std::path::Path) -> Result<Stack> {
        let ledger = Arc::new(Ledger::default());
        let kubernetes = Kubernetes::new(kubeconfig)?;
        let observer = Observer::start(api.clone(), kubernetes.clone(), Arc::clone(&ledger));
        Ok(Stack {
            parts: Mutex::new(parts),
            ledger,
            kubernetes,
            observer,
            api,
        })
    }

    pub fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The real one's parts; a scenario that kills components is not for the other.
    pub fn with_real<T>(&self, work: impl FnOnce(&mut Real) -> Result<T>) -> Result<T> {
        match &mut *self.parts() {
            Parts::Real(real) => work(real),
            Parts::Fast(_) => bail!("only the real stack has components that can be killed"),
        }
    }

    pub fn connect(&self) -> Result<Connection> {
        self.kubernetes.connect()
    }

    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer> {
        call(method, &format!("{}{path}", self.api), body)
    }

    /// A read that must succeed.
    pub fn get(&self, path: &str) -> Result<Value> {
        let answer = self.call("GET", path, None)?;
        anyhow::ensure!(answer.status == 200, "GET {path}: {}", answer.body);
        Ok(answer.body)
    }

    /// Creates a cluster and notes that it was acknowledged; its id.
    pub fn create_cluster(&self, name: &str, spec: &Value) -> Result<String> {
        let body = json!({"kind": "Cluster", "name": name, "spec": spec});
        self.create("clusters", &body)
    }

    pub fn create_nodepool(&self, cluster: &str, name: &str, spec: &Value) -> Result<String> {
        let owner = json!({"id": cluster});
        let body =
            json!({"kind": "NodePool", "name": name, "owner_references": owner, "spec": spec});
        self.create("nodepools", &body)
    }

    fn create(&self, plural: &'static str, body: &Value) -> Result<String> {
        let answer = self.call("POST", &format!("/{plural}"), Some(body))?;
        anyhow::ensure!(answer.status == 201, "POST {plural}: {}", answer.body);
        self.ledger.created(plural, &answer.body);
        let id = answer.body["id"].as_str().context("no id")?;
        Ok(id.to_owned())
    }

    /// Changes a spec. What is not answered may have been taken.
    pub fn patch(&self, plural: &str, id: &str, spec: &Value) -> Result<Value> {
        self.ledger.maybe_changed(id, spec);
        let body = json!({ "spec": spec });
        let answer = self.call("PATCH", &format!("/{plural}/{id}"), Some(&body))?;
        anyhow::ensure!(answer.status == 200, "PATCH {plural}: {}", answer.body);
        self.ledger.changed(id, &answer.body);
        Ok(answer.body)
    }

    /// Deletes a resource; `with` are the ids of what goes with it.
    pub fn delete(&self, plural: &str, id: &str, with: &[String]) -> Result<()> {
        let mut ids = with.to_vec();
        ids.push(id.to_owned());
        self.ledger.deletion_asked(&ids);
        let answer = self.call("DELETE", &format!("/{plural}/{id}"), None)?;
        anyhow::ensure!(
            (200..300).contains(&answer.status),
            "DELETE {plural}: {}",
            answer.body
        );
        self.ledger.deleted(&ids);
        Ok(())
    }

    /// Waits for a phase at the current generation; the resource then.
    pub fn wait_for_phase(&self, plural: &str, id: &str, phase: &str) -> Result<Value> {
        self.wait_longer(PATIENCE, plural, id, phase)
    }

    pub fn wait_longer(
        &self,
        patience: Duration,
        plural: &str,
        id: &str,
        phase: &str,
    ) -> Result<Value> {
        let what = format!("{plural}/{id} to be {phase}");
        wait_as_long_as(patience, &what, || {
            let resource = self.get(&format!("/{plural}/{id}"))?;
            if resource["status"]["phase"] == phase {
                return Ok(resource);
            }
            let statuses = self.get(&format!("/{plural}/{id}/statuses"))?;
            bail!(
                "{:#}\n{:#}",
                resource["status"]["phase"],
                summary(&statuses)
            )
        })
    }

    /// Waits until the API knows a resource no more and nothing of it is left on Kubernetes.
    pub fn wait_until_gone(&self, plural: &str, id: &str) -> Result<()> {
        wait_as_long_as(PATIENCE * 2, &format!("{plural}/{id} to be gone"), || {
            let answer = self.call("GET", &format!("/{plural}/{id}"), None)?;
            if answer.status != 404 {
                let statuses = self.get(&format!("/{plural}/{id}/statuses"))?;
                bail!("{}: {:#}", answer.status, summary(&statuses));
            }
            let left = self.connect()?.objects_of(id)?;
            let names = left.iter().map(|(kind, object)| {
                format!(
                    "{kind} {}",
                    object["metadata"]["name"].as_str().unwrap_or("?")
                )
            });
            let names: Vec<String> = names.collect();
            anyhow::ensure!(names.is_empty(), "left: {}", names.join(", "));
            Ok(())
        })
    }
}

/// Of each adapter what it says about being available.
pub fn summary(statuses: &Value) -> Value {
    let reports = statuses["adapter_statuses"].as_array();
    let said = reports.into_iter().flatten().map(|report| {
        let told = |kind: &str| {
            let one = condition(report, kind);
            format!(
                "{}: {}: {}",
                text(one, "status"),
                text(one, "reason"),
                text(one, "message")
            )
        };
        json!({"adapter": report["adapter"], "generation": report["observed_generation"],
            "available": told("Available"), "finalized": told("Finalized")})
    });
    said.collect()
}

/// A condition of a report or a status; null if it has none of this type.
pub fn condition<'v>(of: &'v Value, kind: &str) -> &'v Value {
    let conditions = of["conditions"].as_array();
    let found = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind);
    found.unwrap_or(&Value::Null)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("-")
}
