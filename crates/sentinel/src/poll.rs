//! The fleet, read again and again: for APIs without a change feed.

use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use hyperfleet_client::{CallError, Cause, Client, ListQuery, Retry};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::message::{Message, Pass};
use crate::options::Selector;
use crate::selector::{label, selects};

/// The longest wait between two passes that failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub(crate) struct Poller {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) resource_type: String,
    pub(crate) query: ListQuery,
    pub(crate) selector: Vec<Selector>,
    pub(crate) interval: Duration,
    pub(crate) news: mpsc::Sender<Message>,
}

/// The loop is gone, so nobody listens any more.
pub(crate) struct NobodyListens;

impl Poller {
    /// Reads the list every interval for as long as anybody listens. A pass that takes longer is followed by the
    /// next one at once; one that fails, by a pause that grows.
    pub(crate) async fn passes(self) {
        let pause = Retry {
            base_delay: self.interval.min(LONGEST_PAUSE),
            max_delay: LONGEST_PAUSE,
            ..Retry::default()
        };
        let mut failed = 0;
        for number in 1.. {
            let started = Instant::now();
            let next = match self.pass(number).await {
                Ok(Ok(())) => {
                    failed = 0;
                    started + self.interval
                }
                Ok(Err(error)) => {
                    failed += 1;
                    if self.report(error).await.is_err() {
                        return;
                    }
                    Instant::now() + pause.delay(failed, fastrand::f64())
                }
                Err(NobodyListens) => return,
            };
            tokio::time::sleep_until(next).await;
        }
    }

    async fn pass(&self, number: u32) -> Result<Result<(), CallError>, NobodyListens> {
        let started = Instant::now();
        let mut fetched = 0;
        let mut pages = pin!(
            self.client
                .list_all(&self.resource_type, self.query.clone())
        );
        loop {
            let page = match pages.try_next().await {
                Ok(Some(page)) => page,
                Ok(None) => break,
                Err(error) => return Ok(Err(error)),
            };
            for resource in page {
                if !selects(&self.selector, &resource.labels) {
                    continue;
                }
                if resource.id.is_empty() {
                    tracing::warn!(
                        subset = self.resource_type,
                        name = resource.name,
                        "a resource without an id cannot be watched"
                    );
                    continue;
                }
                fetched += 1;
                self.tell(Message::Observed {
                    resource: Box::new(resource),
                    pass: number,
                })
                .await?;
            }
        }
        tracing::debug!(
            subset = self.resource_type,
            "Fetched resources count={fetched} label_selectors={}",
            label(&self.selector)
        );
        self.tell(Message::Passed(Pass {
            number,
            fetched,
            finished: self.clock.now(),
            took: started.elapsed(),
        }))
        .await?;
        Ok(Ok(()))
    }

    async fn report(&self, error: CallError) -> Result<(), NobodyListens> {
        self.tell(api_away(&self.resource_type, &error)).await
    }

    async fn tell(&self, message: Message) -> Result<(), NobodyListens> {
        self.news.send(message).await.map_err(|_| NobodyListens)
    }
}

/// Says that the API cannot be asked.
pub(crate) fn api_away(subset: &str, error: &CallError) -> Message {
    tracing::error!(
        subset,
        error = %error,
        "Failed to fetch resources; what is known stays due when it is due"
    );
    Message::ApiAway {
        error_type: match error.cause {
            Cause::Token(_) => "auth_error",
            _ => "fetch_error",
        },
        reason: error.to_string(),
    }
}
