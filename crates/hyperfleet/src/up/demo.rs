//! A first cluster with two node pools, and their way to Ready.

use std::time::{Duration, Instant};

use anyhow::Result;
use hyperfleet_client::{Client, ListQuery, RemoteResource};
use hyperfleet_core::kind::Kind;
use serde_json::{Value, json};

use super::progress::Progress;
use super::screen::Screen;

const CLUSTER: &str = "demo";
const NODE_POOLS: [(&str, u32); 2] = [("workers", 3), ("infra", 2)];
const LOOK: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(120);

/// Creates the demo cluster and its node pools unless there are clusters, and shows what happens until all are Ready.
pub(crate) async fn show(client: &Client, kinds: &[Kind]) -> Result<()> {
    let query = ListQuery {
        size: Some(1),
        ..ListQuery::default()
    };
    let existing = client.list("clusters", &query).await?;
    if existing.total > 0 {
        println!(
            "{} cluster(s) are there already; no demo is created.\n",
            existing.total
        );
        return Ok(());
    }
    let started = Instant::now();
    let demo = create(client).await?;
    let adapters = |plural: &str| -> Vec<String> {
        let kind = kinds.iter().find(|kind| kind.plural == plural);
        let required = kind.into_iter().flat_map(|kind| &kind.required_adapters);
        required.map(ToString::to_string).collect()
    };
    let mut progress = Progress::default();
    for (plural, resource) in &demo {
        let label = format!("{}/{}", resource.kind.to_lowercase(), resource.name);
        progress.watch(label, &adapters(plural));
    }
    let mut screen = Screen::stdout();
    while started.elapsed() < PATIENCE {
        let mut news = Vec::new();
        for (index, (plural, resource)) in demo.iter().enumerate() {
            let now = client.get(plural, &resource.id).await?;
            let statuses = client.statuses(plural, &resource.id).await?;
            let phase = now.status.phase.unwrap_or_default();
            news.extend(progress.observe(index, started.elapsed(), &phase, &statuses));
        }
        screen.show(&progress.lines(), &news)?;
        if progress.all_ready() {
            let pools = NODE_POOLS.len();
            let took = started.elapsed().as_secs_f64();
            println!(
                "\ncluster/{CLUSTER} and its {pools} node pools are Ready after {took:.1} s\n"
            );
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    println!(
        "\nnot Ready after {} s; it goes on in the background\n",
        PATIENCE.as_secs()
    );
    Ok(())
}

/// The cluster and its node pools, each with the plural of its kind.
async fn create(client: &Client) -> Result<Vec<(&'static str, RemoteResource)>> {
    let body = json!({
        "kind": "Cluster",
        "name": CLUSTER,
        "labels": {"environment": "demo"},
        "spec": {"region": "us-east-1", "release": {"version": "4.20.3"}},
    });
    let cluster = client.create("clusters", &body).await?;
    let owner = json!({"id": cluster.id});
    let mut made = vec![("clusters", cluster)];
    for (name, replicas) in NODE_POOLS {
        let body: Value = json!({
            "kind": "NodePool",
            "name": name,
            "owner_references": owner,
            "spec": {"replicas": replicas, "instance_type": "m6i.xlarge"},
        });
        made.push(("nodepools", client.create("nodepools", &body).await?));
    }
    Ok(made)
}
