//! A load generator for any server that speaks HyperFleet's v1.0 wire format.
//!
//! ```text
//!   --start PATH ──► hyperfleet api serve, private PostgreSQL ┐
//!   --server URL ─────────────────────────────────────────────┴─► seed the fleet
//!                                                                   │
//!                     workers, each with one connection, ask again when answered
//!                                                                   │
//!                  rates, percentiles, failures, /proc of the servers ──► table or JSON on stdout
//! ```

#![forbid(unsafe_code)]

mod adapter;
mod cli;
mod connection;
mod figures;
mod fleet;
mod load;
mod machine;
mod own_server;
mod print;
mod progress;
mod rabbitmq;
mod report;
mod role;
mod run;
mod scenario;
mod sentinel;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    let command = Cli::parse().command;
    // One thread: what the generator takes is missing in the servers on the same machine.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(async {
            match command {
                Command::Api(args) => run::api(args).await,
                Command::Sentinel(args) => sentinel::run(args).await,
                Command::Adapter(args) => adapter::run(args).await,
            }
        }),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hyperfleet-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}
