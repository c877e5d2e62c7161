//! Reports that come at the same time, on different resources: read by one statement, stored by one.
//!
//! None of them holds up or spoils another. What somebody else has locked is left out, and a batch that fails is
//! nobody's failure: whoever gets no answer here reads and stores alone.

use std::collections::HashSet;
use std::sync::Arc;

use hyperfleet_core::identity::ResourceId;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::known::{Known, Memory};
use super::line::{self, Line};
use crate::database::Store;
use crate::error::StoreError;
use crate::stored;
use crate::together::Together;

/// The reports that are read and stored together. An answer that is `None` is none.
#[derive(Debug)]
pub(crate) struct Reports {
    pub(super) memory: Memory,
    reads: Arc<Together<Uuid, Option<Read>>>,
    writes: Arc<Together<Line, Option<bool>>>,
}

/// A resource with its reports; `None` if there is none.
type Read = Option<Arc<PgRow>>;

impl Reports {
    /// With so much memory for resources that may be reported on again.
    pub(crate) fn new(memory: usize) -> Reports {
        // The fewer statements are under way at a time, the more reports are in each. As many as keep a machine busy
        // that PostgreSQL shares with this process, and few enough to leave connections to everybody else. One that
        // writes also waits for the disk.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Reports {
            memory: Memory::new(memory),
            reads: Together::new((cores / 2).clamp(1, 8)),
            writes: Together::new(cores.clamp(1, 8)),
        }
    }
}

impl Store {
    /// A resource with its reports, as it is now. The outer `None` is no answer.
    pub(super) async fn read_together(
        &self,
        id: ResourceId,
    ) -> Result<Option<Option<Known>>, StoreError> {
        let store = self.clone();
        let run = move |ids| read(store.clone(), ids);
        let Some(found) = self.reports.reads.call(id.0, run).await.flatten() else {
            return Ok(None);
        };
        let found = found.as_deref().map(stored::from_row).transpose()?;
        Ok(Some(found.map(Known::read_now)))
    }

    /// Whether the report was stored. `None` is no answer.
    pub(super) async fn store_together(&self, line: Line) -> Option<bool> {
        let store = self.clone();
        let run = move |lines| write(store.clone(), lines);
        self.reports.writes.call(line, run).await.flatten()
    }
}

async fn read(store: Store, ids: Vec<Uuid>) -> Vec<Option<Read>> {
    match stored::rows(&store, &ids).await {
        Ok(rows) => ids.iter().map(|id| Some(rows.get(id).cloned())).collect(),
        Err(error) => no_answer(ids.len(), &error),
    }
}

/// Of two reports on one resource the second is not stored: the first makes it another revision.
async fn write(store: Store, lines: Vec<Line>) -> Vec<Option<bool>> {
    let mut ids = HashSet::new();
    let firsts: Vec<&Line> = lines.iter().filter(|line| ids.insert(line.id)).collect();
    let stored = async {
        let mut connection = store.connection().await?;
        let stored = line::store(&mut connection, &firsts).await?;
        connection.done();
        Ok(stored)
    };
    match stored.await {
        Ok(mut stored) => lines
            .iter()
            .map(|line| Some(stored.remove(&line.id)))
            .collect(),
        Err(error) => no_answer(lines.len(), &error),
    }
}

fn no_answer<T>(callers: usize, error: &sqlx::Error) -> Vec<Option<T>> {
    tracing::debug!(%error, callers, "reports could not be dealt with together; each is dealt with alone");
    std::iter::repeat_with(|| None).take(callers).collect()
}
