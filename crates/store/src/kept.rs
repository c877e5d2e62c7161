//! Connections that go from one statement straight to the next.
//!
//! The pool asks a connection that is given back whether it is still there: a round trip for every statement, which
//! costs about as much as reading a row by its key. A connection whose statement has just ended well needs no such
//! question. It is kept here for the next statement, and goes back to the pool when there is none, when a statement
//! failed or was abandoned half-way, and now and then, so that the pool can renew it.

#[cfg(test)]
mod tests;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgQueryResult, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, PgPool, Postgres};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::database::{DatabaseOptions, Store};

/// How long after its last use a connection is taken to be alive.
pub(crate) const TRUSTED: Duration = Duration::from_secs(1);
/// How long a connection stays out of the pool's hands.
const RENEWED: Duration = Duration::from_secs(30);

/// The connections that wait for the next statement.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The last used is the first to be used again, so that those there are too many of grow old.
    idle: Mutex<Vec<Waiting>>,
    most: usize,
    /// One for each connection that may be lent: whoever waits for one is served in turn, and some are left in the
    /// pool for transactions and for the change feed.
    permits: Arc<Semaphore>,
    patience: Duration,
}

#[derive(Debug)]
struct Waiting {
    connection: PoolConnection<Postgres>,
    since: Instant,
    /// When it came from the pool.
    taken: Instant,
}

impl Kept {
    pub(crate) fn new(options: &DatabaseOptions) -> Kept {
        let all = options.max_connections.max(1) as usize;
        let lent = all - (all / 5).max(1).min(all - 1);
        Kept {
            idle: Mutex::default(),
            // The one connection of a pool of one is everybody's.
            most: lent.min(options.max_idle_connections as usize).min(all - 1),
            permits: Arc::new(Semaphore::new(lent)),
            patience: options.acquire_timeout,
        }
    }

    /// How many wait.
    pub(crate) fn idle(&self) -> usize {
        self.idle.lock().len()
    }

    /// Gives those back to the pool that nothing was done with for a while.
    pub(crate) fn return_unused(&self) {
        self.idle
            .lock()
            .retain(|waiting| waiting.since.elapsed() <= TRUSTED);
    }

    /// Gives all back to a pool that closes.
    pub(crate) fn return_all(&self) {
        self.idle.lock().clear();
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, sqlx::Error> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let permit = self.permits.clone().acquire_owned();
        match tokio::time::timeout(self.patience, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) => Err(sqlx::Error::PoolClosed),
            Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The store is gone, perhaps the runtime too, in which alone the pool could take them back.
        for waiting in self.idle.get_mut().drain(..) {
            drop(waiting.connection.leak());
        }
    }
}

/// A connection on loan. Unless it is [`done`](Lent::done) with, it goes back to the pool, which tests it.
#[derive(Debug)]
pub(crate) struct Lent {
    connection: PoolConnection<Postgres>,
    taken: Instant,
    kept: Arc<Kept>,
    pool: PgPool,
    permit: OwnedSemaphorePermit,
}

impl Lent {
    /// Its statements have ended well: it is ready for the next.
    pub(crate) fn done(self) {
        let Lent {
            connection,
            taken,
            kept,
            pool,
            permit,
        } = self;
        let mut idle = kept.idle.lock();
        // Looked at under the lock: a pool that closes is closed first, and then takes what is here.
        let wanted = idle.len() < kept.most && !pool.is_closed();
        if wanted && taken.elapsed() < RENEWED {
            idle.push(Waiting {
                connection,
                since: Instant::now(),
                taken,
            });
        }
        drop(idle);
        // Last, so that whoever gets it finds the connection.
        drop(permit);
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Store {
    /// A connection for one or a few statements.
    pub(crate) async fn connection(&self) -> Result<Lent, sqlx::Error> {
        let permit = self.kept.permit().await?;
        let waiting = self.kept.idle.lock().pop();
        let (connection, taken) = match waiting {
            Some(waiting) if waiting.since.elapsed() <= TRUSTED => {
                (waiting.connection, waiting.taken)
            }
            // The others are older still; the pool knows what to do with them.
            _ => {
                self.kept.return_all();
                (self.pool.acquire().await?, Instant::now())
            }
        };
        Ok(Lent {
            connection,
            taken,
            kept: self.kept.clone(),
            pool: self.pool.clone(),
            permit,
        })
    }

    pub(crate) async fn fetch_optional(
        &self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<Option<PgRow>, sqlx::Error> {
        let mut connection = self.connection().await?;
        let row = query.fetch_optional(&mut *connection).await?;
        connection.done();
        Ok(row)
    }

    pub(crate) async fn fetch_all(
        &self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        let mut connection = self.connection().await?;
        let rows = query.fetch_all(&mut *connection).await?;
        connection.done();
        Ok(rows)
    }

    pub(crate) async fn execute(
        &self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<PgQueryResult, sqlx::Error> {
        let mut connection = self.connection().await?;
        let done = query.execute(&mut *connection).await?;
        connection.done();
        Ok(done)
    }
}
