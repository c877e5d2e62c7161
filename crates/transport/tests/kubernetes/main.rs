//! The transport's promises, against kubesim and, where `dev/kubernetes` has one, against a real
//! kube-apiserver.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

mod promises;
mod real;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use hyperfleet_transport::{KubernetesConfig, KubernetesTransport};
use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Runtime;

use real::Real;

/// A transport, and a namespace of the test's own.
pub(crate) struct World {
    pub(crate) transport: KubernetesTransport,
    pub(crate) namespace: String,
    pub(crate) kubeconfig: PathBuf,
}

impl World {
    async fn new(kubeconfig: PathBuf, test: &str) -> World {
        let config = KubernetesConfig::new("hyperfleet-adapter/test").with_kube_config(&kubeconfig);
        let transport = KubernetesTransport::connect(config).await.unwrap();
        let namespace = test.replace('_', "-").chars().take(60).collect::<String>();
        let namespace = namespace.trim_end_matches('-').to_owned();
        let world = World {
            transport,
            namespace,
            kubeconfig,
        };
        world.make_namespace().await;
        world
    }
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Trials wait for a server most of the time.
    arguments.test_threads.get_or_insert(8);
    let runtime = Arc::new(Runtime::new().unwrap());
    let options = kubesim::Options::default();
    let server = runtime.block_on(kubesim::Server::start(options)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
    let real = Arc::new(Real::find());
    if let Err(reason) = &real.available {
        eprintln!("skipped: transport on Kubernetes: {reason}");
    }
    let mut trials = Vec::new();
    for (name, run) in promises::all() {
        let (on, at) = (Arc::clone(&runtime), kubeconfig.clone());
        trials.push(Trial::test(format!("kubesim::{name}"), move || {
            on.block_on(async { run(World::new(at, name).await).await });
            Ok(())
        }));
        let (on, server) = (Arc::clone(&runtime), Arc::clone(&real));
        let trial = Trial::test(format!("kubernetes::{name}"), move || {
            let at = on.block_on(server.kubeconfig())?;
            on.block_on(async { run(World::new(at, name).await).await });
            Ok(())
        });
        trials.push(trial.with_ignored_flag(real.available.is_err()));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(real.stop());
    conclusion.exit_code()
}
