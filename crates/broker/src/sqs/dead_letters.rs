//! Looking at dead letters, giving them back, removing them.

use aws_sdk_sqs::types::{Message, MessageSystemAttributeName as SystemAttribute};
use chrono::{DateTime, Utc};

use super::attributes;
use super::client::Trouble;
use super::lease::hide;
use super::names::Names;
use super::places::{Places, Queues};
use super::settle::{delete, send};
use crate::broker::BrokerError;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::headers::Headers;

/// How long a letter is hidden from others while we look at it.
const LOOK_SECONDS: i32 = 60;

/// Receives them all, then shows them again. SQS keeps no order; they are sorted by their time.
pub(super) async fn list(
    places: &Places,
    names: &Names,
    limit: usize,
) -> Result<Vec<DeadLetter>, BrokerError> {
    let action = format!("list the dead letters of `{}`", names.queue);
    let queues = queues(places, names, &action).await?;
    let mut held = Held::default();
    let listed = async {
        let mut letters = Vec::new();
        while letters.len() < limit {
            let Some(batch) = receive(places, &queues, limit - letters.len()).await? else {
                break;
            };
            for message in batch {
                letters.push(letter(&message).1);
                held.keep(message);
            }
        }
        Ok(letters)
    };
    let listed = listed.await;
    held.give_back(places, &queues.dead).await;
    let mut letters = listed.map_err(|trouble: Trouble| trouble.for_broker(action))?;
    letters.sort_by_key(|letter| letter.time);
    Ok(letters)
}

pub(super) async fn clear(
    places: &Places,
    names: &Names,
    selection: &Selection,
    fate: Fate,
    progress: Progress<'_>,
) -> Result<usize, BrokerError> {
    let action = format!("{} the dead letters of `{}`", fate.as_str(), names.queue);
    let queues = queues(places, names, &action).await?;
    let start = Utc::now();
    let mut held = Held::default();
    let cleared = async {
        let mut done = 0;
        while done < selection.limit() {
            let Some(batch) = receive(places, &queues, selection.limit() - done).await? else {
                break;
            };
            for message in batch {
                let (headers, letter) = letter(&message);
                // What died since is not ours to clear, or a letter that dies at once would be
                // replayed for ever.
                let is_new = letter.time.is_some_and(|time| time > start);
                if is_new || !selection.takes(&letter) {
                    held.keep(message);
                    continue;
                }
                let receipt = message.receipt_handle.unwrap_or_default();
                if fate == Fate::Replay {
                    let body = String::from_utf8_lossy(&letter.body).into_owned();
                    send(places, &queues.main, body, headers.stripped()).await?;
                }
                delete(places, &queues.dead, &receipt).await?;
                progress(&letter);
                done += 1;
            }
        }
        Ok(done)
    };
    let cleared = cleared.await;
    held.give_back(places, &queues.dead).await;
    cleared.map_err(|trouble: Trouble| trouble.for_broker(action))
}

async fn queues(places: &Places, names: &Names, action: &str) -> Result<Queues, BrokerError> {
    let found = places.find(names).await;
    let found = found.map_err(|trouble| trouble.for_broker(action))?;
    found.ok_or_else(|| BrokerError::NoSubscription {
        topic: names.topic.clone(),
        subscription: names.subscription.clone(),
    })
}

/// Up to ten more; `None` when there are none.
async fn receive(
    places: &Places,
    queues: &Queues,
    most: usize,
) -> Result<Option<Vec<Message>>, Trouble> {
    let receiving = places.aws.sqs.receive_message().queue_url(&queues.dead);
    let received = receiving
        .max_number_of_messages(i32::try_from(most.min(10)).unwrap_or(10))
        // Waiting at all makes SQS ask every server it has.
        .wait_time_seconds(1)
        .visibility_timeout(LOOK_SECONDS)
        .message_system_attribute_names(SystemAttribute::SentTimestamp)
        .message_attribute_names("All")
        .send()
        .await?;
    Ok(received.messages.filter(|batch| !batch.is_empty()))
}

fn letter(message: &Message) -> (Headers, DeadLetter) {
    let headers = attributes::headers(message.message_attributes.as_ref());
    let body = message.body.clone().unwrap_or_default().into_bytes();
    let mut letter = headers.epitaph(body);
    if letter.time.is_none() {
        // The redrive policy moved it, which attaches nothing.
        letter.reason = "SQS gave up on it: received too often without being settled".to_owned();
        letter.id = message.message_id.clone().unwrap_or(letter.id);
        letter.time = sent(message);
    }
    (headers, letter)
}

fn sent(message: &Message) -> Option<DateTime<Utc>> {
    let attributes = message.attributes.as_ref()?;
    let millis = attributes.get(&SystemAttribute::SentTimestamp)?;
    DateTime::from_timestamp_millis(millis.parse().ok()?)
}

/// Letters looked at and to be left alone.
#[derive(Default)]
struct Held(Vec<String>);

impl Held {
    fn keep(&mut self, message: Message) {
        self.0.extend(message.receipt_handle);
    }

    async fn give_back(self, places: &Places, queue: &str) {
        for receipt in self.0 {
            if let Err(trouble) = hide(places, queue, &receipt, 0).await {
                let reason = trouble.text();
                tracing::debug!(queue, reason, "a dead letter stays hidden for a minute");
            }
        }
    }
}
