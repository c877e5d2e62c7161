//! One subscription's messages: waiting, delayed, in work, dead.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::Utc;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::config::MemoryConfig;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};

pub(super) type Body = Arc<[u8]>;

/// A message keeps its place in the queue's capacity until it is acked or dead, so giving it back
/// never needs room.
pub(super) struct Message {
    pub(super) body: Body,
    /// Deliveries so far.
    pub(super) attempts: u32,
    _place: OwnedSemaphorePermit,
}

pub(super) struct Queue {
    name: String,
    room: Arc<Semaphore>,
    dead_letter_capacity: usize,
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Message>,
    /// By due time; the number keeps the order of equal times.
    delayed: BTreeMap<(Instant, u64), Message>,
    delays: u64,
    dead: VecDeque<DeadLetter>,
}

impl Queue {
    pub(super) fn new(topic: &str, subscription: &str, config: &MemoryConfig) -> Self {
        Self {
            name: format!("{topic}-{subscription}"),
            room: Arc::new(Semaphore::new(config.capacity.min(Semaphore::MAX_PERMITS))),
            dead_letter_capacity: config.dead_letter_capacity,
            state: Mutex::default(),
            arrived: Notify::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Room for one message; waits while the queue is full.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so there is always a permit in the end.
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    pub(super) fn push(&self, body: Body, place: Option<OwnedSemaphorePermit>) {
        let Some(place) = place else { return };
        self.give(Message {
            body,
            attempts: 0,
            _place: place,
        });
    }

    fn give(&self, message: Message) {
        self.state().waiting.push_back(message);
        self.arrived.notify_one();
    }

    /// The next message that is due; safe to cancel.
    pub(super) async fn take(&self) -> Message {
        loop {
            let arrived = self.arrived.notified();
            let next_due = match self.try_take() {
                Ok(message) => return message,
                Err(next_due) => next_due,
            };
            match next_due {
                None => arrived.await,
                Some(due) => tokio::select! {
                    () = arrived => {}
                    () = tokio::time::sleep_until(due) => {}
                },
            }
        }
    }

    fn try_take(&self) -> Result<Message, Option<Instant>> {
        let mut state = self.state();
        let now = Instant::now();
        while let Some(entry) = state.delayed.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let message = entry.remove();
            state.waiting.push_back(message);
        }
        let message = state.waiting.pop_front();
        if message.is_some() && !state.waiting.is_empty() {
            // Several may have become due at once, with one waiter woken by its timer.
            self.arrived.notify_one();
        }
        message.ok_or_else(|| state.delayed.keys().next().map(|(due, _)| *due))
    }

    /// Delivers a message again, not before the delay has passed.
    pub(super) fn retry(&self, message: Message, delay: Duration) {
        let due = Instant::now().checked_add(delay);
        match due {
            Some(due) if !delay.is_zero() => {
                let mut state = self.state();
                let number = state.delays;
                state.delays += 1;
                state.delayed.insert((due, number), message);
                drop(state);
                // Whoever waits must look again: this one may be due first.
                self.arrived.notify_one();
            }
            _ => self.give(message),
        }
    }

    pub(super) fn park(&self, message: &Message, reason: String) {
        let mut state = self.state();
        if state.dead.len() >= self.dead_letter_capacity {
            state.dead.pop_front();
            tracing::error!(
                subscription = self.name,
                capacity = self.dead_letter_capacity,
                "too many dead letters: the oldest is lost; replay them or raise the capacity"
            );
        }
        state.dead.push_back(DeadLetter {
            id: DeadLetter::new_id(),
            body: message.body.to_vec(),
            reason,
            attempts: message.attempts,
            time: Some(Utc::now()),
        });
    }

    pub(super) fn dead_letters(&self, limit: usize) -> Vec<DeadLetter> {
        self.state().dead.iter().take(limit).cloned().collect()
    }

    /// Removes dead letters; those to be replayed become new messages, as far as there is room.
    pub(super) fn clear_dead_letters(
        &self,
        selection: &Selection,
        fate: Fate,
        progress: Progress<'_>,
    ) -> usize {
        let mut done = 0;
        while done < selection.limit() {
            let place = match fate {
                Fate::Discard => None,
                Fate::Replay => match Arc::clone(&self.room).try_acquire_owned() {
                    Ok(place) => Some(place),
                    Err(_) => break,
                },
            };
            let Some(letter) = self.take_dead_letter(selection) else {
                break;
            };
            progress(&letter);
            self.push(letter.body.into(), place);
            done += 1;
        }
        done
    }

    fn take_dead_letter(&self, selection: &Selection) -> Option<DeadLetter> {
        let mut state = self.state();
        let found = state.dead.iter().position(|one| selection.takes(one))?;
        state.dead.remove(found)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
