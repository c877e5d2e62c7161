//! SQL and memory agree on what a search means.

use std::collections::BTreeSet;

use hyperfleet_core::resource::Resource;
use hyperfleet_core::search::{Search, arbitrary};
use proptest::prelude::*;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Sql, push};
use crate::testing::TestDatabase;

async fn found(pool: &PgPool, search: &Search) -> BTreeSet<Uuid> {
    let mut sql = Sql::new("SELECT r.id FROM resources r WHERE ");
    push(&mut sql, search);
    let text = sql.sql().as_str().to_owned();
    let ids: Vec<Uuid> = sql
        .build_query_scalar()
        .fetch_all(pool)
        .await
        .unwrap_or_else(|error| panic!("{search}\n{text}\n{error}"));
    ids.into_iter().collect()
}

/// Resources that can be in one table: of one id the first, and with owners that are there.
fn table() -> impl Strategy<Value = Vec<Resource>> {
    prop::collection::vec(arbitrary::resource(), 1..6).prop_map(|resources| {
        let mut table: Vec<Resource> = Vec::new();
        for mut resource in resources {
            if table.iter().any(|other| other.id == resource.id) {
                continue;
            }
            resource
                .owner_references
                .take_if(|owner| !table.iter().any(|other| other.id == owner.id));
            table.push(resource);
        }
        table
    })
}

#[test]
fn the_database_finds_what_matches() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let database = runtime.block_on(TestDatabase::new());
    let pool = &database.store.pool;
    // Names may be taken twice here: what is unique is not what is tested.
    let unhindered = "DROP INDEX resources_root_name; DROP INDEX resources_child_name";
    runtime
        .block_on(sqlx::raw_sql(unhindered).execute(pool))
        .unwrap();
    let searches = prop::collection::vec(arbitrary::search(), 1..6);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(resources in table(), searches in searches)| {
        runtime.block_on(async {
            sqlx::query("DELETE FROM resources").execute(pool).await.unwrap();
            for resource in &resources {
                database.store.put_for_tests(resource).await;
            }
            for search in &searches {
                let expected: BTreeSet<Uuid> = resources
                    .iter()
                    .filter(|resource| search.matches(resource))
                    .map(|resource| resource.id.0)
                    .collect();
                prop_assert_eq!(found(pool, search).await, expected, "{}", search);
            }
            Ok(())
        })?;
    });
}
