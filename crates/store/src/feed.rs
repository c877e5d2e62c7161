//! The change feed: what changed since a position, in the order of the transactions, none missed.
//!
//! Transactions commit out of order, so "greater than the last number seen" would lose the slow ones. A position is
//! therefore a snapshot of the database: the transactions it had not seen are those from `next` on and those in
//! `open`. What changed since is what carries the mark of one of these:
//!
//! ```text
//!   ... 97  98  99  100 │ 101 ...        next = 101, open = [98]: 98 was still running
//!       ok  ?   ok  ok  │ not yet        changed since: marks = 98, marks >= 101
//! ```
//!
//! One poll is one statement, and so one snapshot: what it finds and the position it ends at belong together. Its
//! cost follows the number of changes. A transaction that stays open for hours delays nobody but itself.
//!
//! A resource that changed several times is told once, at its last change. So whoever has read half of a poll does not
//! know all that happened before the place it is at, and a position in the middle says also where the poll began.

mod position;

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::resource::Resource;
use serde::Deserialize;
use sqlx::Row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::row::{self, resource_columns};
use position::Place;
pub use position::{NotAPosition, Position};

/// A resource as it is now, or as it was when it went.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub resource: Resource,
    /// Whether it is gone.
    pub deleted: bool,
    /// Where to resume after it.
    pub position: Position,
    mark: u64,
    /// Up to where everything was told before it.
    told: Arc<Place>,
    /// The last eight transactions that changed its labels, and the labels before each.
    relabelled: Vec<(u64, Labels)>,
}

impl Position {
    /// Whether a change is before the position.
    pub fn covers(&self, change: &Change) -> bool {
        self.read.knows(change.mark, change.resource.id)
    }
}

impl Change {
    /// The labels it had since everything was told, and has no longer. Whoever sees by labels may have seen it with
    /// these.
    pub fn labels_since(&self) -> impl Iterator<Item = &Labels> {
        self.labels_unknown_to(&self.told)
    }

    /// The same for whoever was told everything up to a position.
    pub fn labels_after(&self, position: &Position) -> impl Iterator<Item = &Labels> {
        self.labels_unknown_to(&position.read)
    }

    fn labels_unknown_to(&self, place: &Place) -> impl Iterator<Item = &Labels> {
        let unknown = |mark| !place.knows(mark, self.resource.id);
        let relabelled = self.relabelled.iter();
        relabelled.filter_map(move |(mark, labels)| unknown(*mark).then_some(labels))
    }
}

/// Labels of a resource.
pub type Labels = BTreeMap<String, String>;

/// A change of labels, as it is stored.
#[derive(Debug, Deserialize)]
struct Relabelled {
    /// The transaction.
    xid: String,
    /// The labels before it.
    labels: Labels,
}

impl Relabelled {
    fn marked(self) -> Result<(u64, Labels), StoreError> {
        let mark = self.xid.parse().map_err(|_| unreadable(&self.xid))?;
        Ok((mark, self.labels))
    }
}

/// What was found between two positions.
#[derive(Debug, Clone)]
pub struct Changes {
    /// In the order of their transactions. A resource that changed several times is there once, as it is now.
    pub changes: Vec<Change>,
    /// Where to go on from.
    pub position: Position,
    /// Whether there was nothing more when it was looked at.
    pub complete: bool,
}

/// Why a position cannot be resumed from.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// Deletions since then are forgotten, or the database is another one.
    #[error("the position is too old: what was deleted since is no longer known")]
    Expired,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for FeedError {
    fn from(error: sqlx::Error) -> FeedError {
        FeedError::Store(error.into())
    }
}

/// The first rows of a table with such a mark, in order: each reads no more of its index than it gives.
macro_rules! marked {
    ($table:literal, $deleted:literal, $mark:literal) => {
        concat!(
            "(SELECT t.id, t.changed_xid AS mark, ",
            $deleted,
            " AS deleted FROM ",
            $table,
            " t WHERE t.changed_xid ",
            $mark,
            " ORDER BY t.changed_xid, t.id LIMIT $4)"
        )
    };
}

impl Store {
    /// Where the feed is now.
    pub async fn position(&self) -> Result<Position, StoreError> {
        let text: String = sqlx::query_scalar("SELECT pg_current_snapshot()::text")
            .fetch_one(&self.pool)
            .await?;
        snapshot(&text)
    }

    /// Whether everything since `since` can still be told.
    pub async fn check_position(&self, since: &Position) -> Result<(), FeedError> {
        let known: bool = sqlx::query_scalar(
            "SELECT $1::text::xid8 > (SELECT pruned_xid FROM feed_horizon)
                AND $1::text::xid8 <= pg_snapshot_xmax(pg_current_snapshot())",
        )
        .bind(since.read.next.to_string())
        .fetch_one(&self.pool)
        .await?;
        if known {
            Ok(())
        } else {
            Err(FeedError::Expired)
        }
    }

    /// At most `limit` changes since a position.
    pub async fn changes(&self, since: &Position, limit: u32) -> Result<Changes, StoreError> {
        self.timed(Operation::Query, "resources", async {
        let open: Vec<String> = since.read.open.iter().map(ToString::to_string).collect();
        let rows = sqlx::query(concat!(
            "WITH found AS (",
            marked!("resources", "false", ">= $1::text::xid8 AND NOT (t.changed_xid = $1::text::xid8 AND t.id <= $3)"),
            " UNION ALL ",
            marked!("resources", "false", "= ANY($2::text[]::xid8[])"),
            " UNION ALL ",
            marked!("deleted_resources", "true", ">= $1::text::xid8 AND NOT (t.changed_xid = $1::text::xid8 AND t.id <= $3)"),
            " UNION ALL ",
            marked!("deleted_resources", "true", "= ANY($2::text[]::xid8[])"),
            " ORDER BY mark, id LIMIT $4)
             SELECT pg_current_snapshot()::text AS snapshot, f.mark::text AS mark, f.deleted, d.resource AS gone,
                    coalesce(d.relabelled, r.relabelled, '[]') AS relabelled, ",
            resource_columns!(),
            " FROM (VALUES (1)) AS one LEFT JOIN found f ON true
              LEFT JOIN resources r ON r.id = f.id AND NOT f.deleted
              LEFT JOIN deleted_resources d ON d.id = f.id AND f.deleted
              ORDER BY f.mark, f.id"
        ))
        .bind(since.read.next.to_string())
        .bind(&open)
        .bind(since.read.after.unwrap_or(Uuid::nil()))
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        let Some(first) = rows.first() else {
            return Err(unreadable("an empty answer"));
        };
        let now = snapshot(first.try_get("snapshot")?)?;
        let told = since.told();
        let mut changes = Vec::with_capacity(rows.len());
        for found in &rows {
            let Some(mark) = found.try_get::<Option<&str>, _>("mark")? else {
                continue;
            };
            let mark: u64 = mark.parse().map_err(|_| unreadable(mark))?;
            let deleted: bool = found.try_get("deleted")?;
            let resource = if deleted {
                let Json(gone): Json<Resource> = found.try_get("gone")?;
                gone
            } else {
                row::resource(found)?
            };
            let Json(relabelled): Json<Vec<Relabelled>> = found.try_get("relabelled")?;
            changes.push(Change {
                position: Position {
                    read: now.read.right_after(mark, resource.id.0),
                    told: Some(Arc::clone(&told)),
                },
                resource,
                deleted,
                mark,
                told: Arc::clone(&told),
                relabelled: relabelled
                    .into_iter()
                    .map(Relabelled::marked)
                    .collect::<Result<_, _>>()?,
            });
        }
        let complete = changes.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let position = match changes.last_mut() {
            Some(last) if !complete => last.position.clone(),
            Some(last) => {
                last.position.told = None;
                now
            }
            None => now,
        };
        Ok(Changes {
            changes,
            position,
            complete,
        })
        })
        .await
    }
}

fn snapshot(text: &str) -> Result<Position, StoreError> {
    let read = Place::from_snapshot(text).ok_or_else(|| unreadable(text))?;
    Ok(Position { read, told: None })
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Unreadable {
        id: ResourceId(Uuid::nil()).to_string(),
        what: format!("a snapshot of the database: {what}"),
    }
}
