//! What travels along with a message besides its body: string headers on RabbitMQ, attributes
//! elsewhere.
//!
//! Always strings: a Go consumer refuses a message with any other header.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::dead_letter::DeadLetter;

/// Where Go consumers look for the message's id.
const UUID: &str = "_watermill_message_uuid";
/// Which delivery of the message that of this copy is; each copy is delivered once.
const ATTEMPT: &str = "hyperfleet-attempt";
/// When a message of the retry queue is due, in milliseconds since 1970.
const NOT_BEFORE: &str = "hyperfleet-not-before";
/// The delay that led to it, in milliseconds: the longest it can be, whatever clocks say.
const DELAY: &str = "hyperfleet-delay";
const REASON: &str = "hyperfleet-reason";
const ATTEMPTS: &str = "hyperfleet-attempts";
const TIME: &str = "hyperfleet-time";
/// Names a dead letter.
const LETTER: &str = "hyperfleet-letter";

/// All of ours but the uuid; none of them goes along when a message moves on.
const OURS: [&str; 7] = [ATTEMPT, NOT_BEFORE, DELAY, REASON, ATTEMPTS, TIME, LETTER];

/// A reason is for people; a header must fit into one frame.
const MAX_REASON_CHARS: usize = 2_000;

/// Headers of a received message that may be sent on, and what ours said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Headers(Vec<(String, String)>);

/// For brokers where a copy carries the count.
#[cfg_attr(
    not(any(test, feature = "rabbitmq", feature = "pubsub")),
    expect(dead_code, reason = "SQS counts and delays by itself")
)]
impl Headers {
    /// Which delivery this is, from 1.
    pub(crate) fn attempt(&self) -> u32 {
        self.number(ATTEMPT).unwrap_or(1).max(1)
    }

    /// Whether it must still wait, or be looked at again because it had to.
    #[cfg_attr(
        not(feature = "pubsub"),
        expect(dead_code, reason = "elsewhere they have a queue of their own")
    )]
    pub(crate) fn is_delayed(&self) -> bool {
        self.get(NOT_BEFORE).is_some()
    }

    /// How long a message of the retry queue must still wait.
    pub(crate) fn remaining(&self, now: DateTime<Utc>) -> Duration {
        let due: i64 = self.number(NOT_BEFORE).unwrap_or(0);
        let delay: u64 = self.number(DELAY).unwrap_or(0);
        let left = due.saturating_sub(now.timestamp_millis());
        Duration::from_millis(u64::try_from(left).unwrap_or(0).min(delay))
    }

    /// The next delivery's.
    pub(crate) fn retried(&self, attempt: u32) -> Self {
        self.stripped().with(ATTEMPT, attempt.to_string())
    }

    /// The next delivery's, not before `delay` has passed.
    pub(crate) fn delayed(&self, attempt: u32, delay: Duration, now: DateTime<Utc>) -> Self {
        // A fraction of a millisecond counts as a whole one: never early.
        let millis = u64::try_from(delay.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let due = now.timestamp_millis().saturating_add_unsigned(millis);
        self.retried(attempt)
            .with(NOT_BEFORE, due.to_string())
            .with(DELAY, millis.to_string())
    }

    /// A message of the retry queue going back.
    pub(crate) fn due(&self) -> Self {
        self.retried(self.attempt())
    }
}

impl Headers {
    /// A new event's.
    pub(crate) fn of_event(id: &str) -> Self {
        Self(vec![(UUID.to_owned(), id.to_owned())])
    }

    /// Those of a received message.
    pub(crate) fn of_message(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(pairs.into_iter().collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    pub(crate) fn dead(&self, attempts: u32, reason: &str, now: DateTime<Utc>) -> Self {
        let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
        self.stripped()
            .with(LETTER, DeadLetter::new_id())
            .with(REASON, reason)
            .with(ATTEMPTS, attempts.to_string())
            .with(TIME, now.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    /// The dead letter with these headers. One that somebody else put there has no name but its
    /// message's.
    pub(crate) fn epitaph(&self, body: Vec<u8>) -> DeadLetter {
        let time = self
            .get(TIME)
            .and_then(|t| DateTime::parse_from_rfc3339(t).ok());
        DeadLetter {
            id: self
                .get(LETTER)
                .or(self.get(UUID))
                .unwrap_or("-")
                .to_owned(),
            body,
            reason: self.get(REASON).unwrap_or("unknown").to_owned(),
            attempts: self.number(ATTEMPTS).unwrap_or(0),
            time: time.map(|t| t.with_timezone(&Utc)),
        }
    }

    /// As the message first came.
    pub(crate) fn stripped(&self) -> Self {
        let foreign = self
            .0
            .iter()
            .filter(|(name, _)| !OURS.contains(&name.as_str()));
        Self(foreign.cloned().collect())
    }

    fn with(mut self, name: &str, value: String) -> Self {
        self.0.push((name.to_owned(), value));
        self
    }

    /// To be sent.
    pub(crate) fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(millis).unwrap()
    }

    #[test]
    fn the_delivery_count_travels_along() {
        let first = Headers::of_event("e");
        assert_eq!(first.attempt(), 1);
        let delayed = first.delayed(2, Duration::from_secs(1), at(0));
        assert_eq!(delayed.due(), first.retried(2));
        assert_eq!(delayed.due().attempt(), 2);
        assert_eq!(delayed.stripped(), first);
    }

    #[test]
    fn a_delay_is_never_shortened_and_never_stretched_by_a_clock() {
        let headers = Headers::default().delayed(2, Duration::from_micros(1_500_100), at(10_000));
        let wait = |millis| headers.remaining(at(millis)).as_millis();
        assert_eq!(wait(10_000), 1_501);
        assert_eq!(wait(11_000), 501);
        assert_eq!(wait(99_000), 0);
        assert_eq!(wait(0), 1_501, "a clock set back must not add to it");
        assert_eq!(Headers::default().remaining(at(0)), Duration::ZERO);
    }

    #[test]
    fn a_dead_letter_says_why_how_often_and_when() {
        let dead = Headers::of_event("e")
            .retried(5)
            .dead(5, &"x".repeat(9_000), at(1_500));
        let read = Headers::of_message(dead.into_pairs());
        let letter = read.epitaph(b"body".to_vec());
        assert_eq!(
            (letter.reason.len(), letter.attempts, letter.time),
            (MAX_REASON_CHARS, 5, Some(at(1_500)))
        );
        assert_eq!(
            (letter.id.len(), letter.body.as_slice()),
            (10, b"body".as_slice())
        );
        assert_eq!(read.stripped(), Headers::of_event("e"));
    }
}
