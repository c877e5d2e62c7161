//! What only a real kube-apiserver can show: its defaults, its immutable fields, its access control.
//! Ignored, and said so, where `dev/kubernetes` has none.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, helpers too")]
#![expect(
    dead_code,
    reason = "the world is shared with tests that use more of it"
)]

mod admission;
#[path = "../behaviour/examples.rs"]
mod examples;
#[path = "../behaviour/lifecycle.rs"]
mod lifecycle;
mod promises;
#[path = "../../../transport/tests/kubernetes/real.rs"]
mod real;
#[path = "../behaviour/world.rs"]
mod world;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(Runtime::new().unwrap());
    let real = Arc::new(real::Real::find());
    if let Err(reason) = &real.available {
        eprintln!("skipped: adapter on Kubernetes: {reason}");
    }
    let trials = promises::all().into_iter().map(|(name, run)| {
        let (on, server) = (Arc::clone(&runtime), Arc::clone(&real));
        let trial = Trial::test(name, move || {
            let kubeconfig = on.block_on(server.kubeconfig())?;
            let text = std::fs::read_to_string(kubeconfig)?;
            on.block_on(run(text));
            Ok(())
        });
        trial.with_ignored_flag(real.available.is_err())
    });
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    runtime.block_on(real.stop());
    conclusion.exit_code()
}
