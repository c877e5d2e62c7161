//! The clusters that are worked on: how they come to be, and what is known of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Result, bail};
use http::Method;
use serde_json::{Value, json};

use crate::connection::{Answer, Call};
use crate::load::{Load, Outcome};
use crate::progress::Progress;
use crate::report::{self, ADAPTERS, Reports};

/// One in so many clusters has an adapter that failed, so that a search for the condition finds few.
pub(crate) const FAILED_SHARE: u32 = 100;
/// Labels spread the fleet over so many shards.
pub(crate) const SHARDS: u32 = 10;

/// Clusters whose adapters report at about the same time: what a Sentinel announces in a second or two.
pub(crate) const ROUND: u32 = 500;

#[derive(Debug)]
pub(crate) struct Fleet {
    /// Keeps the names of one run apart from those of another.
    run: String,
    /// Of the cluster with each number.
    ids: Vec<String>,
    created: AtomicU32,
    patched: AtomicU32,
    /// Reports of rounds so far.
    round: AtomicU32,
    reports: Reports,
    /// Adapters report on so many of them, the first.
    reported: u32,
}

impl Fleet {
    /// Creates the clusters; also answers what that came to.
    pub(crate) async fn seed(
        load: &Load,
        clusters: u32,
        reported: u32,
    ) -> Result<(Arc<Fleet>, Outcome)> {
        let run = format!("{:08x}", fastrand::u32(..));
        let progress = Progress::new("creating clusters", clusters);
        let naming = run.clone();
        let (answers, outcome) = load
            .each(clusters, progress, move |number| {
                create(&naming, "seed", number)
            })
            .await?;
        let ids = answers.iter().map(id_of).collect::<Result<Vec<String>>>()?;
        let fleet = Fleet {
            run,
            reports: Reports::new(clusters),
            ids,
            created: AtomicU32::new(0),
            patched: AtomicU32::new(0),
            round: AtomicU32::new(0),
            reported: reported.min(clusters),
        };
        Ok((Arc::new(fleet), outcome))
    }

    /// Lets the first adapter fail on a few clusters.
    pub(crate) async fn fail_some(self: &Arc<Fleet>, load: &Load) -> Result<()> {
        let count = self.size().div_ceil(FAILED_SHARE);
        let progress = Progress::new("reporting failures", count);
        let fleet = self.clone();
        let call = move |n: u32| fleet.report(n * FAILED_SHARE, 0, report::FAILED);
        load.each(count, progress, call).await?;
        Ok(())
    }

    /// Lets every adapter report once, so that later reports can repeat what is known.
    pub(crate) async fn report_all(self: &Arc<Fleet>, load: &Load) -> Result<()> {
        let count = self.reported * u32::try_from(ADAPTERS.len())?;
        let progress = Progress::new("reporting for the first time", count);
        let (fleet, reported) = (self.clone(), self.reported);
        // Adapter by adapter: two reports on one cluster at once would be in each other's way.
        let call = move |n: u32| {
            let adapter = (n / reported) as usize;
            fleet.report(n % reported, adapter, report::DONE)
        };
        load.each(count, progress, call).await?;
        Ok(())
    }

    pub(crate) fn reported(&self) -> u32 {
        self.reported
    }

    pub(crate) fn size(&self) -> u32 {
        u32::try_from(self.ids.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn path(&self, cluster: u32) -> String {
        format!("/clusters/{}", self.ids[cluster as usize])
    }

    /// A report that an adapter says something about a cluster.
    pub(crate) fn report(&self, cluster: u32, adapter: usize, says: report::Says) -> Call {
        let body = self.reports.next(cluster, adapter, says);
        let path = format!("{}/statuses", self.path(cluster));
        Call::new(Method::PUT, path, body.to_string())
    }

    /// The cluster and the adapter whose turn it is in the round.
    pub(crate) fn next_of_round(&self) -> (u32, usize) {
        round(self.round.fetch_add(1, Ordering::Relaxed), self.reported)
    }

    /// A cluster that is not there yet.
    pub(crate) fn create(&self) -> Call {
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        create(&self.run, "new", number)
    }

    /// A change of a cluster's spec that was never asked for before.
    pub(crate) fn patch(&self, cluster: u32) -> Call {
        let number = self.patched.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "spec": spec(cluster, number + 1) });
        Call::new(Method::PATCH, self.path(cluster), body.to_string())
    }
}

/// The report with this number: every pair of a round comes once, those of a cluster far from each other.
fn round(number: u32, clusters: u32) -> (u32, usize) {
    const ADAPTERS: u32 = report::ADAPTERS.len() as u32;
    const PAIRS: u32 = ROUND * ADAPTERS;
    /// Shares no factor with the number of pairs, and is about the golden section of it.
    const STRIDE: u32 = 2_473;
    let pair = number % PAIRS * STRIDE % PAIRS;
    let cluster = number / PAIRS * ROUND + pair / ADAPTERS;
    (cluster % clusters, (pair % ADAPTERS) as usize)
}

fn create(run: &str, what: &str, number: u32) -> Call {
    let env = if number.is_multiple_of(2) {
        "dev"
    } else {
        "prod"
    };
    let body = json!({
        "kind": "Cluster",
        "name": format!("bench-{run}-{what}-{number}"),
        // Not the parity that `env` has, so that every shard has clusters of both.
        "labels": { "env": env, "shard": (number / 2 % SHARDS).to_string() },
        "spec": spec(number, 0),
    });
    Call::new(Method::POST, "/clusters".to_owned(), body.to_string())
}

/// About as large as a real one's core.
fn spec(number: u32, change: u32) -> Value {
    json!({
        "region": "eu-west-1",
        "version": "4.17.3",
        "change": change,
        "nodes": { "count": 3, "type": "m6i.xlarge", "zones": ["eu-west-1a", "eu-west-1b", "eu-west-1c"] },
        "network": {
            "cidr": format!("10.{}.0.0/16", number % 250),
            "pods": "10.128.0.0/14",
            "services": "172.30.0.0/16",
        },
        "owner": { "organization": format!("org-{}", number % 97), "contact": "fleet@example.com" },
    })
}

fn id_of(answer: &Answer) -> Result<String> {
    let body: Value = serde_json::from_slice(&answer.body)?;
    match body["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        None => bail!("the server answered a create without an id: {body}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn in_a_round_every_adapter_reports_once_on_every_cluster() {
        let pairs = ROUND * 8;
        let of = |from: u32| {
            let pairs = (from..from + pairs).map(|number| round(number, 10_000));
            pairs.collect::<HashSet<_>>()
        };
        let (first, second) = (of(0), of(pairs));
        assert_eq!(first.len() as u32, pairs);
        assert!(first.iter().all(|(cluster, _)| *cluster < ROUND));
        assert!(first.is_disjoint(&second));
        assert!(of(10_000 * 8).is_subset(&first), "over again");
    }

    #[test]
    fn two_reports_on_one_cluster_are_far_from_each_other() {
        let clusters: Vec<u32> = (0..ROUND * 8)
            .map(|number| round(number, 10_000).0)
            .collect();
        for near in clusters.windows(64) {
            assert_eq!(near.iter().collect::<HashSet<_>>().len(), near.len());
        }
    }
}
