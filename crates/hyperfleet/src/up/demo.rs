//! A first cluster, and its way to Ready, line by line.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use hyperfleet_client::{Client, ListQuery, RemoteResource};
use serde_json::{Value, json};

const NAME: &str = "demo";
const LOOK: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(120);

/// Creates the demo cluster unless there are clusters, and prints what happens to it until it is Ready.
pub(crate) async fn show(client: &Client) -> Result<()> {
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
    let body = json!({
        "kind": "Cluster",
        "name": NAME,
        "labels": {"environment": "demo"},
        "spec": {"region": "us-east-1", "release": {"version": "4.17.0"}},
    });
    let cluster = client.create("clusters", &body).await?;
    println!("created cluster/{NAME} ({})", cluster.id);
    let mut shown = BTreeMap::new();
    while started.elapsed() < PATIENCE {
        let cluster = client.get("clusters", &cluster.id).await?;
        let statuses = client.statuses("clusters", &cluster.id).await?;
        for (who, state) in lines(&cluster, &statuses) {
            if shown.get(&who) != Some(&state) {
                println!(
                    "  {:>6.1}s  {who:<14} {state}",
                    started.elapsed().as_secs_f64()
                );
                shown.insert(who, state);
            }
        }
        if cluster.status.phase.as_deref() == Some("Ready") {
            println!();
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    println!(
        "  not Ready after {} s; it goes on in the background\n",
        PATIENCE.as_secs()
    );
    Ok(())
}

/// What there is to say about each adapter, then about the cluster.
fn lines(cluster: &RemoteResource, statuses: &Value) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = statuses["adapter_statuses"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|status| Some((status["adapter"].as_str()?.to_owned(), adapter(status))))
        .collect();
    let phase = cluster.status.phase.clone().unwrap_or_default();
    lines.push((format!("cluster/{NAME}"), phase));
    lines
}

fn adapter(status: &Value) -> String {
    let Some(available) = status["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "Available")
    else {
        return "reported".to_owned();
    };
    let text = |field: &str| available[field].as_str().unwrap_or_default();
    let state = if text("status") == "True" {
        "available"
    } else {
        "working"
    };
    match (text("reason"), text("message")) {
        ("", "") => state.to_owned(),
        (reason, "") => format!("{state:<10} {reason}"),
        (reason, message) => format!("{state:<10} {reason}: {message}"),
    }
}
