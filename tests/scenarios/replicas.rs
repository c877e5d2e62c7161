//! Two of everything, and all of them exchanged while there is work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use e2e::events::Listener;
use e2e::process::wait_for;
use e2e::real::Extra;
use e2e::stack::Stack;
use serde_json::{Value, json};

crate::scenarios![
    two_of_everything_share_the_work_and_are_exchanged_one_by_one_under_load,
    sentinels_that_share_by_a_lease_take_over_from_one_that_was_killed,
];

const PATIENCE: Duration = Duration::from_secs(120);

fn two_of_everything_share_the_work_and_are_exchanged_one_by_one_under_load(
    stack: &Stack,
) -> Result<()> {
    stack.with_real(|real| real.start_replicas())?;
    let done = AtomicBool::new(false);
    let made = AtomicUsize::new(0);
    let (restarted, ids) = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut ids = Vec::new();
            let mut number = 0;
            while !done.load(Ordering::Relaxed) && number < 30 {
                number += 1;
                // The first API is one of those that are exchanged: a refused connection is tried again.
                let name = format!("load-{number}");
                if let Ok(id) = stack.create_cluster(&name, &json!({"region": "us-east-1"})) {
                    made.fetch_add(1, Ordering::Relaxed);
                    ids.push(id);
                }
                std::thread::sleep(Duration::from_millis(300));
            }
            ids
        });
        let restarted = stack.with_real(|real| {
            for name in real.running() {
                real.terminate(&name)?;
                real.start_component(&name)?;
            }
            Ok(())
        });
        done.store(true, Ordering::Relaxed);
        (restarted, load.join().unwrap_or_default())
    });
    restarted?;
    anyhow::ensure!(!ids.is_empty(), "nothing could be created");
    for id in &ids {
        stack.wait_longer(PATIENCE, "clusters", id, "Ready")?;
    }
    for id in &ids {
        stack.delete("clusters", id, &[])?;
    }
    for id in &ids {
        stack.wait_until_gone("clusters", id)?;
    }
    eprintln!("{} clusters while every process was exchanged", ids.len());
    stack.with_real(|real| real.stop_replicas())
}

/// Two Sentinels beside the others, which find each other through a Lease of the real apiserver.
fn sentinels_that_share_by_a_lease_take_over_from_one_that_was_killed(stack: &Stack) -> Result<()> {
    let topic = "leased";
    let (mut heard, config) = stack.with_real(|real| {
        let config = format!(
            "sentinel: {{name: leased, replicas: kubernetes, lease_duration: 6s, lease_namespace: hyperfleet-system,
           kube_config_path: \"{}\"}}
clients: {{hyperfleet_api: {{base_url: \"{}\"}}, broker: {{topic: {topic}}}}}
backoff_not_ready: 2s
backoff_ready: 2s
resource_type: clusters
",
            real.kubeconfig().display(),
            real.api().trim_end_matches("/api/hyperfleet/v1"),
        );
        Ok((real.listen_to(topic)?, config))
    })?;
    let start =
        |name: &str| stack.with_real(|real| real.start_extra(name, Extra::Sentinel(&config)));
    let (one, two) = (start("leased-one")?, start("leased-two")?);
    wait_for("both to hold a half", || {
        let held = held(stack)?;
        anyhow::ensure!(held == [32, 32], "{held:?}");
        Ok(())
    })?;
    wait_for("the API to know by what both decide", || {
        let sentinels = stack.get("/sentinels")?;
        let leased = sentinels["items"].as_array().into_iter().flatten();
        let leased = leased.filter(|sentinel| sentinel["name"] == topic);
        let decides: Vec<&Value> = leased.map(|sentinel| &sentinel["decides"]).collect();
        let told = decides.len() == 2 && decides.iter().all(|told| told["backoff_ready"] == "2s");
        anyhow::ensure!(told, "{decides:?}");
        Ok(())
    })?;
    let first = create(stack, "shared", 6)?;
    none_is_new_twice(&mut heard, &first)?;
    one.kill();
    let second = create(stack, "orphaned", 6)?;
    all_are_told(&mut heard, &second)?;
    wait_for("the survivor to hold all", || {
        let held = held(stack)?;
        anyhow::ensure!(held == [64], "{held:?}");
        Ok(())
    })?;
    let status = two.terminate()?;
    anyhow::ensure!(status.success(), "{status}");
    let held = held(stack)?;
    anyhow::ensure!(held.is_empty(), "it did not withdraw: {held:?}");
    for id in first.iter().chain(&second) {
        stack.delete("clusters", id, &[])?;
    }
    Ok(())
}

fn create(stack: &Stack, name: &str, count: usize) -> Result<Vec<String>> {
    let spec = json!({"region": "us-east-1"});
    let names = (0..count).map(|number| format!("{name}-{number}"));
    names
        .map(|name| stack.create_cluster(&name, &spec))
        .collect()
}

/// How many shards each holds, as the Lease tells it.
fn held(stack: &Stack) -> Result<Vec<usize>> {
    let lease = "/apis/coordination.k8s.io/v1/namespaces/hyperfleet-system/leases/hyperfleet-sentinel-clusters";
    let lease = stack.connect()?.get(lease)?.unwrap_or_default();
    let text = lease["metadata"]["annotations"]["hyperfleet.io/sentinels"].as_str();
    let entries: BTreeMap<String, Value> = serde_json::from_str(text.unwrap_or("{}"))?;
    let shards = entries.values().map(|entry| {
        let held = entry["held"].as_array();
        held.map_or(0, Vec::len)
    });
    Ok(shards.collect())
}

/// Listens until every one was told of; how often each was told of as new.
fn all_are_told(heard: &mut Listener, ids: &[String]) -> Result<BTreeMap<String, usize>> {
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    while !ids.iter().all(|id| told.contains_key(id)) {
        let event = heard.hear()?;
        let id = event.data["id"].as_str().unwrap_or_default();
        *told.entry(id.to_owned()).or_default() += usize::from(event.data["reason"] == "created");
    }
    Ok(told)
}

fn none_is_new_twice(heard: &mut Listener, ids: &[String]) -> Result<()> {
    let mut told = all_are_told(heard, ids)?;
    told.retain(|_, times| *times > 1);
    anyhow::ensure!(told.is_empty(), "told twice: {told:?}");
    Ok(())
}
