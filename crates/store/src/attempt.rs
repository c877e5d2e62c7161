//! One try at a write that was decided on what was read.
//!
//! The first tries hold no lock: hardly ever does somebody else write to the same row in between. A writer that has
//! lost several times takes the row's lock before it reads, and then wins: nobody is starved, however many write.

use std::ops::{Deref, DerefMut};

use hyperfleet_core::identity::ResourceId;
use sqlx::{PgConnection, Postgres, Transaction};

use crate::database::Store;
use crate::error::StoreError;
use crate::kept::Lent;

/// Tries without a lock.
const UNLOCKED: u32 = 3;
/// Tries altogether. With the lock only a deletion's last report can lose, and only to the deletion of its parent.
const TRIES: u32 = 16;

pub(crate) enum Attempt<'a> {
    Unlocked(Lent),
    Locked(Transaction<'a, Postgres>),
}

impl Attempt<'_> {
    /// The tries there are.
    pub(crate) fn numbers() -> impl Iterator<Item = u32> {
        1..=TRIES
    }

    pub(crate) async fn begin(
        store: &Store,
        number: u32,
        id: ResourceId,
    ) -> Result<Attempt<'static>, StoreError> {
        if number <= UNLOCKED {
            return Ok(Attempt::Unlocked(store.connection().await?));
        }
        Attempt::locked(store, id).await
    }

    /// A try that nobody can win against, and that leaves nothing behind unless it is finished as stored.
    pub(crate) async fn locked(
        store: &Store,
        id: ResourceId,
    ) -> Result<Attempt<'static>, StoreError> {
        let mut transaction = store.begin().await?;
        sqlx::query("SELECT 1 FROM resources WHERE id = $1 FOR UPDATE")
            .bind(id.0)
            .execute(&mut *transaction)
            .await?;
        Ok(Attempt::Locked(transaction))
    }

    /// Ends the try, and says again whether it was one that stored something.
    pub(crate) async fn finish(self, stored: bool) -> Result<bool, StoreError> {
        match self {
            Attempt::Locked(transaction) if stored => transaction.commit().await?,
            Attempt::Locked(transaction) => transaction.rollback().await?,
            Attempt::Unlocked(connection) => connection.done(),
        }
        Ok(stored)
    }

    /// Too many tries.
    pub(crate) fn contended(id: ResourceId) -> StoreError {
        StoreError::Contended {
            id: id.to_string(),
            attempts: TRIES,
        }
    }
}

impl Deref for Attempt<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Attempt::Unlocked(connection) => connection,
            Attempt::Locked(transaction) => transaction,
        }
    }
}

impl DerefMut for Attempt<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Attempt::Unlocked(connection) => connection,
            Attempt::Locked(transaction) => transaction,
        }
    }
}
