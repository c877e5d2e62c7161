//! The tables, step by step. Steps only add: the previous version keeps working while they run.

use std::borrow::Cow;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{Connection, PgPool};

use crate::error::StoreError;

/// Every step ever released, oldest first. A released step never changes.
const STEPS: &[(i64, &str, &str)] = &[
    (
        1,
        "resources",
        include_str!("../migrations/0001_resources.sql"),
    ),
    (
        2,
        "lifecycle",
        include_str!("../migrations/0002_lifecycle.sql"),
    ),
    (3, "facets", include_str!("../migrations/0003_facets.sql")),
    (
        4,
        "aggregation",
        include_str!("../migrations/0004_aggregation.sql"),
    ),
    (
        5,
        "cheaper writes",
        include_str!("../migrations/0005_cheaper_writes.sql"),
    ),
    (
        6,
        "sentinels",
        include_str!("../migrations/0006_sentinels.sql"),
    ),
    (7, "tenancy", include_str!("../migrations/0007_tenancy.sql")),
    (
        8,
        "sentinels decide",
        include_str!("../migrations/0008_sentinels_decide.sql"),
    ),
    (
        9,
        "who reported",
        include_str!("../migrations/0009_who_reported.sql"),
    ),
    (
        10,
        "relabelled",
        include_str!("../migrations/0010_relabelled.sql"),
    ),
    (
        11,
        "statistics",
        include_str!("../migrations/0011_statistics.sql"),
    ),
];

fn migrator() -> Migrator {
    let steps = STEPS
        .iter()
        .map(|(version, name, sql)| {
            Migration::new(
                *version,
                Cow::Borrowed(*name),
                MigrationType::Simple,
                sqlx::SqlSafeStr::into_sql_str(*sql),
                false,
            )
        })
        .collect();
    Migrator::with_migrations(steps)
}

/// Applies what is missing, under an advisory lock. Waiting for it and each step may take `timeout`.
pub(crate) async fn run(pool: &PgPool, timeout: Duration) -> Result<(), MigrateError> {
    // A connection of its own, which nobody gets afterwards: the pool's statements have less time.
    let mut connection = pool.acquire().await?.detach();
    sqlx::query("SELECT set_config('statement_timeout', $1, false)")
        .bind(timeout.as_millis().to_string())
        .execute(&mut connection)
        .await?;
    let outcome = migrator().run(&mut connection).await;
    connection.close().await?;
    outcome
}

/// The steps this version knows and the database has not seen.
pub(crate) async fn pending(pool: &PgPool) -> Result<Vec<&'static str>, StoreError> {
    let known: bool = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(pool)
        .await?;
    let applied: Vec<i64> = if known {
        sqlx::query_scalar("SELECT version FROM _sqlx_migrations WHERE success")
            .fetch_all(pool)
            .await?
    } else {
        Vec::new()
    };
    Ok(STEPS
        .iter()
        .filter(|(version, _, _)| !applied.contains(version))
        .map(|(_, name, _)| *name)
        .collect())
}
