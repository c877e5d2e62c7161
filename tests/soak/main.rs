//! What takes too long for every test run. Does nothing unless it is asked for:
//!
//! - `HYPERFLEET_SOAK_MINUTES=10`: random work and random faults for so long, then the history is checked.
//! - `HYPERFLEET_FLEET=200`: so many clusters at once on the real stack, with the times and the memory they take.

mod fleet;
mod random;

use std::process::ExitCode;

use anyhow::{Context, Result};

fn asked(name: &str) -> Result<Option<u64>> {
    match std::env::var(name) {
        Err(_) => Ok(None),
        Ok(text) => {
            let number = text.parse().with_context(|| format!("{name}={text}"))?;
            Ok(Some(number))
        }
    }
}

fn run() -> Result<()> {
    let (minutes, clusters) = (
        asked("HYPERFLEET_SOAK_MINUTES")?,
        asked("HYPERFLEET_FLEET")?,
    );
    if minutes.is_none() && clusters.is_none() {
        println!("skipped: the soak test runs with make soak, the large fleet with make fleet");
    }
    if let Some(minutes) = minutes {
        random::soak(minutes)?;
    }
    if let Some(clusters) = clusters {
        fleet::bring_up(clusters)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
