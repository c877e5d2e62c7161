//! Databases for tests: a server for the process, a database for each test.
//!
//! `HYPERFLEET_TEST_DATABASE_URL` names a server to use instead, so that a whole test run shares one.

use std::path::PathBuf;
use std::sync::OnceLock;

use hyperfleet_core::resource::Resource;
use sqlx::postgres::PgConnectOptions;
use sqlx::types::Json;
use sqlx::{Connection, Executor};
use uuid::Uuid;

use crate::database::{DatabaseOptions, Store, Target};
use crate::private::PrivateServer;

/// The lock that one replica at a time computes statuses under.
pub const RECHECK_LOCK: i64 = crate::recheck::LOCK;

/// A database of its own, migrated, gone with the server.
#[derive(Debug)]
pub struct TestDatabase {
    pub store: Store,
    pub target: Target,
}

impl TestDatabase {
    pub async fn new() -> TestDatabase {
        let server = server();
        let name = format!("test_{}", Uuid::now_v7().simple());
        let mut maintenance = sqlx::PgConnection::connect_with(&server)
            .await
            .expect("the test server answers");
        let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        maintenance
            .execute(sqlx::raw_sql(create))
            .await
            .expect("a database can be created");
        maintenance.close().await.expect("the connection closes");
        // Nobody misses what a crash of a test's server loses.
        let target = Target(
            server
                .database(&name)
                .options([("synchronous_commit", "off")]),
        );
        let pool = DatabaseOptions {
            max_connections: 10,
            ..DatabaseOptions::default()
        };
        let store = Store::connect(&target, &pool)
            .await
            .expect("the new database answers");
        store.migrate().await.expect("the migrations apply");
        TestDatabase { store, target }
    }
}

impl Store {
    /// For tests that must do what no statement of the store does, such as pausing in the middle of a transaction.
    pub fn pool_for_tests(&self) -> &sqlx::PgPool {
        &self.pool
    }

    /// Stores a row as it is, below every rule of the domain.
    pub async fn put_for_tests(&self, resource: &Resource) {
        let owner = resource.owner_references.as_ref();
        sqlx::query(
            "INSERT INTO resources (id, kind, name, href, owner_id, owner_kind, owner_href, spec, labels, tenancy,
                                    generation, status, created_time, updated_time, created_by, updated_by,
                                    deleted_time, deleted_by, refs)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
        )
        .bind(resource.id.0)
        .bind(&resource.kind)
        .bind(&resource.name)
        .bind(&resource.href)
        .bind(owner.map(|owner| owner.id.0))
        .bind(owner.map(|owner| owner.kind.as_str()))
        .bind(owner.map(|owner| owner.href.as_str()))
        .bind(Json(&resource.spec))
        .bind(Json(&resource.labels))
        .bind(Json(&resource.tenancy))
        .bind(resource.generation.get())
        .bind(Json(&resource.status))
        .bind(resource.created_time)
        .bind(resource.updated_time)
        .bind(&resource.created_by)
        .bind(&resource.updated_by)
        .bind(resource.deleted_time)
        .bind(&resource.deleted_by)
        .bind(Json(&resource.references))
        .execute(&self.pool)
        .await
        .expect("the row fits the table");
    }
}

/// The server of this process, started by whichever test comes first.
fn server() -> PgConnectOptions {
    static SERVER: OnceLock<PgConnectOptions> = OnceLock::new();
    SERVER
        .get_or_init(|| match std::env::var("HYPERFLEET_TEST_DATABASE_URL") {
            Ok(url) => url
                .parse()
                .expect("HYPERFLEET_TEST_DATABASE_URL is a PostgreSQL URL"),
            Err(_) => start(),
        })
        .clone()
}

/// Starts a private server on a thread that lives as long as the process: each test has a runtime of its own, and
/// the server must outlive them all. A watchdog shell stops it when the process is gone, however it went.
fn start() -> PgConnectOptions {
    let directory = tempfile::Builder::new()
        .prefix("hf-test-")
        .tempdir()
        .expect("a temporary directory can be made")
        .keep();
    open_to_others(&directory);
    let (ready, started) = std::sync::mpsc::channel();
    let home = directory.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime starts");
        runtime.block_on(async {
            let server = PrivateServer::start(&home)
                .await
                .expect("a private PostgreSQL starts");
            ready
                .send(server.target().0.database("postgres"))
                .expect("somebody waits");
            std::future::pending::<()>().await;
        });
    });
    let options = started.recv().expect("the private PostgreSQL started");
    watch(&directory);
    options
}

/// The server may run as another user, who must be able to enter.
fn open_to_others(directory: &PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755))
        .expect("permissions can be set");
}

fn watch(directory: &std::path::Path) {
    // In the background of a shell that ends at once: nobody would wait for this one.
    let script = "(while kill -0 $1 2>/dev/null; do sleep 0.2; done; \
                  kill -INT $(head -1 $2/postgres/data/postmaster.pid) 2>/dev/null; sleep 1; rm -rf $2) &";
    std::process::Command::new("sh")
        .args(["-c", script, "sh", &std::process::id().to_string()])
        .arg(directory)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("sh runs");
}
