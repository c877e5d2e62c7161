//! Hints that the change feed has something new. A lost hint costs time, never a change.

use std::time::Duration;

use sqlx::postgres::PgListener;

use crate::database::Store;
use crate::error::StoreError;

const CHANNEL: &str = "hyperfleet_changed";

/// How long nothing is looked for without a hint, while hints can be heard.
const QUIET: Duration = Duration::from_millis(1000);
/// The same while they cannot.
const DEAF: Duration = Duration::from_millis(100);

/// Waits for hints of this process's own writes and of other processes'.
#[derive(Debug)]
pub struct Wakeups {
    store: Store,
    listener: Option<PgListener>,
}

impl Store {
    pub fn wakeups(&self) -> Wakeups {
        Wakeups {
            store: self.clone(),
            listener: None,
        }
    }

    /// Passes the hint of a write of this process on to the others. Not part of the write: a notification inside its
    /// transaction would make all commits wait for each other.
    pub async fn announce(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT pg_notify($1, '')")
            .bind(CHANNEL)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

/// Why the wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wakeup {
    /// This process wrote something.
    Own,
    /// Another process said that it did.
    Others,
    /// It is time to look without being told.
    Timeout,
}

impl Wakeups {
    /// Returns when there may be something new.
    pub async fn next(&mut self) -> Wakeup {
        if self.listener.is_none() {
            self.listener = self.listen().await;
        }
        let store = self.store.clone();
        let quiet = if self.listener.is_some() { QUIET } else { DEAF };
        tokio::select! {
            () = store.wake.notified() => Wakeup::Own,
            heard = heard(&mut self.listener) => {
                if !heard {
                    self.listener = None;
                }
                Wakeup::Others
            }
            () = tokio::time::sleep(quiet) => Wakeup::Timeout,
        }
    }

    async fn listen(&self) -> Option<PgListener> {
        let mut listener = PgListener::connect_with(&self.store.pool).await.ok()?;
        listener.listen(CHANNEL).await.ok()?;
        Some(listener)
    }
}

/// Whether the listener still works; waits for ever without one.
async fn heard(listener: &mut Option<PgListener>) -> bool {
    match listener {
        Some(listener) => matches!(listener.try_recv().await, Ok(Some(_))),
        None => std::future::pending().await,
    }
}
