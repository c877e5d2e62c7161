//! Whether anybody subscribed to a topic, for brokers that take every event without telling.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long an answer holds. Nobody yet is asked about more often: it is expected to change.
const SOMEBODY: Duration = Duration::from_secs(60);
const NOBODY: Duration = Duration::from_secs(1);

/// What is known about each topic.
#[derive(Default)]
pub(crate) struct Audience(Mutex<HashMap<String, Answer>>);

#[derive(Clone, Copy)]
struct Answer {
    is_there: bool,
    since: Instant,
}

impl Audience {
    /// The last answer, if it is fresh enough.
    pub(crate) fn known(&self, topic: &str) -> Option<bool> {
        let answer = *self.answers().get(topic)?;
        let holds = match answer.is_there {
            true => SOMEBODY,
            false => NOBODY,
        };
        (answer.since.elapsed() < holds).then_some(answer.is_there)
    }

    pub(crate) fn learn(&self, topic: &str, is_there: bool) {
        let since = Instant::now();
        let answer = Answer { is_there, since };
        self.answers().insert(topic.to_owned(), answer);
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<String, Answer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_for_a_while_and_a_missing_audience_for_a_moment() {
        let audience = Audience::default();
        assert_eq!(audience.known("t"), None);
        audience.learn("t", false);
        assert_eq!(audience.known("t"), Some(false));
        tokio::time::advance(NOBODY).await;
        assert_eq!(audience.known("t"), None);
        audience.learn("t", true);
        tokio::time::advance(NOBODY).await;
        assert_eq!(audience.known("t"), Some(true));
        tokio::time::advance(SOMEBODY).await;
        assert_eq!(audience.known("t"), None);
    }
}
