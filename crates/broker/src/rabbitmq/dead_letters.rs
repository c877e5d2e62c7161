//! Looking at dead letters and giving them back.

use lapin::options::{BasicAckOptions, BasicGetOptions, QueueDeclareOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{BasicProperties, Channel};
use tokio::time::timeout;

use super::connection::{OPEN_TIMEOUT, is_refusal};
use super::link::{Link, LinkError};
use super::message;
use super::names::Names;
use crate::broker::BrokerError;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};

/// Takes the letters without acking; closing the channel puts them back where they were.
pub(super) async fn list(
    link: &Link,
    names: &Names,
    limit: usize,
) -> Result<Vec<DeadLetter>, BrokerError> {
    let action = || format!("list the dead letters of `{}`", names.queue);
    let count = count(link, names, &action).await?;
    let channel = link.channel().await.map_err(|e| from_link(action(), e))?;
    let mut letters = Vec::new();
    while letters.len() < limit.min(count) {
        let got = get(&channel, &names.dead).await;
        let Some(message) = got.map_err(|e| failed(action(), &e))? else {
            break;
        };
        letters.push(letter(message.data, &message.properties));
    }
    let closed = channel.close(200, "done".into()).await;
    closed.map_err(|e| failed(action(), &e))?;
    Ok(letters)
}

/// Looks at no more than there were at the start, so that a letter which dies again while we are
/// at it is not replayed twice. Those looked at and not meant go back when the channel closes.
pub(super) async fn clear(
    link: &Link,
    names: &Names,
    selection: &Selection,
    fate: Fate,
    progress: Progress<'_>,
) -> Result<usize, BrokerError> {
    let action = || format!("{} the dead letters of `{}`", fate.as_str(), names.queue);
    let count = count(link, names, &action).await?;
    let channel = link.channel().await.map_err(|e| from_link(action(), e))?;
    let mut done = 0;
    for _ in 0..count {
        if done >= selection.limit() {
            break;
        }
        let got = get(&channel, &names.dead).await;
        let Some(message) = got.map_err(|e| failed(action(), &e))? else {
            break;
        };
        let letter = letter(message.data, &message.properties);
        if !selection.takes(&letter) {
            continue;
        }
        if fate == Fate::Replay {
            let headers = message::headers(&message.properties).stripped();
            let properties = message::properties(headers);
            let moving = link.move_to(&names.queue, letter.body.clone(), properties);
            moving.await.map_err(|e| from_link(action(), e))?;
        }
        // An ack that is under way when its connection goes may never be answered.
        let acking = timeout(OPEN_TIMEOUT, message.acker.ack(BasicAckOptions::default()));
        let acked = acking.await.map_err(|_| BrokerError::Disconnected {
            action: action(),
            reason: format!("no answer within {OPEN_TIMEOUT:?}"),
        })?;
        acked.map_err(|e| failed(action(), &e))?;
        progress(&letter);
        done += 1;
    }
    let closed = channel.close(200, "done".into()).await;
    closed.map_err(|e| failed(action(), &e))?;
    Ok(done)
}

fn letter(body: Vec<u8>, properties: &BasicProperties) -> DeadLetter {
    message::headers(properties).epitaph(body)
}

async fn get(
    channel: &Channel,
    queue: &ShortString,
) -> Result<Option<lapin::message::Delivery>, lapin::Error> {
    let got = channel
        .basic_get(queue.clone(), BasicGetOptions::default())
        .await?;
    Ok(got.map(|message| message.delivery))
}

/// How many dead letters there are. A subscription only Go consumers ever had has no queue for
/// them, which counts as none.
async fn count(
    link: &Link,
    names: &Names,
    action: &impl Fn() -> String,
) -> Result<usize, BrokerError> {
    if peek(link, &names.queue, action).await?.is_none() {
        return Err(BrokerError::NoSubscription {
            topic: names.topic.clone(),
            subscription: names.subscription.clone(),
        });
    }
    Ok(peek(link, &names.dead, action).await?.unwrap_or(0))
}

/// The number of messages in a queue; `None` when there is no such queue.
async fn peek(
    link: &Link,
    queue: &ShortString,
    action: &impl Fn() -> String,
) -> Result<Option<usize>, BrokerError> {
    // Asking for a missing queue ends the channel, so each question has its own.
    let channel = link.channel().await.map_err(|e| from_link(action(), e))?;
    let passive = QueueDeclareOptions::durable().passive();
    let asked = channel.queue_declare(queue.clone(), passive, FieldTable::default());
    match asked.await {
        Ok(found) => {
            let closed = channel.close(200, "done".into()).await;
            closed.map_err(|e| failed(action(), &e))?;
            Ok(Some(found.message_count() as usize))
        }
        Err(error) if is_refusal(&error) => Ok(None),
        Err(error) => Err(failed(action(), &error)),
    }
}

fn failed(action: String, error: &lapin::Error) -> BrokerError {
    let reason = error.to_string();
    match is_refusal(error) {
        true => BrokerError::Refused { action, reason },
        false => BrokerError::Disconnected { action, reason },
    }
}

fn from_link(action: String, error: LinkError) -> BrokerError {
    match error {
        LinkError::Closed => BrokerError::Closed,
        LinkError::Refused(reason) | LinkError::Rejected(reason) => {
            BrokerError::Refused { action, reason }
        }
        LinkError::Disconnected(reason) | LinkError::Unconfirmed(reason) => {
            BrokerError::Disconnected { action, reason }
        }
    }
}
