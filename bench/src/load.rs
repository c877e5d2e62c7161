//! A closed loop: so many workers, each of which asks again as soon as it was answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::connection::{Answer, Call, Connection, Endpoint};
use crate::figures::Tally;
use crate::fleet::Fleet;
use crate::progress::Progress;
use crate::scenario::Scenario;
use crate::usage::{Spent, Watched};

/// How requests are made.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) concurrency: u16,
    pub(crate) watched: Watched,
}

/// What was counted, how long that took, and what it cost.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) elapsed: Duration,
    pub(crate) spent: Spent,
}

/// Preparations need not wait for each other as measurements do.
const LEAST_FOR_PREPARATION: u16 = 32;

impl Load {
    /// Repeats a scenario for a while, after a tenth of that to warm up.
    pub(crate) async fn repeat(
        &self,
        scenario: Scenario,
        fleet: &Arc<Fleet>,
        duration: Duration,
    ) -> Result<Outcome> {
        let from = Instant::now() + duration / 10;
        let until = from + duration;
        let mut workers = JoinSet::new();
        for _ in 0..self.concurrency {
            let worker = Worker {
                connection: Connection::new(self.endpoint.clone()),
                tally: Tally::new()?,
            };
            workers.spawn(worker.repeat(scenario, fleet.clone(), from, until));
        }
        tokio::time::sleep_until(from.into()).await;
        let reading = self.watched.read();
        tokio::time::sleep_until(until.into()).await;
        let spent = reading.spent();
        let mut tally = Tally::new()?;
        while let Some(worker) = workers.join_next().await {
            tally.add(&worker?)?;
        }
        Ok(Outcome {
            tally,
            elapsed: duration,
            spent,
        })
    }

    /// Makes `count` calls, each of which must succeed, and answers in the order of their numbers.
    pub(crate) async fn each(
        &self,
        count: u32,
        mut progress: Progress,
        call: impl Fn(u32) -> Call + Send + Sync + 'static,
    ) -> Result<(Vec<Answer>, Outcome)> {
        let workers = self.concurrency.max(LEAST_FOR_PREPARATION);
        let (started, reading) = (Instant::now(), self.watched.read());
        let call = Arc::new(call);
        let next = Arc::new(Mutex::new(0..count));
        let (sender, mut receiver) = mpsc::channel(usize::from(workers));
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            let (call, next, sender) = (call.clone(), next.clone(), sender.clone());
            let mut connection = Connection::new(self.endpoint.clone());
            tasks.spawn(async move {
                loop {
                    let Some(number) = next.lock().await.next() else {
                        return;
                    };
                    let asked = Instant::now();
                    let answer = connection.send(call(number)).await;
                    if sender
                        .send((number, asked.elapsed(), answer))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut tally = Tally::new()?;
        let mut answers = Vec::with_capacity(count as usize);
        while let Some((number, took, answer)) = receiver.recv().await {
            let answer = answer.context("the fleet cannot be prepared")?;
            if !answer.status.is_success() {
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                bail!("the fleet cannot be prepared: {} {body}", answer.status);
            }
            tally.answered(answer.status.as_u16(), true, took);
            answers.push((number, answer));
            progress.step();
        }
        answers.sort_unstable_by_key(|(number, _)| *number);
        let outcome = Outcome {
            tally,
            elapsed: started.elapsed(),
            spent: reading.spent(),
        };
        Ok((
            answers.into_iter().map(|(_, answer)| answer).collect(),
            outcome,
        ))
    }
}

struct Worker {
    connection: Connection,
    tally: Tally,
}

impl Worker {
    /// Counts what is answered between two moments.
    async fn repeat(
        mut self,
        scenario: Scenario,
        fleet: Arc<Fleet>,
        from: Instant,
        until: Instant,
    ) -> Tally {
        let mut dice = fastrand::Rng::new();
        while Instant::now() < until {
            let call = scenario.call(&fleet, &mut dice);
            let asked = Instant::now();
            let answer = self.connection.send(call).await;
            let now = Instant::now();
            if now < from || now >= until {
                continue;
            }
            match answer {
                Ok(answer) => {
                    let good = scenario.is_good(answer.status);
                    self.tally
                        .answered(answer.status.as_u16(), good, now - asked);
                }
                Err(_) => self.tally.unanswered(),
            }
        }
        self.tally
    }
}
