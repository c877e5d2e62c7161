//! Two of everything, and all of them exchanged while there is work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use e2e::stack::Stack;
use serde_json::json;

crate::scenarios![two_of_everything_share_the_work_and_are_exchanged_one_by_one_under_load,];

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
