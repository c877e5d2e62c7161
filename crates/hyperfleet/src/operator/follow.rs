//! Changes as they happen, for as long as somebody looks: a watch that breaks is resumed where it was.

use std::time::Duration;

use hyperfleet_client::{Client, Follow, RemoteResource, StatusCode, Watch, WatchNews};

use super::failure::Failure;
use super::fleet::Fleet;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What is new.
#[derive(Debug)]
pub(crate) enum News {
    Upsert(Box<RemoteResource>),
    Delete(Box<RemoteResource>),
    /// Too much happened since the connection broke: only a new list tells.
    Lost,
}

/// A watch that goes on.
pub(crate) struct Following<'f> {
    fleet: &'f Fleet,
    client: Client,
    follow: Follow,
    since: String,
    open: Option<Watch>,
    pause: Duration,
    /// The break was told; its end is told too.
    broken: bool,
}

impl<'f> Following<'f> {
    /// From a position on, which a list told.
    pub(crate) fn new(fleet: &'f Fleet, follow: Follow, since: String) -> Following<'f> {
        Following {
            fleet,
            client: fleet.client.clone(),
            follow,
            since,
            open: None,
            pause: FIRST_PAUSE,
            broken: false,
        }
    }

    /// Waits for the next change. Fails only if trying again cannot help.
    pub(crate) async fn next(&mut self) -> Result<News, Failure> {
        loop {
            let watch = match &mut self.open {
                Some(watch) => watch,
                None => match self.client.watch(&self.follow, &self.since).await {
                    Ok(watch) => {
                        if std::mem::take(&mut self.broken) {
                            eprintln!("hyperfleet: watching again");
                        }
                        self.open.insert(watch)
                    }
                    Err(error) if error.status() == Some(StatusCode::GONE) => {
                        return Ok(News::Lost);
                    }
                    // The token ended while we watched: get another, once.
                    Err(error) if error.status() == Some(StatusCode::UNAUTHORIZED) => {
                        match self.broken {
                            true => return Err(self.fleet.told(error)),
                            false => self.client = self.fleet.again().await?.client,
                        }
                        self.broken = true;
                        continue;
                    }
                    Err(error) if error.is_transient() => {
                        self.wait(&self.fleet.told(error).to_string()).await;
                        continue;
                    }
                    Err(error) => return Err(self.fleet.told(error)),
                },
            };
            match watch.next().await {
                Ok(Some(event)) => {
                    self.pause = FIRST_PAUSE;
                    self.since = event.position;
                    match event.news {
                        WatchNews::Upsert(resource) => return Ok(News::Upsert(resource)),
                        WatchNews::Delete(resource) => return Ok(News::Delete(resource)),
                        WatchNews::Bookmark => {}
                    }
                }
                // A server ends watches when it restarts, or when a reader is too slow.
                Ok(None) => self.open = None,
                Err(error) => {
                    self.open = None;
                    self.wait(&self.fleet.told(error).to_string()).await;
                }
            }
        }
    }

    async fn wait(&mut self, why: &str) {
        if !self.broken {
            let why = why.lines().next().unwrap_or_default();
            eprintln!("hyperfleet: the watch broke and is resumed as soon as possible: {why}");
        }
        self.broken = true;
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}
