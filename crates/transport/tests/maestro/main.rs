//! The Maestro transport's promises, against maestrosim: a stand-in written from Maestro's published protocol. The real
//! server cannot be had as a Go module here; what is proven on the stand-in alone is listed in docs/adapters.md.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

mod certificates;
mod promises;
mod protected;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hyperfleet_transport::{MaestroConfig, MaestroTransport};
use libtest_mimic::{Arguments, Trial};
use tokio::runtime::Runtime;

use certificates::Certificates;

/// A server, and a transport to it, of the test's own.
pub(crate) struct World {
    pub(crate) server: maestrosim::Server,
    pub(crate) transport: MaestroTransport,
}

impl World {
    async fn new() -> World {
        let server = maestrosim::Server::start(maestrosim::Options::default()).await;
        let server = server.unwrap();
        server.register("cluster1");
        server.register("cluster2");
        let transport = MaestroTransport::connect(config(&server)).await.unwrap();
        World { server, transport }
    }
}

/// Impatient enough for tests.
pub(crate) fn config(server: &maestrosim::Server) -> MaestroConfig {
    let mut config = MaestroConfig::new(server.grpc_address(), server.http_address(), "hyperfleet");
    config.attempts = 1;
    config.timeout = Duration::from_secs(5);
    config
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let runtime = Arc::new(Runtime::new().unwrap());
    let mut trials = Vec::new();
    for (name, run) in promises::all() {
        let on = Arc::clone(&runtime);
        trials.push(Trial::test(format!("maestrosim::{name}"), move || {
            on.block_on(async { run(World::new().await).await });
            Ok(())
        }));
    }
    let certificates = Certificates::make();
    if let Err(reason) = &certificates {
        eprintln!("skipped: Maestro behind TLS: {reason}");
    }
    let available = certificates.is_ok();
    let certificates = Arc::new(certificates);
    for (name, run) in protected::all() {
        let (on, certificates) = (Arc::clone(&runtime), Arc::clone(&certificates));
        let trial = Trial::test(format!("maestrosim::{name}"), move || {
            let certificates = certificates.as_ref().as_ref();
            let certificates = certificates.map_err(Clone::clone)?;
            on.block_on(run(certificates));
            Ok(())
        });
        trials.push(trial.with_ignored_flag(!available));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
