//! The binary: one program, every role.
//!
//! ```text
//!   hyperfleet up                 everything in one process, on this machine
//!   hyperfleet api serve          the API        ┐
//!   hyperfleet sentinel serve     a Sentinel     │ one role each, for production
//!   hyperfleet adapter serve      an adapter     │
//!   hyperfleet sweeper serve      the sweeper    ┘
//!   hyperfleet get, apply, why …  what an operator does with a fleet
//!   hyperfleet broker dead-letters what was given up on
//!   hyperfleet config print       what a role would run with
//! ```
//!
//! Data goes to stdout, everything else to stderr. A failure is one message and a non-zero exit code.

#![forbid(unsafe_code)]

mod broker;
mod build;
mod cli;
mod commands;
mod data_dir;
mod database;
mod operator;
mod output;
mod process;
mod reference;
mod up;
mod wire;

use std::process::ExitCode;

/// Reading a fleet, or an event, is many small allocations. With glibc's allocator they take nearly half of a Sentinel's
/// time to start (`bench/README.md`).
#[cfg(not(feature = "heap-profiling"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "heap-profiling")]
#[global_allocator]
static ALLOCATOR: hyperfleet_runtime::heap::Allocator = hyperfleet_runtime::heap::ALLOCATOR;

fn main() -> ExitCode {
    operator::answer_shell();
    let cli = cli::parse();
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => {
            output::failure(&error);
            ExitCode::FAILURE
        }
    }
}
