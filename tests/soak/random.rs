//! Random work, random faults, and a history that must be in order all the same.

use std::time::{Duration, Instant};

use anyhow::Result;
use e2e::real::Pace;
use e2e::stack::{Parts, Stack};
use e2e::{history, servers};
use fastrand::Rng;
use serde_json::json;

/// Alive at a time.
const MOST: usize = 8;
const PATIENCE: Duration = Duration::from_secs(180);

struct Cluster {
    id: String,
    pools: Vec<String>,
}

pub(crate) fn soak(minutes: u64) -> Result<()> {
    let mut rng = Rng::with_seed(history::seed());
    let stack = match servers::unavailable() {
        None => Stack::real(Pace::BRISK)?,
        Some(reason) => {
            println!("on the simulated Kubernetes: {reason}");
            Stack::fast()?
        }
    };
    let end = Instant::now() + Duration::from_secs(minutes * 60);
    let mut clusters: Vec<Cluster> = Vec::new();
    let (mut steps, mut faults) = (0_u32, 0_u32);
    while Instant::now() < end {
        steps += 1;
        if rng.u8(..10) == 0 {
            faults += 1;
            let name = fault(&stack, &mut rng)?;
            println!("step {steps}: {name} was killed and came back");
        }
        // A part that is just coming back may refuse: the next step is another chance.
        if let Err(error) = step(&stack, &mut rng, &mut clusters, steps) {
            println!("step {steps}: {error:#}");
        }
        std::thread::sleep(Duration::from_millis(rng.u64(0..500)));
    }
    for cluster in &clusters {
        stack.wait_longer(PATIENCE, "clusters", &cluster.id, "Ready")?;
        for pool in &cluster.pools {
            stack.wait_longer(PATIENCE, "nodepools", pool, "Ready")?;
        }
    }
    let told = history::check(&stack)?;
    println!("{steps} steps, {faults} faults; history in order: {told}");
    Ok(())
}

fn step(stack: &Stack, rng: &mut Rng, clusters: &mut Vec<Cluster>, number: u32) -> Result<()> {
    let spec = json!({"region": "us-east-1", "release": {"version": format!("4.20.{number}")}});
    if clusters.is_empty() || (clusters.len() < MOST && rng.bool()) {
        let id = stack.create_cluster(&format!("soak-{number}"), &spec)?;
        clusters.push(Cluster {
            id,
            pools: Vec::new(),
        });
        return Ok(());
    }
    let index = rng.usize(..clusters.len());
    match rng.u8(..6) {
        0 => {
            let gone = &clusters[index];
            stack.delete("clusters", &gone.id, &gone.pools)?;
            clusters.swap_remove(index);
        }
        1 | 2 => {
            let cluster = &mut clusters[index];
            let name = format!("p{number}x");
            let spec = json!({"replicas": rng.u8(..5)});
            let pool = stack.create_nodepool(&cluster.id, &name, &spec)?;
            cluster.pools.push(pool);
        }
        3 => {
            let pools = &clusters[index].pools;
            if let Some(pool) = rng.choice(pools) {
                stack.patch("nodepools", pool, &json!({"replicas": rng.u8(..9)}))?;
            }
        }
        _ => {
            stack.patch("clusters", &clusters[index].id, &spec)?;
        }
    }
    Ok(())
}

/// Kills any one part, and brings it back.
fn fault(stack: &Stack, rng: &mut Rng) -> Result<String> {
    match &mut *stack.parts() {
        Parts::Fast(up) => {
            up.kill();
            up.start_again()?;
            Ok("everything".to_owned())
        }
        Parts::Real(real) => {
            let names = real.running();
            let which = rng.usize(..names.len() + 3);
            let Some(name) = names.get(which) else {
                return match which - names.len() {
                    0 => {
                        real.rabbitmq.stop();
                        real.rabbitmq.start_again()?;
                        Ok("RabbitMQ".to_owned())
                    }
                    1 => {
                        real.database.kill()?;
                        real.database.start_again()?;
                        Ok("PostgreSQL".to_owned())
                    }
                    _ => {
                        let command = real.control_plane.kill_apiserver()?;
                        real.control_plane.start_apiserver(&command)?;
                        Ok("kube-apiserver".to_owned())
                    }
                };
            };
            real.kill(name)?;
            real.start_component(name)?;
            Ok(name.clone())
        }
    }
}
