//! Parts that die in the middle of the work, and come back.

use std::time::Duration;

use anyhow::{Context, Result};
use e2e::process::{wait_as_long_as, wait_for};
use e2e::real::Real;
use e2e::stack::{Parts, Stack};
use hyperfleet_broker::Event;
use serde_json::json;

/// An outage may cost pauses between tries, of up to half a minute each.
const PATIENCE: Duration = Duration::from_secs(120);

crate::scenarios![
    killed_adapters_go_on_where_they_were,
    an_adapter_that_was_away_looks_once_and_not_once_for_every_event,
    a_killed_sentinel_goes_on_where_it_was,
    a_killed_api_has_lost_nothing_it_acknowledged,
    a_broker_that_was_away_costs_time_only,
    a_database_that_was_killed_costs_time_only,
    an_apiserver_that_was_killed_costs_time_only,
];

/// For the stack in which all parts are one process.
pub(crate) fn of_all_at_once() -> Vec<crate::Scenario> {
    vec![(
        "a_killed_system_goes_on_where_it_was",
        a_killed_system_goes_on_where_it_was,
    )]
}

/// Work in every state: one cluster that is Ready and changes, one that has just begun, one that is being deleted.
struct UnderWay {
    alive: Vec<String>,
    going: String,
}

impl UnderWay {
    fn begin(stack: &Stack, name: &str) -> Result<UnderWay> {
        let spec = json!({"region": "us-east-1"});
        let changing = stack.create_cluster(&format!("{name}-changing"), &spec)?;
        let going = stack.create_cluster(&format!("{name}-going"), &spec)?;
        stack.wait_longer(PATIENCE, "clusters", &changing, "Ready")?;
        stack.wait_longer(PATIENCE, "clusters", &going, "Ready")?;
        let spec = json!({"region": "us-east-1", "release": {"version": "4.20.8"}});
        stack.patch("clusters", &changing, &spec)?;
        let new = stack.create_cluster(&format!("{name}-new"), &spec)?;
        stack.delete("clusters", &going, &[])?;
        // In mid-flight: the new one's ground is laid, and nothing is finished.
        wait_for("the work to be under way", || {
            let path = format!("/api/v1/namespaces/{new}");
            stack.connect()?.get(&path)?.context("no namespace yet")
        })?;
        Ok(UnderWay {
            alive: vec![changing, new],
            going,
        })
    }

    /// All of it comes to its end.
    fn finish(self, stack: &Stack) -> Result<()> {
        for id in &self.alive {
            wait_as_long_as(PATIENCE, "the API", || {
                stack.get(&format!("/clusters/{id}"))
            })?;
            stack.wait_longer(PATIENCE, "clusters", id, "Ready")?;
        }
        stack.wait_until_gone("clusters", &self.going)?;
        for id in &self.alive {
            stack.delete("clusters", id, &[])?;
        }
        Ok(())
    }
}

fn a_killed_system_goes_on_where_it_was(stack: &Stack) -> Result<()> {
    let work = UnderWay::begin(stack, "killed")?;
    if let Parts::Fast(up) = &mut *stack.parts() {
        up.kill();
        up.start_again()?;
    }
    work.finish(stack)
}

/// Kills a part in mid-flight, and brings it back.
fn survive(stack: &Stack, name: &str, fault: impl FnOnce(&mut Real) -> Result<()>) -> Result<()> {
    let work = UnderWay::begin(stack, name)?;
    stack.with_real(fault)?;
    work.finish(stack)?;
    let ended = stack.with_real(|real| Ok(real.ended()))?;
    anyhow::ensure!(ended.is_empty(), "ended by themselves: {ended:?}");
    Ok(())
}

fn killed_adapters_go_on_where_they_were(stack: &Stack) -> Result<()> {
    survive(stack, "adapter", |real| {
        for adapter in ["validation", "control-plane", "landing-zone"] {
            real.kill(adapter)?;
            real.start_component(adapter)?;
        }
        Ok(())
    })
}

fn an_adapter_that_was_away_looks_once_and_not_once_for_every_event(stack: &Stack) -> Result<()> {
    const AWAY: &str = "dns";
    const EVENTS: u32 = 400;
    let spec = json!({"region": "us-east-1"});
    let id = stack.create_cluster("backlog", &spec)?;
    stack.wait_longer(PATIENCE, "clusters", &id, "Ready")?;
    let event = |number: u32| {
        let data = json!({"id": id, "kind": "Cluster", "href": format!("/api/hyperfleet/v1/clusters/{id}")});
        let now = chrono::Utc::now();
        Event::reconcile("Cluster", "backlog", data, now, format!("{id}-{number}"))
    };
    stack.with_real(|real| {
        real.kill(AWAY)?;
        for number in 0..EVENTS {
            real.publish("hyperfleet.clusters.changed.v1", &event(number))?;
        }
        real.start_component(AWAY)
    })?;
    // Behind all of them.
    let spec = json!({"region": "us-east-1", "release": {"version": "4.20.8"}});
    stack.patch("clusters", &id, &spec)?;
    stack.wait_longer(PATIENCE, "clusters", &id, "Ready")?;
    let superseded = stack.with_real(|real| {
        let settled = "hyperfleet_adapter_deliveries_settled_total";
        real.metric(AWAY, settled, "how=\"superseded\"")
    })?;
    // A few come while the first is worked on, and one look follows each of its ends.
    anyhow::ensure!(superseded > f64::from(EVENTS / 2), "{superseded} were");
    stack.delete("clusters", &id, &[])
}

fn a_killed_sentinel_goes_on_where_it_was(stack: &Stack) -> Result<()> {
    survive(stack, "sentinel", |real| {
        real.kill("sentinel")?;
        real.start_component("sentinel")
    })
}

fn a_killed_api_has_lost_nothing_it_acknowledged(stack: &Stack) -> Result<()> {
    survive(stack, "api", |real| {
        real.kill("api")?;
        real.start_component("api")
    })
}

fn a_broker_that_was_away_costs_time_only(stack: &Stack) -> Result<()> {
    survive(stack, "broker", |real| {
        real.rabbitmq.stop();
        real.rabbitmq.start_again()
    })
}

fn a_database_that_was_killed_costs_time_only(stack: &Stack) -> Result<()> {
    survive(stack, "database", |real| {
        real.database.kill()?;
        real.database.start_again()
    })
}

fn an_apiserver_that_was_killed_costs_time_only(stack: &Stack) -> Result<()> {
    survive(stack, "apiserver", |real| {
        let command = real.control_plane.kill_apiserver()?;
        real.control_plane.start_apiserver(&command)
    })
}
