//! What every broker promises, tested on each of them: `memory::<promise>`, `rabbitmq::<promise>`, …
//!
//! A broker whose server is not installed has its trials listed as ignored, with the reason.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, which clippy cannot see without the standard harness"
)]

mod bench;
mod dead_letters;
mod delivery;
mod memory;
mod publishing;
#[cfg(feature = "pubsub")]
mod pubsub;
#[cfg(feature = "rabbitmq")]
mod rabbitmq;
mod retry;
#[cfg(any(feature = "pubsub", feature = "sqs"))]
mod script;
#[cfg(feature = "sqs")]
mod sqs;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use crate::bench::{Bench, Promise, promises};

/// Every promise that does not depend on the broker.
fn common() -> Vec<Promise> {
    let mut all = Vec::new();
    all.extend(delivery::promises());
    all.extend(retry::promises());
    all.extend(dead_letters::promises());
    all.extend(publishing::promises());
    all
}

fn main() -> ExitCode {
    #[cfg(feature = "rabbitmq")]
    if let Some(code) = rabbitmq::victim() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Trials wait for servers most of the time.
    arguments.test_threads.get_or_insert(8);
    let mut trials: Vec<Trial> = Vec::new();
    let memory: Arc<dyn Bench> = Arc::new(memory::Memory);
    trials.extend(promises("memory", &memory, common()));
    trials.extend(promises("memory", &memory, memory::promises()));
    #[cfg(feature = "rabbitmq")]
    trials.extend(rabbitmq::trials(common()));
    #[cfg(feature = "pubsub")]
    trials.extend(pubsub::trials(common()));
    #[cfg(feature = "sqs")]
    trials.extend(sqs::trials(common()));
    let conclusion = libtest_mimic::run(&arguments, trials);
    #[cfg(feature = "rabbitmq")]
    rabbitmq::stop();
    #[cfg(feature = "pubsub")]
    pubsub::stop();
    #[cfg(feature = "sqs")]
    sqs::stop();
    conclusion.exit_code()
}
