//! Sentinels that are there, and the shards they hold. The clock that counts is the database's.
//!
//! An announcement is one short transaction under a lock of its kind; what it costs follows the number of replicas. The
//! audit log hears of those that come and of those that say that they go, not of those that are still there.

use hyperfleet_core::history::Action;
use hyperfleet_core::presence::{Announcement, Presence, Standing};
use hyperfleet_core::shard::Shards;
use sqlx::types::Json;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::author::Author;
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;

/// The first half of the advisory lock that announcements of one kind take their turns by.
const LOCK: i32 = 0x5e47;

const COLUMNS: &str =
    "id, name, resource_type, selector, shares, held, leaving, expires_time, decides";

impl Store {
    /// Takes note of a Sentinel, and gives it what it may hold.
    pub async fn announce_sentinel(
        &self,
        id: Uuid,
        said: &Announcement,
        author: Author<'_>,
    ) -> Result<Standing, StoreError> {
        let announced = async {
            let mut tx = self.begin().await?;
            let others = others(&mut tx, id, &said.resource_type).await?;
            let standing = said.standing(others);
            write(&mut tx, id, said, standing.held, author).await?;
            tx.commit().await?;
            Ok(standing)
        };
        self.timed(Operation::Update, "sentinels", announced).await
    }

    /// Forgets a Sentinel: what it held is free.
    pub async fn withdraw_sentinel(&self, id: Uuid, author: Author<'_>) -> Result<(), StoreError> {
        let withdrawn = async {
            sqlx::query(
                "WITH gone AS (DELETE FROM sentinels WHERE id = $1 RETURNING name, resource_type, selector)
                 INSERT INTO audit_log (at, actor, request_id, name, action, detail)
                 SELECT $2, $3, $4, name, $5,
                        jsonb_build_object('sentinel', $1::text, 'resource_type', resource_type, 'selector', selector)
                 FROM gone",
            )
            .bind(id)
            .bind(author.at)
            .bind(author.actor)
            .bind(author.request_id)
            .bind(Action::Withdraw.as_str())
            .execute(&self.pool)
            .await?;
            Ok(())
        };
        self.timed(Operation::Delete, "sentinels", withdrawn).await
    }

    /// Who is there.
    pub async fn sentinels(&self) -> Result<Vec<Presence>, StoreError> {
        let query = async {
            let statement = format!(
                "SELECT {COLUMNS} FROM sentinels WHERE expires_time > clock_timestamp() ORDER BY resource_type, name, id"
            );
            let rows = sqlx::query(sqlx::AssertSqlSafe(statement))
                .fetch_all(&self.pool)
                .await?;
            rows.iter().map(presence).collect()
        };
        self.timed(Operation::Query, "sentinels", query).await
    }
}

/// Waits for its turn, removes whose time has passed, and reads the rest.
async fn others(tx: &mut PgConnection, id: Uuid, kind: &str) -> Result<Vec<Presence>, StoreError> {
    sqlx::query("SELECT pg_advisory_xact_lock($1, hashtext($2))")
        .bind(LOCK)
        .bind(kind)
        .execute(&mut *tx)
        .await?;
    sqlx::query(
        "DELETE FROM sentinels WHERE resource_type = $1 AND expires_time <= clock_timestamp()",
    )
    .bind(kind)
    .execute(&mut *tx)
    .await?;
    // Longer than it was given: the clock was set back. A dead holder must not profit from that.
    sqlx::query(
        "UPDATE sentinels SET expires_time = clock_timestamp() + duration
         WHERE resource_type = $1 AND expires_time > clock_timestamp() + duration",
    )
    .bind(kind)
    .execute(&mut *tx)
    .await?;
    let statement = format!(
        "SELECT {COLUMNS} FROM sentinels WHERE resource_type = $1 AND id <> $2 ORDER BY id"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(statement))
        .bind(kind)
        .bind(id)
        .fetch_all(&mut *tx)
        .await?;
    rows.iter().map(presence).collect()
}

async fn write(
    tx: &mut PgConnection,
    id: Uuid,
    said: &Announcement,
    held: Shards,
    author: Author<'_>,
) -> Result<(), StoreError> {
    sqlx::query(
        "WITH here AS (
         INSERT INTO sentinels (id, name, resource_type, selector, shares, held, leaving, duration, expires_time,
                                decides)
         VALUES ($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8),
                 clock_timestamp() + make_interval(secs => $8), $9)
         ON CONFLICT (id) DO UPDATE
         SET name = excluded.name, resource_type = excluded.resource_type, selector = excluded.selector,
             shares = excluded.shares, held = excluded.held, leaving = excluded.leaving,
             duration = excluded.duration, expires_time = excluded.expires_time, decides = excluded.decides
         -- A row that was not there before has no earlier version.
         RETURNING xmax = 0 AS new
         )
         INSERT INTO audit_log (at, actor, request_id, name, action, detail)
         SELECT $10, $11, $12, $2, $13,
                jsonb_build_object('sentinel', $1::text, 'resource_type', $3::text, 'selector', $4::jsonb)
         FROM here WHERE new",
    )
    .bind(id)
    .bind(&said.name)
    .bind(&said.resource_type)
    .bind(Json(&said.selector))
    .bind(said.shares)
    .bind(held.bits().cast_signed())
    .bind(said.leaving)
    .bind(f64::from(said.duration_seconds))
    .bind(Json(&said.decides))
    .bind(author.at)
    .bind(author.actor)
    .bind(author.request_id)
    .bind(Action::Announce.as_str())
    .execute(tx)
    .await?;
    Ok(())
}

fn presence(row: &sqlx::postgres::PgRow) -> Result<Presence, StoreError> {
    let Json(selector) = row.try_get("selector")?;
    let Json(decides) = row.try_get("decides")?;
    let held: i64 = row.try_get("held")?;
    Ok(Presence {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        resource_type: row.try_get("resource_type")?,
        selector,
        shares: row.try_get("shares")?,
        held: Shards::from_bits(held.cast_unsigned()),
        leaving: row.try_get("leaving")?,
        expires_time: row.try_get("expires_time")?,
        decides,
    })
}
