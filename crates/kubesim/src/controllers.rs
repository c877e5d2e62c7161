//! What happens by itself after a write: owners, namespaces, definitions and workloads.
//!
//! One task takes every change in order and reacts to it; what has to happen later is an exact timer. With nothing to do
//! it sleeps.

mod definition;
mod namespace;
mod owners;
mod scribe;
mod timers;
mod workload;

use std::sync::Arc;

use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, State};
use crate::options::Options;
use crate::store::Change;

use timers::Timers;

/// What a reaction may use.
struct Reaction<'a> {
    state: &'a mut State,
    timers: &'a mut Timers,
    options: &'a Options,
}

pub(crate) async fn run(cluster: Arc<Cluster>, cancel: CancellationToken) {
    let mut timers = Timers::default();
    loop {
        while step(&cluster, &mut timers) {
            tokio::task::yield_now().await;
        }
        let due = timers.next();
        tokio::select! {
            () = cancel.cancelled() => return,
            () = cluster.changed.notified() => {}
            () = async { match due { Some(at) => sleep_until(at).await, None => std::future::pending().await } } => {}
        }
    }
}

/// Handles one change or one timer; false when there is nothing left. Short, because it holds the lock.
fn step(cluster: &Cluster, timers: &mut Timers) -> bool {
    let mut state = cluster.lock();
    let before = state.store.revision();
    let change = state.store.next_unseen();
    let mut reaction = Reaction {
        state: &mut state,
        timers,
        options: &cluster.options,
    };
    let worked = if let Some(change) = change {
        react(&mut reaction, &change);
        true
    } else if let Some((uid, purpose)) = reaction.timers.take_due() {
        workload::fire(&mut reaction, &uid, purpose);
        true
    } else {
        false
    };
    let changed = state.store.revision() != before;
    drop(state);
    if changed {
        cluster.dirty.notify_one();
    }
    worked
}

fn react(reaction: &mut Reaction<'_>, change: &Change) {
    owners::react(reaction, change);
    namespace::react(reaction, change);
    definition::react(reaction, change);
    workload::react(reaction, change);
}
