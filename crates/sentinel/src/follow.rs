//! The fleet read once, and then its changes as they happen: for APIs with a change feed.
//!
//! ```text
//!   pages of the list ──► Observed ... Passed ──► watch from the first page's position ──► Observed │ Gone │ Heard
//!        ▲                                            │ broken: again, from the last position
//!        ├─ the position is too old (410) ◄───────────┤
//!        └─ now and then, slowly, beside the watch ◄──┘   what a defect anywhere lost is found again
//! ```

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyperfleet_client::{
    CallError, Cause, Client, Follow, KeysetPage, Retry, StatusCode, WatchEvent, WatchNews,
};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::clock::Clock;
use crate::message::{Message, Pass};
use crate::options::Selector;
use crate::poll::{NobodyListens, Poller, api_away};
use crate::selector::selects;

/// Resources per page.
const PAGE: u32 = 1000;

/// Pauses before an API that failed is asked again.
const PAUSE: Retry = Retry {
    base_delay: Duration::from_millis(250),
    max_delay: Duration::from_secs(30),
    ..Retry::NEVER
};

pub(crate) struct Follower {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) follow: Follow,
    pub(crate) selector: Vec<Selector>,
    /// How long a pass beside the watch takes, and how long after one the next begins.
    pub(crate) full_pass: Duration,
    pub(crate) news: mpsc::Sender<Message>,
    /// How many resources the last pass found: what the pace of the next one is reckoned from.
    pub(crate) fetched: AtomicUsize,
}

/// Why a watch is given up.
enum GivenUp {
    /// The position is too old, or means nothing there: the list must be read again.
    Expired,
    NobodyListens,
}

impl From<NobodyListens> for GivenUp {
    fn from(_: NobodyListens) -> GivenUp {
        GivenUp::NobodyListens
    }
}

/// A page that was asked for.
type Coming = AbortOnDropHandle<Result<KeysetPage, CallError>>;

type SlowPass<'a> = Pin<Box<dyn Future<Output = Result<(), GivenUp>> + Send + 'a>>;

impl Follower {
    /// Follows the list for as long as anybody listens, or polls when the API has nothing to follow.
    pub(crate) async fn run(self, poller: Poller) {
        let mut failed = 0;
        let mut number = 0;
        loop {
            number += 1;
            let read = match self.client.first_page(&self.follow, PAGE).await {
                Ok(Some(first)) => self.pass(number, first, Duration::ZERO).await,
                Ok(None) => {
                    tracing::info!(
                        subset = self.follow.plural,
                        "this API has no change feed; its list is read again and again"
                    );
                    return poller.passes().await;
                }
                Err(error) => Ok(Err(error)),
            };
            let ended = match read {
                Ok(Ok(since)) => {
                    failed = 0;
                    self.watch(since, &mut number).await
                }
                Ok(Err(error)) => {
                    failed += 1;
                    match self.away(&error).await {
                        Ok(()) => {
                            tokio::time::sleep(PAUSE.delay(failed, fastrand::f64())).await;
                            continue;
                        }
                        Err(NobodyListens) => Err(GivenUp::NobodyListens),
                    }
                }
                Err(NobodyListens) => Err(GivenUp::NobodyListens),
            };
            match ended {
                Err(GivenUp::NobodyListens) => return,
                Err(GivenUp::Expired) | Ok(()) => {
                    tracing::info!(
                        subset = self.follow.plural,
                        "the list is read again from the beginning"
                    );
                }
            }
        }
    }

    /// Reads the whole list, with a pause after each page. Answers where to watch from.
    async fn pass(
        &self,
        number: u32,
        first: KeysetPage,
        pause: Duration,
    ) -> Result<Result<String, CallError>, NobodyListens> {
        let started = Instant::now();
        let since = first.since.clone();
        let mut fetched = 0;
        let mut page = first;
        loop {
            // The next page is made and received while this one is read: neither waits for the other.
            let next = self.page_after(&page, pause);
            match self.tell_selected(&page, number).await? {
                Ok(told) => fetched += told,
                Err(error) => return Ok(Err(error)),
            }
            page = match next {
                Some(next) => match next.await {
                    Ok(Ok(next)) => next,
                    Ok(Err(error)) => return Ok(Err(error)),
                    // It panicked, or the runtime ends.
                    Err(_) => return Err(NobodyListens),
                },
                None => break,
            };
        }
        self.fetched.store(fetched, Ordering::Relaxed);
        self.tell(Message::Passed(Pass {
            number,
            fetched,
            finished: self.clock.now(),
            took: started.elapsed(),
        }))
        .await?;
        Ok(Ok(since))
    }

    /// On its way; `None` after the last page.
    fn page_after(&self, page: &KeysetPage, pause: Duration) -> Option<Coming> {
        let next = page.next.clone()?;
        let (client, follow) = (self.client.clone(), self.follow.clone());
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            client.next_page(&follow, PAGE, &next).await
        })))
    }

    /// Tells what of a page is selected, and answers how many that were.
    async fn tell_selected(
        &self,
        page: &KeysetPage,
        pass: u32,
    ) -> Result<Result<usize, CallError>, NobodyListens> {
        let items = match page.items() {
            Ok(items) => items,
            Err(error) => return Ok(Err(error)),
        };
        let mut told = 0;
        for resource in items {
            if selects(&self.selector, &resource.labels) && !resource.id.is_empty() {
                told += 1;
                let resource = Box::new(resource);
                self.tell(Message::Observed { resource, pass }).await?;
            }
        }
        Ok(Ok(told))
    }

    /// Tells every change from a position on; reconnects for as long as the position can be resumed from.
    async fn watch(&self, mut since: String, number: &mut u32) -> Result<(), GivenUp> {
        let mut failed = 0;
        let mut pass_at = Instant::now() + self.full_pass;
        let mut pass: Option<SlowPass<'_>> = None;
        loop {
            let error = match self.client.watch(&self.follow, &since).await {
                Err(error) if is_expired(&error) => return Err(GivenUp::Expired),
                Err(error) => error,
                Ok(mut watch) => loop {
                    let event = tokio::select! {
                        event = watch.next() => event,
                        ended = running(&mut pass) => {
                            pass = None;
                            ended?;
                            continue;
                        }
                        () = tokio::time::sleep_until(pass_at), if pass.is_none() => {
                            *number += 1;
                            pass_at = Instant::now() + self.full_pass;
                            pass = Some(Box::pin(self.slow_pass(*number)));
                            continue;
                        }
                    };
                    match event {
                        Ok(Some(event)) => {
                            failed = 0;
                            since = self.news(event, *number).await?;
                        }
                        Ok(None) => break closed(&self.follow),
                        Err(error) => break error,
                    }
                },
            };
            failed += 1;
            // A server that lets its watchers go is restarting; that is worth no alarm.
            if failed > 1 || !matches!(error.cause, Cause::Answer(_)) {
                self.away(&error).await?;
            }
            tokio::time::sleep(PAUSE.delay(failed, fastrand::f64())).await;
        }
    }

    /// A pass beside the watch, spread over half of the time until the next one.
    async fn slow_pass(&self, number: u32) -> Result<(), GivenUp> {
        let first = match self.client.first_page(&self.follow, PAGE).await {
            Ok(Some(first)) => first,
            Ok(None) => return Ok(()),
            Err(error) => return Ok(self.away(&error).await?),
        };
        let pages = self.fetched.load(Ordering::Relaxed) / PAGE as usize + 1;
        let pause = self.full_pass / u32::try_from(2 * pages).unwrap_or(u32::MAX);
        match self.pass(number, first, pause).await? {
            Ok(_) => Ok(()),
            Err(error) => Ok(self.away(&error).await?),
        }
    }

    async fn news(&self, event: WatchEvent, pass: u32) -> Result<String, NobodyListens> {
        let message = match event.news {
            WatchNews::Bookmark => Message::Heard,
            WatchNews::Delete(resource) => Message::Gone { id: resource.id },
            WatchNews::Upsert(resource) if !selects(&self.selector, &resource.labels) => {
                Message::Gone { id: resource.id }
            }
            WatchNews::Upsert(resource) => Message::Changed { resource, pass },
        };
        self.tell(message).await?;
        Ok(event.position)
    }

    async fn away(&self, error: &CallError) -> Result<(), NobodyListens> {
        self.tell(api_away(&self.follow.plural, error)).await
    }

    async fn tell(&self, message: Message) -> Result<(), NobodyListens> {
        self.news.send(message).await.map_err(|_| NobodyListens)
    }
}

/// Waits for ever while there is none.
async fn running(pass: &mut Option<SlowPass<'_>>) -> Result<(), GivenUp> {
    match pass {
        Some(pass) => pass.await,
        None => std::future::pending().await,
    }
}

/// The position cannot be resumed from: it is too old, or from another database.
fn is_expired(error: &CallError) -> bool {
    matches!(
        error.status(),
        Some(StatusCode::GONE | StatusCode::BAD_REQUEST)
    )
}

fn closed(follow: &Follow) -> CallError {
    CallError {
        method: hyperfleet_client::Method::GET,
        url: follow.plural.clone(),
        attempts: 1,
        duration: Duration::ZERO,
        cause: Cause::Answer("the watch was closed by the server".to_owned()),
    }
}
