//! The Maestro transport's promises, against maestrosim, a stand-in written from Maestro's published protocol; and, where
//! the environment names one, against a Maestro server. That needs no agent: the tests register consumers of their own.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

mod certificates;
mod played;
mod promises;
mod protected;

use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyperfleet_transport::{MaestroConfig, MaestroTransport};
use libtest_mimic::{Arguments, Trial};
use serde_json::json;
use tokio::runtime::Runtime;

use certificates::Certificates;

/// Where a Maestro server without TLS takes events, and where it is read.
const REAL: [&str; 2] = [
    "HYPERFLEET_TEST_MAESTRO_GRPC",
    "HYPERFLEET_TEST_MAESTRO_HTTP",
];

type Promise = fn(World) -> Pin<Box<dyn Future<Output = ()>>>;

/// A transport of the test's own, and two clusters that nobody else knows.
pub(crate) struct World {
    pub(crate) server: Option<maestrosim::Server>,
    pub(crate) config: MaestroConfig,
    pub(crate) transport: MaestroTransport,
    pub(crate) one: String,
    pub(crate) two: String,
}

impl World {
    async fn simulated() -> World {
        let server = maestrosim::Server::start(maestrosim::Options::default()).await;
        let server = server.unwrap();
        let config = config(&server);
        Self::new(
            config,
            ["cluster1", "cluster2"].map(str::to_owned),
            Some(server),
        )
        .await
    }

    async fn real(at: [String; 2]) -> World {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let [grpc, http] = at;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("hyperfleet-test-{}-{number}", std::process::id());
        let config = MaestroConfig::new(grpc, http, &unique);
        Self::new(
            config,
            ["a", "b"].map(|one| format!("{unique}-{one}")),
            None,
        )
        .await
    }

    async fn new(
        config: MaestroConfig,
        [one, two]: [String; 2],
        server: Option<maestrosim::Server>,
    ) -> World {
        let transport = MaestroTransport::connect(config.clone()).await.unwrap();
        let world = World {
            server,
            config,
            transport,
            one,
            two,
        };
        for consumer in [&world.one, &world.two] {
            world.register(consumer).await;
        }
        world
    }

    pub(crate) async fn register(&self, consumer: &str) {
        if let Some(server) = &self.server {
            return server.register(consumer);
        }
        let url = format!("{}/api/maestro/v1/consumers", self.config.http_address);
        let request = reqwest::Client::new()
            .post(url)
            .json(&json!({"name": consumer}));
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    /// For tests that play the server.
    pub(crate) fn server(&self) -> &maestrosim::Server {
        self.server.as_ref().unwrap()
    }
}

#[macro_export]
macro_rules! promises {
    ($($name:ident),* $(,)?) => {
        pub(crate) fn all() -> Vec<(&'static str, $crate::Promise)> {
            vec![$((stringify!($name), |world| Box::pin($name(world)))),*]
        }
    };
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
    for (name, run) in promises::all().into_iter().chain(played::all()) {
        let on = Arc::clone(&runtime);
        trials.push(Trial::test(format!("maestrosim::{name}"), move || {
            on.block_on(async { run(World::simulated().await).await });
            Ok(())
        }));
    }
    let real = REAL.map(|name| std::env::var(name).unwrap_or_default());
    let is_there = real.iter().all(|address| !address.is_empty());
    if !is_there {
        let names = REAL.join(" and ");
        eprintln!("skipped: transport on Maestro: {names} name no server");
    }
    for (name, run) in promises::all() {
        let (on, real) = (Arc::clone(&runtime), real.clone());
        let trial = Trial::test(format!("maestro::{name}"), move || {
            on.block_on(async { run(World::real(real).await).await });
            Ok(())
        });
        trials.push(trial.with_ignored_flag(!is_there));
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
