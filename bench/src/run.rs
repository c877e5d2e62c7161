//! From the command line to the figures.

use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::cli::ApiArgs;
use crate::connection::{Connection, Endpoint};
use crate::figures::Figures;
use crate::fleet::Fleet;
use crate::load::Load;
use crate::machine::{self, Machine};
use crate::own_server::OwnServer;
use crate::print;
use crate::scenario::Scenario;
use crate::usage::Watched;

/// Everything that is printed.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) flags: ApiArgs,
    pub(crate) machine: Machine,
    pub(crate) scenarios: Vec<Figures>,
}

pub(crate) async fn api(args: ApiArgs) -> Result<()> {
    let Some(path) = &args.start else {
        let watched = Watched {
            server: args.pid,
            postgres: args.postgres_pid,
        };
        let url = args.server.clone().unwrap_or_default();
        return measure(args, &url, watched).await;
    };
    let server = OwnServer::start(path).await?;
    let (url, watched) = (server.url.clone(), server.watched());
    let outcome = tokio::select! {
        outcome = measure(args, &url, watched) => outcome,
        interrupt = tokio::signal::ctrl_c() => {
            interrupt?;
            Err(anyhow::anyhow!("interrupted"))
        }
    };
    let stopped = server.stop().await;
    outcome.and(stopped)
}

async fn measure(args: ApiArgs, url: &str, watched: Watched) -> Result<()> {
    let endpoint = Arc::new(Endpoint::parse(url, &args.headers)?);
    let mut connection = Connection::new(endpoint.clone());
    let mut machine = Machine::describe(&mut connection, watched.postgres).await;
    let load = Load {
        endpoint,
        concurrency: args.concurrency,
        watched,
    };
    let wanted = |scenario: &&Scenario| args.only.is_empty() || args.only.contains(scenario);
    let (fleet, seeded) = Fleet::seed(&load, args.clusters, args.report_clusters).await?;
    let creating = "POST of the fleet, at least 32 at once".to_owned();
    let mut scenarios = vec![
        seeded
            .tally
            .figures("seed", creating, seeded.elapsed, seeded.spent),
    ];
    fleet.fail_some(&load).await?;
    let mut has_reports = false;
    for scenario in Scenario::ALL.iter().filter(wanted) {
        if matches!(scenario, Scenario::Report | Scenario::ReportRound) && !has_reports {
            fleet.report_all(&load).await?;
            has_reports = true;
        }
        eprintln!("{}: {}", scenario.name(), args.duration);
        let outcome = load.repeat(*scenario, &fleet, args.duration.get()).await?;
        let method = scenario.method(fleet.reported());
        let figures =
            outcome
                .tally
                .figures(scenario.name(), method, outcome.elapsed, outcome.spent);
        scenarios.push(figures);
    }
    machine.load_after = machine::load();
    let measured = Measured {
        flags: args,
        machine,
        scenarios,
    };
    print::measured(&measured, load.endpoint.address())?;
    let silent = |figures: &&Figures| figures.failed == figures.requests;
    if let Some(figures) = measured.scenarios.iter().find(silent) {
        bail!("{}: no request succeeded", figures.name);
    }
    Ok(())
}
