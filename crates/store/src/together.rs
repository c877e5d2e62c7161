//! Calls that come at the same time, done by one statement.
//!
//! ```text
//!   call ─┐                        ┌─► a batch of what waited ─► each caller gets its own answer
//!   call ─┼─► waiting ──► flight ──┤
//!   call ─┘                        └─► a batch of what came meanwhile ─► …
//! ```
//!
//! A statement for ten costs PostgreSQL about half of what ten statements do. Nobody waits for company: a call goes at
//! once, alone if it is alone, unless as many flights as there may be are under way; then it goes with the next.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The most calls in one statement: what a caller waits for is bounded by the work of so many others.
const LARGEST: usize = 64;

/// How long a batch may take: one that was sent over a connection whose other end is gone would hold up everybody.
const PATIENCE: Duration = Duration::from_secs(10);

/// Calls of one kind.
pub(crate) struct Together<I, O> {
    most_flights: usize,
    state: Mutex<State<I, O>>,
}

struct State<I, O> {
    waiting: VecDeque<(I, oneshot::Sender<O>)>,
    flights: usize,
}

impl<I: Send + 'static, O: Send + 'static> Together<I, O> {
    pub(crate) fn new(most_flights: usize) -> Arc<Together<I, O>> {
        Arc::new(Together {
            most_flights,
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                flights: 0,
            }),
        })
    }

    /// Gives the answer to `item` of a batch that `run` did: one for each item, in their order.
    ///
    /// The batch is done in a task of its own, so a caller that goes away takes nobody along. `None` when it gave no
    /// answer.
    pub(crate) async fn call<R, F>(self: &Arc<Self>, item: I, run: R) -> Option<O>
    where
        R: Fn(Vec<I>) -> F + Send + 'static,
        F: Future<Output = Vec<O>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        if let Some(flight) = self.join(item, answer) {
            tokio::spawn(flight.run(run));
        }
        answered.await.ok()
    }

    /// Waits in line, with a new flight if there may be one more.
    fn join(self: &Arc<Self>, item: I, answer: oneshot::Sender<O>) -> Option<Flight<I, O>> {
        let mut state = self.state.lock();
        state.waiting.push_back((item, answer));
        if state.flights == self.most_flights {
            return None;
        }
        state.flights += 1;
        Some(Flight {
            of: self.clone(),
            ended: false,
        })
    }
}

/// Does batch after batch until nobody waits.
struct Flight<I, O> {
    of: Arc<Together<I, O>>,
    ended: bool,
}

impl<I, O> Flight<I, O> {
    async fn run<R, F>(mut self, run: R)
    where
        R: Fn(Vec<I>) -> F,
        F: Future<Output = Vec<O>>,
    {
        while let Some((items, callers)) = self.next_batch() {
            let answers = tokio::time::timeout(PATIENCE, run(items)).await;
            for (caller, answer) in callers.into_iter().zip(answers.into_iter().flatten()) {
                // A caller that went away needs no answer.
                let _ = caller.send(answer);
            }
        }
    }

    /// Ends the flight when nobody waits: under one lock, so that whoever comes next begins another.
    fn next_batch(&mut self) -> Option<(Vec<I>, Vec<oneshot::Sender<O>>)> {
        let mut state = self.of.state.lock();
        state.waiting.retain(|(_, caller)| !caller.is_closed());
        if state.waiting.is_empty() {
            state.flights -= 1;
            self.ended = true;
            return None;
        }
        let size = state.waiting.len().min(LARGEST);
        Some(state.waiting.drain(..size).unzip())
    }
}

impl<I, O> Drop for Flight<I, O> {
    fn drop(&mut self) {
        // A batch that panicked, or a runtime that ends. Whom nobody would come for is told so.
        if !self.ended {
            let mut state = self.of.state.lock();
            state.flights -= 1;
            if state.flights == 0 {
                state.waiting.clear();
            }
        }
    }
}

impl<I, O> fmt::Debug for Together<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Together")
            .field("waiting", &state.waiting.len())
            .field("flights", &state.flights)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use tokio::sync::{Semaphore, mpsc};

    use super::*;

    /// Batches that are told of, and end when let.
    struct World {
        together: Arc<Together<u32, u32>>,
        batches: mpsc::UnboundedSender<Vec<u32>>,
        gate: Arc<Semaphore>,
    }

    impl World {
        fn new(flights: usize) -> (World, mpsc::UnboundedReceiver<Vec<u32>>) {
            let (batches, told) = mpsc::unbounded_channel();
            let world = World {
                together: Together::new(flights),
                batches,
                gate: Arc::new(Semaphore::new(0)),
            };
            (world, told)
        }

        fn call(&self, item: u32) -> tokio::task::JoinHandle<Option<u32>> {
            let (batches, gate) = (self.batches.clone(), self.gate.clone());
            let together = self.together.clone();
            tokio::spawn(async move {
                let run = move |items: Vec<u32>| {
                    batches.send(items.clone()).unwrap();
                    let gate = gate.clone();
                    async move {
                        gate.acquire().await.unwrap().forget();
                        assert!(!items.contains(&13), "as the test wants it");
                        items.into_iter().map(|item| item * 10).collect()
                    }
                };
                together.call(item, run).await
            })
        }

        async fn waiting(&self, count: usize) {
            while self.together.state.lock().waiting.len() != count {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn who_comes_first_goes_alone_and_who_comes_meanwhile_goes_together() {
        let (world, mut told) = World::new(1);
        let first = world.call(1);
        assert_eq!(told.recv().await.unwrap(), [1]);
        let mut others = Vec::new();
        for item in 2..5 {
            others.push(world.call(item));
            world.waiting(others.len()).await;
        }
        world.gate.add_permits(2);
        assert_eq!(told.recv().await.unwrap(), [2, 3, 4]);
        assert_eq!(first.await.unwrap(), Some(10));
        let answers: Vec<_> = join_all(others).await.into_iter().flatten().collect();
        assert_eq!(answers, [Some(20), Some(30), Some(40)]);
        let state = world.together.state.lock();
        assert_eq!((state.flights, state.waiting.len()), (0, 0));
    }

    #[tokio::test]
    async fn a_batch_is_no_larger_than_it_may_be() {
        let (world, mut told) = World::new(1);
        let mut calls = vec![world.call(1)];
        told.recv().await.unwrap();
        let most = u32::try_from(LARGEST).unwrap();
        calls.extend((0..=most).map(|item| world.call(item + 100)));
        world.waiting(LARGEST + 1).await;
        world.gate.add_permits(3);
        assert_eq!(told.recv().await.unwrap().len(), LARGEST);
        assert_eq!(told.recv().await.unwrap().len(), 1);
        for call in calls {
            assert!(call.await.unwrap().is_some());
        }
    }

    #[tokio::test]
    async fn who_went_away_is_left_out() {
        let (world, mut told) = World::new(1);
        let first = world.call(1);
        told.recv().await.unwrap();
        let gone = world.call(2);
        world.waiting(1).await;
        let stays = world.call(3);
        world.waiting(2).await;
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        world.gate.add_permits(2);
        assert_eq!(told.recv().await.unwrap(), [3]);
        assert_eq!(first.await.unwrap(), Some(10));
        assert_eq!(stays.await.unwrap(), Some(30));
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_does_not_end_the_flight_it_began() {
        let (world, mut told) = World::new(1);
        let began = world.call(1);
        told.recv().await.unwrap();
        let other = world.call(2);
        world.waiting(1).await;
        began.abort();
        world.gate.add_permits(2);
        assert_eq!(other.await.unwrap(), Some(20));
    }

    #[tokio::test]
    async fn a_batch_that_panics_gives_no_answer_and_holds_nobody_up() {
        let (world, mut told) = World::new(1);
        let unlucky = world.call(13);
        told.recv().await.unwrap();
        let waits = world.call(2);
        world.waiting(1).await;
        world.gate.add_permits(2);
        assert_eq!(unlucky.await.unwrap(), None);
        assert_eq!(waits.await.unwrap(), None);
        assert_eq!(world.call(3).await.unwrap(), Some(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_does_not_end_gives_no_answer_and_holds_nobody_up_for_long() {
        let (world, mut told) = World::new(1);
        let unlucky = world.call(1);
        told.recv().await.unwrap();
        let waits = world.call(2);
        world.waiting(1).await;
        assert_eq!(unlucky.await.unwrap(), None);
        assert_eq!(told.recv().await.unwrap(), [2]);
        world.gate.add_permits(1);
        assert_eq!(waits.await.unwrap(), Some(20));
    }

    #[tokio::test]
    async fn there_are_no_more_flights_than_there_may_be() {
        let (world, mut told) = World::new(2);
        let mut calls = Vec::new();
        for item in 1..3 {
            calls.push(world.call(item));
            assert_eq!(told.recv().await.unwrap(), [item]);
        }
        calls.push(world.call(3));
        world.waiting(1).await;
        assert!(told.try_recv().is_err());
        world.gate.add_permits(3);
        for call in calls {
            assert!(call.await.unwrap().is_some());
        }
    }
}
