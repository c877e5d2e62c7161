use std::time::Duration;

use futures::future::join_all;
use sqlx::Row;

use crate::database::{DatabaseOptions, Store};
use crate::testing::TestDatabase;

async fn store(max_connections: u32) -> Store {
    let database = TestDatabase::new().await;
    let options = DatabaseOptions {
        max_connections,
        ..DatabaseOptions::default()
    };
    Store::connect(&database.target, &options).await.unwrap()
}

/// Which connection a statement ran on.
async fn backend(store: &Store) -> i32 {
    let row = store
        .fetch_optional(sqlx::query("SELECT pg_backend_pid()"))
        .await;
    row.unwrap().unwrap().get(0)
}

#[tokio::test]
async fn a_connection_goes_from_statement_to_statement() {
    let store = store(5).await;
    let first = backend(&store).await;
    for _ in 0..20 {
        assert_eq!(backend(&store).await, first);
    }
    assert_eq!(store.connections(), (1, 1));
}

#[tokio::test]
async fn more_callers_than_connections_are_all_served() {
    for max_connections in [1, 2, 5] {
        let store = store(max_connections).await;
        let asked = (0..60).map(|_| backend(&store));
        let mut backends = join_all(asked).await;
        backends.sort_unstable();
        backends.dedup();
        assert!(backends.len() <= max_connections as usize);
        // And something is left for those who go to the pool themselves.
        store.ping().await.unwrap();
    }
}

#[tokio::test]
async fn an_abandoned_statement_spoils_nothing() {
    let store = store(2).await;
    for _ in 0..5 {
        let slow = store.fetch_all(sqlx::query("SELECT pg_sleep(0.2)"));
        let abandoned = tokio::time::timeout(Duration::from_millis(20), slow).await;
        assert!(abandoned.is_err());
        assert!(backend(&store).await > 0);
    }
}

/// Wherever its caller goes away, no connection comes back on which a transaction has begun.
#[tokio::test]
async fn an_abandoned_beginning_leaves_no_transaction_open() {
    let store = store(4).await;
    for patience in 0..400 {
        let begin = store.begin();
        tokio::select! {
            biased;
            begun = begin => drop(begun.unwrap()),
            () = yields(patience % 40) => {}
        }
    }
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'";
    let mut left = -1;
    // Those that were given back are rolled back a moment later.
    for _ in 0..200 {
        let row = store.fetch_optional(sqlx::query(open)).await;
        left = row.unwrap().unwrap().get::<i64, _>(0);
        if left == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(left, 0, "transactions that nobody will ever end");
}

async fn yields(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_failed_statement_spoils_nothing() {
    let store = store(2).await;
    let failed = store.execute(sqlx::query("SELECT 1 / 0")).await;
    assert!(matches!(failed, Err(sqlx::Error::Database(_))));
    assert!(backend(&store).await > 0);
}

#[tokio::test]
async fn a_store_with_kept_connections_closes() {
    let store = store(5).await;
    join_all((0..4).map(|_| backend(&store))).await;
    tokio::time::timeout(Duration::from_secs(30), store.close())
        .await
        .expect("it waits for nobody");
    let late = store.fetch_optional(sqlx::query("SELECT 1")).await;
    assert!(matches!(late, Err(sqlx::Error::PoolClosed)));
}

#[tokio::test]
async fn connections_that_nobody_uses_go_back_to_the_pool() {
    let store = store(5).await;
    backend(&store).await;
    for waiting in store.kept.idle.lock().iter_mut() {
        waiting.since -= 2 * super::TRUSTED;
    }
    store.ping().await.unwrap();
    assert_eq!(store.kept.idle(), 0);
}
