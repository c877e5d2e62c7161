//! Many refreshes that are due at one moment.

use std::time::Duration;

use anyhow::Result;
use chrono::{TimeDelta, Utc};
use serde::Serialize;

use super::fleet;
use super::stage::Stage;
use crate::cli::SentinelArgs;

#[derive(Debug, Serialize)]
pub(super) struct Due {
    pub(super) resources: u32,
    pub(super) heard: u32,
    /// From the moment they were due to the last event in the hands of a consumer.
    pub(super) seconds: f64,
    pub(super) per_second: f64,
}

pub(super) async fn measure(
    args: &SentinelArgs,
    stage: &mut Stage,
    start: Duration,
) -> Result<Due> {
    // Late enough that the Sentinel knows everybody by then.
    let ahead = TimeDelta::from_std(start * 3 + Duration::from_secs(60))?;
    let moment = Utc::now() + ahead;
    let resources = fleet::due_at(stage, args.due.min(args.clusters), moment).await?;
    let (sentinel, again) = stage.sentinel().await?;
    eprintln!(
        "started in {:.1} s; {resources} are due at {}",
        again.as_secs_f64(),
        moment.format("%H:%M:%S")
    );
    anyhow::ensure!(Utc::now() < moment, "the Sentinel started too late");
    let (mut heard, mut last) = (0, moment);
    let patience = (moment - Utc::now()).to_std()? + Duration::from_secs(60);
    while heard < resources {
        let Some(event) = stage.listener.next(patience).await else {
            break;
        };
        if event.reason == "max-age-expired" {
            heard += 1;
            last = event.at;
        }
    }
    stage.stop(sentinel).await?;
    let seconds = (last - moment).as_seconds_f64().max(f64::EPSILON);
    Ok(Due {
        resources,
        heard,
        seconds,
        per_second: f64::from(heard) / seconds,
    })
}
