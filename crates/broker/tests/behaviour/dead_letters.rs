//! Messages that were given up on.

use hyperfleet_broker::{BrokerError, DeadLetter, Fate, Selection};

use crate::bench::{Case, Promise, assert_quiet, next, take_ids};
use crate::promise;

pub(crate) fn promises() -> Vec<Promise> {
    promise![
        a_malformed_message_is_given_up_at_once_and_holds_nobody_up,
        a_rejected_message_is_given_up_with_its_reason,
        dead_letters_are_listed_oldest_first_and_stay,
        replayed_dead_letters_are_new_messages_for_their_subscription_alone,
        one_dead_letter_is_replayed_by_its_name_and_another_by_its_event,
        a_discarded_dead_letter_is_gone_and_the_others_stay,
        a_subscription_without_dead_letters_lists_and_replays_none,
        dead_letters_of_an_unknown_subscription_are_an_error,
    ]
}

async fn a_malformed_message_is_given_up_at_once_and_holds_nobody_up(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish_raw(b"{not json").await;
    case.publish_raw(b"[1]").await;
    case.publish(["good"]).await;
    assert_eq!(take_ids(&mut subscriber, 1).await, ["good"]);
    let dead = case
        .broker
        .list_dead_letters(&case.topic, "dns", 10)
        .await
        .unwrap();
    let found: Vec<_> = dead
        .iter()
        .map(|d| (d.body.as_slice(), d.attempts))
        .collect();
    assert_eq!(
        found,
        [(b"{not json".as_slice(), 1), (b"[1]".as_slice(), 1)]
    );
    assert!(dead[0].reason.contains("not JSON"), "{}", dead[0].reason);
    assert_eq!(case.counted("dead_letters_total"), 2);
}

async fn a_rejected_message_is_given_up_with_its_reason(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    next(&mut subscriber)
        .await
        .dead_letter("kind `ü` is unknown\nreally")
        .await;
    assert_quiet(&mut subscriber).await;
    let dead = case
        .broker
        .list_dead_letters(&case.topic, "dns", 10)
        .await
        .unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].reason, "kind `ü` is unknown\nreally");
    assert_eq!(dead[0].attempts, 1);
}

async fn reject(case: &Case, subscription: &str, ids: &[&str]) {
    let mut subscriber = case.subscribe(subscription).await;
    case.publish(ids.iter().copied()).await;
    for _ in ids {
        next(&mut subscriber).await.dead_letter("no").await;
    }
    subscriber.close().await;
}

async fn clear(case: &Case, selection: Selection, fate: Fate) -> Result<usize, BrokerError> {
    let mut told = 0;
    let mut tell = |_: &DeadLetter| told += 1;
    let clearing = case
        .broker
        .clear_dead_letters(&case.topic, "dns", &selection, fate, &mut tell);
    let done = clearing.await?;
    assert_eq!(told, done, "every letter is told of as it is done");
    Ok(done)
}

async fn dead(case: &Case) -> Vec<DeadLetter> {
    let listing = case.broker.list_dead_letters(&case.topic, "dns", 100);
    listing.await.unwrap()
}

fn ids(letters: &[DeadLetter]) -> Vec<String> {
    let ids = letters.iter().map(|letter| letter.event().unwrap().id);
    ids.collect()
}

async fn one_dead_letter_is_replayed_by_its_name_and_another_by_its_event(case: Case) {
    reject(&case, "dns", &["a", "b", "c"]).await;
    let named = dead(&case).await[1].id.clone();
    for name in [named.as_str(), "c"] {
        let selection = Selection::Named(name.to_owned());
        assert_eq!(clear(&case, selection, Fate::Replay).await, Ok(1));
    }
    assert_eq!(
        clear(&case, Selection::Named("x".into()), Fate::Replay).await,
        Ok(0)
    );
    assert_eq!(ids(&dead(&case).await), ["a"]);
    let mut subscriber = case.subscribe("dns").await;
    let mut back = take_ids(&mut subscriber, 2).await;
    back.sort();
    assert_eq!(back, ["b", "c"]);
}

async fn a_discarded_dead_letter_is_gone_and_the_others_stay(case: Case) {
    reject(&case, "dns", &["a", "b", "c"]).await;
    let selection = Selection::Named("b".into());
    assert_eq!(clear(&case, selection, Fate::Discard).await, Ok(1));
    assert_eq!(ids(&dead(&case).await), ["a", "c"]);
    let all = Selection::Oldest(usize::MAX);
    assert_eq!(clear(&case, all, Fate::Discard).await, Ok(2));
    assert_eq!(dead(&case).await, []);
    let mut subscriber = case.subscribe("dns").await;
    assert_quiet(&mut subscriber).await;
}

async fn dead_letters_are_listed_oldest_first_and_stay(case: Case) {
    reject(&case, "dns", &["a", "b", "c"]).await;
    for (limit, expected) in [(2, vec!["a", "b"]), (10, vec!["a", "b", "c"])] {
        let dead = case
            .broker
            .list_dead_letters(&case.topic, "dns", limit)
            .await
            .unwrap();
        let ids: Vec<_> = dead.iter().map(|d| d.event().unwrap().id).collect();
        assert_eq!(ids, expected);
    }
}

async fn replayed_dead_letters_are_new_messages_for_their_subscription_alone(case: Case) {
    let mut other = case.subscribe_many("other", 10).await;
    reject(&case, "dns", &["a", "b", "c"]).await;
    take_ids(&mut other, 3).await;
    assert_eq!(
        clear(&case, Selection::Oldest(2), Fate::Replay).await,
        Ok(2)
    );
    let mut subscriber = case.subscribe("dns").await;
    for id in ["a", "b"] {
        let delivery = next(&mut subscriber).await;
        assert_eq!((delivery.event.id.as_str(), delivery.attempt), (id, 1));
        delivery.ack().await;
    }
    assert_quiet(&mut other).await;
    let left = case
        .broker
        .list_dead_letters(&case.topic, "dns", 10)
        .await
        .unwrap();
    assert_eq!(left.len(), 1);
}

async fn a_subscription_without_dead_letters_lists_and_replays_none(case: Case) {
    let _subscriber = case.subscribe("dns").await;
    assert_eq!(
        case.broker.list_dead_letters(&case.topic, "dns", 10).await,
        Ok(vec![])
    );
    for fate in [Fate::Replay, Fate::Discard] {
        assert_eq!(clear(&case, Selection::Oldest(10), fate).await, Ok(0));
    }
}

async fn dead_letters_of_an_unknown_subscription_are_an_error(case: Case) {
    let listed = case
        .broker
        .list_dead_letters(&case.topic, "nobody", 10)
        .await;
    assert!(listed.unwrap_err().to_string().contains("nobody"));
    let all = Selection::Oldest(10);
    let mut nothing = |_: &DeadLetter| panic!("there is nothing to be done");
    let cleared =
        case.broker
            .clear_dead_letters(&case.topic, "nobody", &all, Fate::Replay, &mut nothing);
    assert!(cleared.await.is_err());
}
