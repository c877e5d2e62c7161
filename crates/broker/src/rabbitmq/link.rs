//! The publishing connection: kept up in the background, failing at once while it is down.

mod keeper;
mod lines;

use std::sync::Arc;

use lapin::types::ShortString;
use lapin::{BasicProperties, Channel, ExchangeKind};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::lines::Lines;
pub(super) use self::lines::{Outcome, Outgoing, Wait};
use super::connection::Server;

/// Messages on their way at a time, which bounds what an unresponsive server can pile up here.
const WINDOW: usize = 1024;

/// A handle on the connection; clones share it.
#[derive(Clone)]
pub(super) struct Link(Arc<Inner>);

struct Inner {
    state: watch::Receiver<State>,
    window: Arc<Semaphore>,
    /// Refuses what is new.
    closed: CancellationToken,
    sending: TaskTracker,
    /// Ends the connection.
    stop: CancellationToken,
    keeper: TaskTracker,
}

#[derive(Clone)]
enum State {
    Up(Arc<Lines>),
    Down(String),
}

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum LinkError {
    #[error("{0}")]
    Disconnected(String),
    /// The connection is given up with it.
    #[error("{0}")]
    Unconfirmed(String),
    /// This message was not taken; the next one may be.
    #[error("{0}")]
    Rejected(String),
    #[error("{0}")]
    Refused(String),
    #[error("closed")]
    Closed,
}

enum Line {
    Events(Wait),
    Moves,
}

impl Link {
    /// Returns after the first attempt to connect, whatever came of it.
    pub(super) async fn start(server: Server) -> Self {
        let (sender, state) = watch::channel(State::Down("not connected yet".to_owned()));
        let (keeper, stop) = (TaskTracker::new(), CancellationToken::new());
        let (tried, first_try) = oneshot::channel();
        keeper.spawn(keeper::keep_up(server, sender, tried, stop.clone()));
        keeper.close();
        if first_try.await.is_err() {
            tracing::error!("the task that keeps the RabbitMQ connection ended");
        }
        Self(Arc::new(Inner {
            state,
            window: Arc::new(Semaphore::new(WINDOW)),
            closed: CancellationToken::new(),
            sending: TaskTracker::new(),
            stop,
            keeper,
        }))
    }

    pub(super) fn health(&self) -> Result<(), String> {
        match self.lines() {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn lines(&self) -> Result<Arc<Lines>, LinkError> {
        if self.0.closed.is_cancelled() {
            return Err(LinkError::Closed);
        }
        let lines = match &*self.0.state.borrow() {
            State::Up(lines) => Arc::clone(lines),
            State::Down(reason) => return Err(LinkError::Disconnected(reason.clone())),
        };
        lines.check()?;
        Ok(lines)
    }

    /// A channel of its own for a few requests.
    pub(super) async fn channel(&self) -> Result<Channel, LinkError> {
        self.lines()?.channel().await
    }

    /// Publishes an event to an exchange, many at a time.
    pub(super) async fn publish(
        &self,
        kind: ExchangeKind,
        message: Outgoing,
        wait: Wait,
    ) -> Result<Outcome, LinkError> {
        self.lines()?.declare(&message.exchange, kind).await?;
        self.send(Line::Events(wait), message).await
    }

    /// Puts a copy into a queue and returns once the server has it for certain.
    pub(super) async fn move_to(
        &self,
        queue: &ShortString,
        body: Vec<u8>,
        properties: BasicProperties,
    ) -> Result<(), LinkError> {
        let message = Outgoing {
            // The default exchange, where every queue is bound by its name.
            exchange: ShortString::default(),
            routing_key: queue.clone(),
            body,
            properties,
        };
        match self.send(Line::Moves, message).await? {
            Outcome::Taken => Ok(()),
            Outcome::Unroutable { .. } => {
                Err(LinkError::Refused(format!("queue `{queue}` is missing")))
            }
        }
    }

    /// Runs to the end even if the caller stops waiting: lapin keeps every confirmation that is
    /// dropped unresolved.
    async fn send(&self, line: Line, message: Outgoing) -> Result<Outcome, LinkError> {
        let place = Arc::clone(&self.0.window).acquire_owned().await;
        let lines = self.lines()?;
        let sending = self.0.sending.spawn(async move {
            let _place = place;
            let result = match line {
                Line::Events(Wait::Confirmed) => lines.confirmed_event(message).await,
                Line::Events(Wait::Written) => lines.written_event(message).await,
                Line::Moves => lines.moved(message).await,
            };
            if matches!(
                result,
                Err(LinkError::Disconnected(_) | LinkError::Unconfirmed(_))
            ) {
                lines.give_up();
            }
            result
        });
        // The task neither panics nor is aborted, except with the whole runtime.
        sending.await.unwrap_or(Err(LinkError::Closed))
    }

    /// Refuses what comes from now on, waits for what is under way, disconnects.
    pub(super) async fn close(&self) {
        self.0.closed.cancel();
        self.0.sending.close();
        self.0.sending.wait().await;
        self.0.stop.cancel();
        self.0.keeper.wait().await;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
