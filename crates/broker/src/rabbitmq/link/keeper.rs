//! Connects, watches, connects again.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::{oneshot, watch};
use tokio::time::{interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::State;
use super::lines::Lines;
use crate::backoff::Backoff;
use crate::rabbitmq::connection::{OPEN_TIMEOUT, Server};

/// How often to look at the connection besides listening to what it tells.
const LOOK: Duration = Duration::from_millis(500);

pub(super) async fn keep_up(
    server: Server,
    state: watch::Sender<State>,
    tried: oneshot::Sender<()>,
    stop: CancellationToken,
) {
    let mut tried = Some(tried);
    let mut backoff = Backoff::new();
    let mut was_down = false;
    loop {
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            opened = timeout(OPEN_TIMEOUT, Lines::open(&server)) => opened
                .unwrap_or_else(|_| Err(format!("no answer within {OPEN_TIMEOUT:?}"))),
        };
        let reason = match opened {
            Ok(lines) => {
                let lines = Arc::new(lines);
                state.send_replace(State::Up(Arc::clone(&lines)));
                tell(&mut tried);
                if was_down {
                    tracing::info!("RabbitMQ publishing connection is up again");
                }
                backoff = Backoff::new();
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {
                        lines.close().await;
                        return;
                    }
                    reason = until_broken(&lines) => reason,
                }
            }
            Err(reason) => reason,
        };
        tracing::warn!(reason, "RabbitMQ publishing connection is down");
        state.send_replace(State::Down(reason));
        was_down = true;
        tell(&mut tried);
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(backoff.next()) => {}
        }
    }
}

fn tell(tried: &mut Option<oneshot::Sender<()>>) {
    if let Some(tried) = tried.take() {
        // Nobody waits any more when the caller was cancelled.
        let _unheard = tried.send(());
    }
}

async fn until_broken(lines: &Lines) -> String {
    let mut events = Box::pin(lines.events());
    let mut look = interval(LOOK);
    let mut reason = "connection lost".to_owned();
    loop {
        tokio::select! {
            _ = look.tick() => {
                // A refused request on a channel of its own ends that channel alone, so what
                // counts is not the error but what is left.
                if lines.check_alive().is_err() {
                    return reason;
                }
            }
            () = lines.given_up() => {
                lines.close().await;
                return reason;
            }
            event = events.next() => match event {
                Some(lapin::Event::Error(error)) => {
                    reason = error.to_string();
                    look.reset_immediately();
                }
                Some(lapin::Event::ConnectionBlocked(reason)) => {
                    tracing::warn!(reason, "RabbitMQ takes no messages for now");
                }
                Some(lapin::Event::ConnectionUnblocked) => {
                    tracing::info!("RabbitMQ takes messages again");
                }
                Some(_) => {}
                None => return "connection ended".to_owned(),
            },
        }
    }
}
