//! Looking at dead letters, giving them back, removing them.

use std::time::Duration;

use super::client::Trouble;
use super::names::Names;
use super::places::Places;
use super::pull::{Pulled, Puller};
use crate::broker::BrokerError;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::headers::Headers;

/// Looked at in one go; more than that is another go.
const MOST: usize = 10_000;

/// Pulls that must come back empty before nothing is left: one may be by chance.
const EMPTY_PULLS: usize = 3;

/// How long a letter is hidden from others while we look at it.
const LOOK: Duration = Duration::from_secs(60);

/// Where the server says how often it tried, on a message it moved itself.
const SERVER_ATTEMPTS: &str = "CloudPubSubDeadLetterSourceDeliveryCount";

/// A dead letter in our hands.
struct Held {
    headers: Headers,
    letter: DeadLetter,
    ack_id: String,
}

pub(super) async fn list(
    places: &Places,
    names: &Names,
    limit: usize,
) -> Result<Vec<DeadLetter>, BrokerError> {
    let action = format!("list the dead letters of `{}`", names.subscription);
    check(places, names, &action).await?;
    let listing = async {
        let puller = Puller::new(places.config(), &names.dead.subscription)?;
        let held = hold_all(&puller).await?;
        give_back(&puller, &held).await?;
        Ok(held)
    };
    let held = listing.await.map_err(|e: Trouble| e.for_broker(action))?;
    let letters = held.into_iter().map(|held| held.letter);
    Ok(letters.take(limit).collect())
}

pub(super) async fn clear(
    places: &Places,
    names: &Names,
    selection: &Selection,
    fate: Fate,
    progress: Progress<'_>,
) -> Result<usize, BrokerError> {
    let verb = fate.as_str();
    let action = format!("{verb} the dead letters of `{}`", names.subscription);
    check(places, names, &action).await?;
    let clearing = async {
        let puller = Puller::new(places.config(), &names.dead.subscription)?;
        let mut left = hold_all(&puller).await?;
        let mut meant = left.extract_if(.., |held| selection.takes(&held.letter));
        let chosen: Vec<Held> = meant.by_ref().take(selection.limit()).collect();
        drop(meant);
        give_back(&puller, &left).await?;
        let mut done = 0;
        for held in chosen {
            if fate == Fate::Replay {
                let (topic, body) = (&names.retry.topic, held.letter.body.clone());
                let headers = held.headers.stripped();
                places.publish(topic, body, headers).await?;
            }
            puller.ack(&held.ack_id).await?;
            progress(&held.letter);
            done += 1;
        }
        Ok(done)
    };
    clearing.await.map_err(|e: Trouble| e.for_broker(action))
}

/// All there are, the oldest first: Pub/Sub itself keeps no order.
async fn hold_all(puller: &Puller) -> Result<Vec<Held>, Trouble> {
    let mut all = Vec::new();
    let mut empty = 0;
    while all.len() < MOST && empty < EMPTY_PULLS {
        let pulled = puller.pull(MOST.min(1000)).await?;
        empty = if pulled.is_empty() { empty + 1 } else { 0 };
        let ids: Vec<_> = pulled.iter().map(|pulled| pulled.ack_id.clone()).collect();
        puller.hide(&ids, LOOK).await?;
        all.extend(pulled.into_iter().map(held));
    }
    all.sort_by_key(|held| held.letter.time);
    Ok(all)
}

async fn give_back(puller: &Puller, held: &[Held]) -> Result<(), Trouble> {
    let ids: Vec<_> = held.iter().map(|held| held.ack_id.clone()).collect();
    puller.hide(&ids, Duration::ZERO).await
}

async fn check(places: &Places, names: &Names, action: &str) -> Result<(), BrokerError> {
    for subscription in [&names.main.subscription, &names.dead.subscription] {
        let found = places.find(subscription).await;
        if found
            .map_err(|trouble| trouble.for_broker(action))?
            .is_none()
        {
            return Err(BrokerError::NoSubscription {
                topic: names.topic.clone(),
                subscription: names.subscription.clone(),
            });
        }
    }
    Ok(())
}

fn held(pulled: Pulled) -> Held {
    let message = pulled.message;
    let body = message.body();
    let attempts = message.attributes.get(SERVER_ATTEMPTS);
    let attempts = attempts.and_then(|count| count.parse().ok());
    let headers = Headers::of_message(message.attributes);
    let mut letter = headers.epitaph(body);
    if letter.time.is_none() {
        letter.id = message.message_id;
        letter.time = message.publish_time;
        letter.attempts = attempts.unwrap_or(0);
        letter.reason =
            "Pub/Sub gave up on it: delivered too often without being settled".to_owned();
    }
    Held {
        headers,
        letter,
        ack_id: pulled.ack_id,
    }
}
