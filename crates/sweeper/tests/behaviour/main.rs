//! The sweeper's promises, with the real API on PostgreSQL, against kubesim and, where `dev/kubernetes` has one, against
//! a real kube-apiserver.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

mod api;
mod faults;
mod leases;
mod manifests;
mod notes;
mod promises;
#[path = "../../../transport/tests/kubernetes/real.rs"]
mod real;
mod works;
mod world;

use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Runtime;

use real::Real;
use world::World;

type Run = fn(World) -> Pin<Box<dyn Future<Output = ()>>>;

#[macro_export]
macro_rules! promises {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn all() -> Vec<(&'static str, $crate::Run)> {
            vec![$((stringify!($name), |world| Box::pin($name(world)))),+]
        }
    };
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(Runtime::new().unwrap());
    let options = kubesim::Options::default();
    let server = runtime.block_on(kubesim::Server::start(options)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig()).unwrap();
    let real = Arc::new(Real::find());
    if let Err(reason) = &real.available {
        eprintln!("skipped: sweeper on Kubernetes: {reason}");
    }
    let mut trials = Vec::new();
    let promises = promises::all().into_iter().chain(faults::all());
    for (name, run) in promises
        .chain(leases::all())
        .chain(notes::all())
        .chain(works::all())
    {
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
    let (on, server) = (Arc::clone(&runtime), Arc::clone(&real));
    let trial = Trial::test("kubernetes::the_shipped_manifests_are_enough", move || {
        let at = on.block_on(server.kubeconfig())?;
        on.block_on(manifests::are_enough(at));
        Ok(())
    });
    trials.push(trial.with_ignored_flag(real.available.is_err()));
    trials.push(Trial::test("the_shipped_environment_is_read", || {
        manifests::environment_is_read();
        Ok(())
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    runtime.block_on(real.stop());
    conclusion.exit_code()
}
