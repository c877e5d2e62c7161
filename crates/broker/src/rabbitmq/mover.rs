//! Holding delayed messages until they are due, then putting them back into the main queue.

use std::time::Duration;

use chrono::Utc;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use tokio::time::sleep;

use super::link::{Link, LinkError};
use super::message;
use super::names::Names;

/// Delayed messages one consumer holds at a time. With more, the later ones wait in the queue, so
/// they may come later than asked, never earlier.
pub(super) const WINDOW: u16 = 500;

/// The server closes a channel that keeps a message unacked for half an hour (its default), so a
/// longer delay is held in pieces.
const LONGEST_HOLD: Duration = Duration::from_secs(600);

/// Before trying again to put a message back.
const PAUSE: Duration = Duration::from_secs(1);

/// Sees one delayed message through. Cancelled with its connection, after which the server has the
/// message again.
pub(super) async fn hold(link: Link, names: &Names, message: lapin::message::Delivery) {
    let headers = message::headers(&message.properties);
    let remaining = headers.remaining(Utc::now());
    if remaining > LONGEST_HOLD {
        sleep(LONGEST_HOLD).await;
        let requeue = BasicNackOptions {
            requeue: true,
            ..BasicNackOptions::default()
        };
        report(message.acker.nack(requeue).await, names);
        return;
    }
    sleep(remaining).await;
    loop {
        let properties = message::properties(headers.due());
        match link
            .move_to(&names.queue, message.data.clone(), properties)
            .await
        {
            Ok(()) => break,
            Err(LinkError::Closed) => return,
            Err(error) => {
                let queue = names.queue.as_str();
                tracing::warn!(queue, %error, "cannot put a delayed message back yet");
                sleep(PAUSE).await;
            }
        }
    }
    report(message.acker.ack(BasicAckOptions::default()).await, names);
}

/// An ack that did not get through means a second delivery, nothing worse.
fn report(acked: lapin::Result<bool>, names: &Names) {
    if let Err(error) = acked {
        let queue = names.retry.as_str();
        tracing::debug!(queue, %error, "cannot settle a delayed message; it comes again");
    }
}
