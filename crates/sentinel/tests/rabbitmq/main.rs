//! The Sentinel between a real API on PostgreSQL and a real RabbitMQ, while one or the other is away.
//!
//! Without RabbitMQ its trials are listed as ignored, with the reason.

#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, which clippy cannot see without the standard harness"
)]

#[path = "../real/api.rs"]
mod api;
#[path = "../real/history.rs"]
#[expect(dead_code, reason = "the tests without RabbitMQ use the rest")]
mod history;
mod outages;
#[path = "../real/owner.rs"]
mod owner;
#[path = "../../../broker/tests/behaviour/rabbitmq/server.rs"]
#[expect(dead_code, reason = "the broker's own tests use more of it")]
mod rabbitmq;
#[path = "../real/replica.rs"]
#[expect(dead_code, reason = "the tests of replicas use more of it")]
mod replica;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Trials wait for servers most of the time.
    arguments.test_threads.get_or_insert(3);
    let unavailable = rabbitmq::Server::unavailable();
    if let Some(reason) = &unavailable {
        eprintln!("skipped: the Sentinel on RabbitMQ: {reason}");
    }
    let trials = outages::trials()
        .into_iter()
        .map(|trial: Trial| trial.with_ignored_flag(unavailable.is_some()))
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
