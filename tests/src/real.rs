//! Every component a process of the built program, on real servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use hyperfleet_broker::Event;

use crate::adapters::{self, OF_CLUSTERS, OF_NODE_POOLS};
use crate::call::call;
use crate::events::{Events, Listener};
use crate::fast::world_readable;
use crate::kubelet::Kubelet;
use crate::kubernetes::Kubernetes;
use crate::process::{Process, free_port, hyperfleet, wait_for, wait_until_ready};
use crate::root;
use crate::servers::{ControlPlane, Database, RabbitMq};

/// The second of two replicas is named after the first.
const SECOND: &str = "-second";

/// What runs beside them for a while.
pub enum Extra<'a> {
    /// With this configuration.
    Sentinel(&'a str),
    /// A shipped adapter, for another API, with its name for a token.
    Adapter {
        shipped: &'a str,
        api: &'a str,
        topic: &'a str,
    },
}

/// All processes and servers of one system.
pub struct Real {
    // Stopped in this order: those who use a server before the server.
    processes: BTreeMap<String, Process>,
    pub events: Events,
    _kubelet: Kubelet,
    pub control_plane: ControlPlane,
    pub rabbitmq: RabbitMq,
    pub database: Database,
    ports: BTreeMap<String, (u16, u16)>,
    database_url: String,
    dir: tempfile::TempDir,
    pace: Pace,
}

/// How often the Sentinel has everything looked at again. What changes is looked at in any case.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// What is not Ready: whatever ends by itself, such as a Job, is seen so much later at the most.
    pub not_ready: &'static str,
    pub ready: &'static str,
}

impl Pace {
    /// A few resources, of which a test wants to see everything soon.
    pub const BRISK: Pace = Pace {
        not_ready: "300ms",
        ready: "2s",
    };
    /// Hundreds of them: what is asked more often than it can be answered only waits in queues.
    pub const CALM: Pace = Pace {
        not_ready: "5s",
        ready: "10m",
    };
}

impl Real {
    pub fn start(pace: Pace) -> Result<Real> {
        let dir = world_readable()?;
        let home = dir.path();
        adapters::copy_to(&home.join("adapters"))?;
        let rabbitmq = RabbitMq::start(&home.join("rabbitmq"))?;
        let control_plane = ControlPlane::start(&home.join("kubernetes"))?;
        install_platform(&control_plane.kubeconfig(), &home.join("adapters/platform"))?;
        let kubelet = Kubelet::start(Kubernetes::new(&control_plane.kubeconfig())?);
        let database = Database::start(&home.join("database"))?;
        std::fs::write(home.join("ownership.key"), fastrand_key())?;
        let mut real = Real {
            processes: BTreeMap::new(),
            events: Events::listen(rabbitmq.url())?,
            _kubelet: kubelet,
            control_plane,
            rabbitmq,
            database_url: database.url(),
            database,
            ports: BTreeMap::new(),
            dir,
            pace,
        };
        for name in real.names() {
            real.start_component(&name)?;
        }
        Ok(real)
    }

    /// One of everything, in the order in which they start.
    pub fn names(&self) -> Vec<String> {
        let adapters = OF_CLUSTERS.iter().chain(&OF_NODE_POOLS);
        let mut names = vec!["api".to_owned()];
        names.extend(adapters.map(|name| (*name).to_owned()));
        names.extend(["sentinel".to_owned(), "sweeper".to_owned()]);
        names
    }

    /// A second of everything.
    pub fn start_replicas(&mut self) -> Result<()> {
        for name in self.names() {
            self.start_component(&format!("{name}{SECOND}"))?;
        }
        Ok(())
    }

    pub fn stop_replicas(&mut self) -> Result<()> {
        for name in self.names() {
            self.terminate(&format!("{name}{SECOND}"))?;
        }
        Ok(())
    }

    pub fn running(&self) -> Vec<String> {
        self.processes.keys().cloned().collect()
    }

    pub fn id(&self, name: &str) -> Option<u32> {
        self.processes.get(name).map(Process::id)
    }

    pub fn api(&self) -> String {
        let port = self.ports.get("api").map_or(0, |ports| ports.0);
        format!("http://127.0.0.1:{port}/api/hyperfleet/v1")
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.control_plane.kubeconfig()
    }

    /// A process beside the others, on the same servers but for its API. Ends when it is dropped.
    pub fn start_extra(&self, name: &str, what: Extra<'_>) -> Result<Process> {
        let home = self.dir.path();
        let health = free_port();
        let mut command = self.on_rabbitmq()?;
        match what {
            Extra::Sentinel(config) => {
                let file = home.join(format!("{name}.yaml"));
                let ports = format!("health: {{port: {health}}}\nmetrics: {{port: {health}}}\n");
                std::fs::write(&file, format!("{config}{ports}"))?;
                command.args(["sentinel", "serve", "--config"]).arg(file);
            }
            Extra::Adapter {
                shipped,
                api,
                topic,
            } => {
                self.adapter(&mut command, shipped, api, health);
                command
                    .env("HYPERFLEET_BROKER_TOPIC", topic)
                    .env("HYPERFLEET_BROKER_SUBSCRIPTION_ID", name)
                    .env("HYPERFLEET_API_TOKEN", name);
            }
        }
        let process = Process::start(name, &mut command, home)?;
        wait_until_ready(name, health).with_context(|| self.last_words(name))?;
        Ok(process)
    }

    pub fn listen_to(&self, topic: &str) -> Result<Listener> {
        self.events.listen_to(topic)
    }

    pub fn publish(&self, topic: &str, event: &Event) -> Result<()> {
        self.events.publish(topic, event)
    }

    /// What the apiserver wrote down.
    pub fn audit_log(&self) -> PathBuf {
        self.dir.path().join("kubernetes/audit.log")
    }

    pub fn logs(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// What a component counts under a name and a label; 0 if it has not begun to.
    pub fn metric(&self, component: &str, name: &str, label: &str) -> Result<f64> {
        let (_, port) = self.ports.get(component).context("it never ran")?;
        let answer = call("GET", &format!("http://127.0.0.1:{port}/metrics"), None)?;
        let text = answer.body.as_str().unwrap_or_default();
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(name) && line.contains(label));
        let value = line.and_then(|line| line.rsplit(' ').next());
        Ok(value.map(str::parse).transpose()?.unwrap_or_default())
    }

    /// Those that ended by themselves, which none may.
    pub fn ended(&mut self) -> Vec<String> {
        let processes = self.processes.iter_mut();
        processes
            .filter_map(|(name, process)| process.ended().then(|| name.clone()))
            .collect()
    }

    pub fn kill(&mut self, name: &str) -> Result<()> {
        let process = self.processes.remove(name);
        process.with_context(|| format!("no {name} runs"))?.kill();
        Ok(())
    }

    pub fn terminate(&mut self, name: &str) -> Result<()> {
        let process = self.processes.remove(name);
        let process = process.with_context(|| format!("no {name} runs"))?;
        let status = process.terminate()?;
        anyhow::ensure!(status.success(), "{name} stopped with {status}");
        Ok(())
    }

    /// On the ports it had before; waits until it says that it is ready.
    pub fn start_component(&mut self, name: &str) -> Result<()> {
        let ports = *self
            .ports
            .entry(name.to_owned())
            .or_insert_with(|| (free_port(), free_port()));
        let mut command = self.command(name, ports)?;
        let process = Process::start(name, &mut command, self.dir.path())?;
        self.processes.insert(name.to_owned(), process);
        wait_until_ready(name, ports.1).with_context(|| self.last_words(name))
    }

    fn last_words(&self, name: &str) -> String {
        let log = self.dir.path().join(format!("{name}.log"));
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(10).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn command(&self, name: &str, (port, health): (u16, u16)) -> Result<Command> {
        let kind = name.trim_end_matches(SECOND);
        // A second replica uses the second API, so that both are used.
        let api = if name.ends_with(SECOND) {
            format!("api{SECOND}")
        } else {
            "api".to_owned()
        };
        let api_port = self.ports.get(&api).map_or(port, |ports| ports.0);
        let api = format!("http://127.0.0.1:{api_port}");
        let mut command = self.on_rabbitmq()?;
        let home = self.dir.path();
        match kind {
            "api" => {
                let config = home.join("api.yaml");
                std::fs::write(&config, entities())?;
                command.args(["api", "serve", "--migrate", "--config"]);
                command.arg(config).env("DATABASE_URL", &self.database_url);
                command.args(["--server-port", &port.to_string()]);
                command.args(["--health-port", &health.to_string()]);
                command.args(["--metrics-port", &health.to_string()]);
                command.arg("--data-dir").arg(home.join(name));
            }
            "sentinel" => {
                let config = home.join(format!("{name}.yaml"));
                std::fs::write(&config, self.sentinel(&api, health))?;
                command.args(["sentinel", "serve", "--config"]).arg(config);
            }
            "sweeper" => {
                let config = home.join(format!("{name}.yaml"));
                std::fs::write(&config, self.sweeper(&api, health))?;
                command.args(["sweeper", "serve", "--config"]).arg(config);
            }
            adapter => self.adapter(&mut command, adapter, &api, health),
        }
        Ok(command)
    }

    fn on_rabbitmq(&self) -> Result<Command> {
        let mut command = hyperfleet()?;
        command
            .env("BROKER_TYPE", "rabbitmq")
            .env("BROKER_RABBITMQ_URL", self.rabbitmq.url());
        Ok(command)
    }

    fn adapter(&self, command: &mut Command, shipped: &str, api: &str, health: u16) {
        let home = self.dir.path();
        let files = home.join("adapters").join(shipped);
        command.args(["adapter", "serve", "--config"]);
        command.arg(files.join("adapter-config.yaml"));
        command.arg("--task-config");
        command.arg(files.join("adapter-task-config.yaml"));
        command.args(["--health-port", &health.to_string()]);
        command.args(["--metrics-port", &health.to_string()]);
        command
            .env("HYPERFLEET_API_BASE_URL", api)
            .env("HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH", self.kubeconfig())
            .env("HYPERFLEET_OWNERSHIP_KEY_FILE", home.join("ownership.key"));
    }

    fn sentinel(&self, api: &str, health: u16) -> String {
        let Pace { not_ready, ready } = self.pace;
        format!(
            "sentinel: {{name: e2e, replicas: api, lease_duration: 3s}}
clients: {{hyperfleet_api: {{base_url: \"{api}\"}}}}
backoff_not_ready: {not_ready}
backoff_ready: {ready}
sentinels: [{{resource_type: clusters}}, {{resource_type: nodepools}}]
health: {{port: {health}}}
metrics: {{port: {health}}}
"
        )
    }

    fn sweeper(&self, api: &str, health: u16) -> String {
        let (kubeconfig, key) = (self.kubeconfig(), self.dir.path().join("ownership.key"));
        format!(
            "clients:
  hyperfleet_api: {{base_url: \"{api}\"}}
  kubernetes: {{kube_config_path: \"{}\"}}
ownership: {{key_file: \"{}\"}}
interval: 3s
deletions_per_second: 50
lease: {{namespace: hyperfleet-system}}
health: {{port: {health}}}
metrics: {{port: {health}}}
",
            kubeconfig.display(),
            key.display()
        )
    }
}

/// Clusters and node pools with all their adapters.
fn entities() -> String {
    // Two of them share a PostgreSQL that takes 120 connections.
    format!(
        "database: {{pool: {{max_connections: 20}}}}
entities:
  - {{kind: Cluster, plural: clusters, name_min_len: 3, name_max_len: 53, required_adapters: [{}]}}
  - {{kind: NodePool, plural: nodepools, parent_kind: Cluster, on_parent_delete: cascade, name_min_len: 3,
     name_max_len: 15, required_adapters: [{}]}}
",
        OF_CLUSTERS.join(", "),
        OF_NODE_POOLS.join(", ")
    )
}

fn fastrand_key() -> String {
    std::iter::repeat_with(fastrand::alphanumeric)
        .take(96)
        .collect()
}

/// The definitions of HyperShift, and what a platform team provides.
fn install_platform(kubeconfig: &Path, platform: &Path) -> Result<()> {
    let bin = Command::new(root().join("dev/kubernetes"))
        .arg("path")
        .output()?;
    let bin = PathBuf::from(String::from_utf8(bin.stdout)?.trim());
    let kubectl = |arguments: &[&str]| -> Result<()> {
        let mut command = Command::new(bin.join("kubectl"));
        command.arg("--kubeconfig").arg(kubeconfig).args(arguments);
        let output = command.output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "kubectl {arguments:?}: {told}");
        Ok(())
    };
    let directory = platform.display().to_string();
    kubectl(&["apply", "--server-side", "-f", &directory])?;
    wait_for("HyperShift's kinds to be served", || {
        kubectl(&[
            "get",
            "hostedclusters.hypershift.openshift.io,nodepools.hypershift.openshift.io",
            "-A",
        ])
    })
}
