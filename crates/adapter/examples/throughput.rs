//! Events per second of one adapter, with API and kubesim in the same process.
//!
//! `cargo run --release -p hyperfleet-adapter --example throughput -- [CLUSTERS] [WORKERS]`
//!
//! Three ConfigMaps per cluster: first all are created, then every event finds them converged.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that fails shall say where"
)]
#![expect(
    dead_code,
    reason = "the world is shared with tests that use more of it"
)]

#[path = "../tests/behaviour/world.rs"]
mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use hyperfleet_adapter::{Engine, Outcome, Status};
use hyperfleet_transport::{KubernetesConfig, KubernetesTransport};
use world::{CONFIG_MAP, World, cluster, event, handle};

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|text| text.parse::<usize>().unwrap());
    let clusters = numbers.next().unwrap_or(500);
    let workers = numbers.next().unwrap_or(10);
    let world = World::start().await;
    for id in 0..clusters {
        let id = format!("c{id}");
        world.api.set(&id, cluster(&id, 1));
    }
    // The limit of requests per second is not what is measured.
    let mut config = KubernetesConfig::new("hyperfleet-adapter/test");
    config.kube_config_path = Some(world.kubeconfig.path().to_owned());
    (config.qps, config.burst) = (1e6, 1_000_000);
    let transport = Arc::new(KubernetesTransport::connect(config).await.unwrap());
    let (head, resource) = CONFIG_MAP.split_once("resources:\n").unwrap();
    let resources: String = ["one", "two", "three"]
        .map(|name| resource.replace("settings", name))
        .concat();
    let engine = world.engine_on(&format!("{head}resources:\n{resources}"), transport);
    let engine = Arc::new(engine);
    for what in ["create", "converged"] {
        let (took, mut latencies) = measure(&engine, clusters, workers).await;
        latencies.sort();
        let at = |share: usize| latencies[(latencies.len() * share / 100).min(latencies.len() - 1)];
        println!(
            "{what:<10} {workers:>3} workers  {:>7.0} events/s  p50 {:>8.2?}  p99 {:>8.2?}",
            clusters as f64 / took.as_secs_f64(),
            at(50),
            at(99)
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "peak memory, API and kubesim included: {}",
        peak.unwrap_or("unknown")
    );
}

async fn measure(
    engine: &Arc<Engine>,
    clusters: usize,
    workers: usize,
) -> (Duration, Vec<Duration>) {
    let start = Instant::now();
    let runs = futures::stream::iter(0..clusters).map(|id| {
        let engine = Arc::clone(engine);
        async move {
            let run = tokio::spawn(async move {
                let start = Instant::now();
                let run = handle(&engine, &event(&format!("c{id}"), 1)).await;
                assert_eq!(
                    run.outcome,
                    Outcome::Done(Status::Success),
                    "{:?}",
                    run.fault
                );
                start.elapsed()
            });
            run.await.unwrap()
        }
    });
    let latencies = runs.buffer_unordered(workers).collect::<Vec<_>>().await;
    (start.elapsed(), latencies)
}
