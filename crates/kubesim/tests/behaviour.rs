//! Every promise of the API as a test against an HTTP endpoint: `kubesim::…` against our server and, where
//! `dev/kubernetes` has one, `kubernetes::…` against a real kube-apiserver. A difference is a bug of kubesim.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

#[path = "behaviour/apply.rs"]
mod apply;
#[path = "behaviour/custom.rs"]
mod custom;
#[path = "behaviour/deletion.rs"]
mod deletion;
#[path = "behaviour/discovery.rs"]
mod discovery;
#[path = "behaviour/endpoint.rs"]
mod endpoint;
#[path = "behaviour/kinds.rs"]
mod kinds;
#[path = "behaviour/kubernetes.rs"]
mod kubernetes;
#[path = "behaviour/lists.rs"]
mod lists;
#[path = "behaviour/namespaces.rs"]
mod namespaces;
#[path = "behaviour/objects.rs"]
mod objects;
#[path = "behaviour/patches.rs"]
mod patches;
#[path = "behaviour/persistence.rs"]
mod persistence;
#[path = "behaviour/refusals.rs"]
mod refusals;
#[path = "behaviour/subresources.rs"]
mod subresources;
#[path = "behaviour/watches.rs"]
mod watches;
#[path = "behaviour/workloads.rs"]
mod workloads;
#[path = "behaviour/world.rs"]
mod world;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::Runtime;

use endpoint::Endpoint;
use kubernetes::Kubernetes;
use world::World;

type Run = fn(World) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// A named promise.
pub(crate) struct Test {
    name: &'static str,
    run: Run,
}

/// Lists the async functions of a module as tests.
#[macro_export]
macro_rules! promises {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn tests() -> Vec<$crate::Test> {
            vec![$($crate::Test { name: stringify!($name), run: |world| Box::pin($name(world)) }),+]
        }
    };
}

/// Long enough for a real controller-manager to empty a namespace on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Trials wait for a server most of the time.
    arguments.test_threads.get_or_insert(8);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = Arc::new(Runtime::new().expect("a runtime"));
    let server = runtime
        .block_on(kubesim::Server::start(kubesim::Options {
            job_duration: Duration::from_millis(200),
            rollout_duration: Duration::from_millis(200),
            ..kubesim::Options::default()
        }))
        .expect("kubesim starts");
    let ours = Endpoint::plain(server.url());
    let real = Arc::new(Kubernetes::find());
    if let Err(reason) = real.availability() {
        eprintln!("skipped: kubesim's promises on Kubernetes: {reason}");
    }

    let shared: Vec<Test> = [
        objects::tests(),
        lists::tests(),
        refusals::tests(),
        patches::tests(),
        apply::tests(),
        subresources::tests(),
        watches::tests(),
        deletion::tests(),
        namespaces::tests(),
        custom::tests(),
        kinds::tests(),
        discovery::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    // A real server without a kubelet never finishes a workload, and keeps its state elsewhere.
    let ours_only: Vec<Test> = [workloads::tests(), persistence::tests()]
        .into_iter()
        .flatten()
        .collect();

    let mut trials = Vec::new();
    let unavailable = real.availability().is_err();
    for test in &shared {
        let (runtime, real, run) = (Arc::clone(&runtime), Arc::clone(&real), test.run);
        let trial = Trial::test(format!("kubernetes::{}", test.name), move || {
            let endpoint = runtime.block_on(real.endpoint()).map_err(Failed::from)?;
            finish(&runtime, run, endpoint)
        });
        trials.push(trial.with_ignored_flag(unavailable));
    }
    for test in shared.iter().chain(&ours_only) {
        let (runtime, endpoint, run) = (Arc::clone(&runtime), ours.clone(), test.run);
        trials.push(Trial::test(format!("kubesim::{}", test.name), move || {
            finish(&runtime, run, endpoint)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    real.stop();
    runtime.block_on(server.shutdown());
    conclusion.exit_code()
}

fn finish(runtime: &Runtime, run: Run, endpoint: Endpoint) -> Result<(), Failed> {
    runtime.block_on(async {
        let world = World::new(endpoint).await;
        match tokio::time::timeout(PATIENCE, run(world)).await {
            Ok(()) => Ok(()),
            Err(_) => Err(Failed::from("the test did not finish in time")),
        }
    })
}
