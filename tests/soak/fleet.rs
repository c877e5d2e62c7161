//! Many clusters at once on real servers: how long they take, and what the processes weigh.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use e2e::real::Pace;
use e2e::stack::Stack;
use e2e::{history, servers};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(480);
/// Memory that grows without work would show after it.
const REST: Duration = Duration::from_secs(60);

pub(crate) fn bring_up(clusters: u64) -> Result<()> {
    if let Some(reason) = servers::unavailable() {
        println!("skipped: {clusters} clusters at once: {reason}");
        return Ok(());
    }
    let stack = Stack::real(Pace::CALM)?;
    let weights = || {
        stack.with_real(|real| {
            Ok(real
                .running()
                .iter()
                .filter_map(|name| Some((name.clone(), memory(real.id(name)?)?)))
                .collect::<BTreeMap<_, _>>())
        })
    };
    let before = weights()?;
    let begun = Instant::now();
    let spec = json!({"region": "us-east-1"});
    for number in 0..clusters {
        stack.create_cluster(&format!("fleet-{number}"), &spec)?;
    }
    println!(
        "{clusters} clusters created in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    loop {
        let ready = count(&stack, "status.phase='Ready'")?;
        if ready == clusters {
            break;
        }
        anyhow::ensure!(
            begun.elapsed() < PATIENCE,
            "{ready} of {clusters} are Ready"
        );
        std::thread::sleep(Duration::from_millis(250));
    }
    println!("all Ready after {:.1} s", begun.elapsed().as_secs_f64());
    let ended = stack.with_real(|real| Ok(real.ended()))?;
    anyhow::ensure!(ended.is_empty(), "ended by themselves: {ended:?}");
    let ready = weights()?;
    std::thread::sleep(REST);
    let rested = weights()?;
    println!(
        "{:<22} {:>12} {:>12} {:>12}",
        "memory (RSS)", "empty", "all Ready", "a minute on"
    );
    for (name, rested) in rested {
        let at = |when: &BTreeMap<String, u64>| when.get(&name).copied().unwrap_or_default();
        let (before, ready) = (at(&before), at(&ready));
        println!("{name:<22} {before:>8} KiB {ready:>8} KiB {rested:>8} KiB");
    }
    let ended = stack.with_real(|real| Ok(real.ended()))?;
    anyhow::ensure!(ended.is_empty(), "ended by themselves: {ended:?}");
    println!("history: {}", history::check(&stack)?);
    Ok(())
}

fn count(stack: &Stack, search: &str) -> Result<u64> {
    let search = search.replace('=', "%3D").replace('\'', "%27");
    let list: Value = stack.get(&format!("/clusters?size=1&search={search}"))?;
    list["total"].as_u64().context("no total")
}

/// In KiB.
fn memory(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
