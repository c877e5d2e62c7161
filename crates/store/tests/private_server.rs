//! The private PostgreSQL: it keeps what it was given, whatever happened to it.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hyperfleet_store::private::{PrivateServer, PrivateServerError};
use hyperfleet_store::{DatabaseOptions, Store};

fn data_dir() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    // Root's server runs as another user, who must be able to enter.
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

async fn migrated(server: &PrivateServer) -> Store {
    let store = Store::connect(&server.target(), &DatabaseOptions::default())
        .await
        .unwrap();
    store.migrate().await.unwrap();
    store
}

fn postmaster(data_dir: &Path) -> String {
    let file = std::fs::read_to_string(data_dir.join("postgres/data/postmaster.pid")).unwrap();
    file.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn what_was_stored_is_there_after_a_restart() {
    let directory = data_dir();
    let server = PrivateServer::start(directory.path()).await.unwrap();
    let store = migrated(&server).await;
    store.close().await;
    server.stop().await;
    assert!(
        !directory
            .path()
            .join("postgres/data/postmaster.pid")
            .exists(),
        "it stopped cleanly"
    );

    let again = PrivateServer::start(directory.path()).await.unwrap();
    let store = Store::connect(&again.target(), &DatabaseOptions::default())
        .await
        .unwrap();
    assert_eq!(
        store.pending_migrations().await.unwrap(),
        Vec::<&str>::new()
    );
    again.stop().await;
}

#[tokio::test]
async fn a_killed_server_recovers_at_the_next_start() {
    let directory = data_dir();
    let server = PrivateServer::start(directory.path()).await.unwrap();
    migrated(&server).await;
    let kill = std::process::Command::new("kill")
        .args(["-9", &postmaster(directory.path())])
        .status()
        .unwrap();
    assert!(kill.success());
    server.stop().await;

    let again = PrivateServer::start(directory.path()).await.unwrap();
    let store = Store::connect(&again.target(), &DatabaseOptions::default())
        .await
        .unwrap();
    assert_eq!(
        store.pending_migrations().await.unwrap(),
        Vec::<&str>::new()
    );
    again.stop().await;
}

#[tokio::test]
async fn two_owners_of_one_directory_are_refused() {
    let directory = data_dir();
    let server = PrivateServer::start(directory.path()).await.unwrap();
    let error = PrivateServer::start(directory.path()).await.unwrap_err();
    assert!(matches!(error, PrivateServerError::InUse { .. }), "{error}");
    server.stop().await;
}

#[tokio::test]
async fn a_half_made_cluster_is_made_again() {
    let directory = data_dir();
    let half = directory.path().join("postgres/data.new");
    std::fs::create_dir_all(half.join("base")).unwrap();
    let server = PrivateServer::start(directory.path()).await.unwrap();
    server.stop().await;
    assert!(!half.exists());
}

#[tokio::test]
async fn a_cluster_of_another_version_is_left_alone() {
    let directory = data_dir();
    let cluster = directory.path().join("postgres/data");
    std::fs::create_dir_all(&cluster).unwrap();
    std::fs::write(cluster.join("PG_VERSION"), "9\n").unwrap();
    let error = PrivateServer::start(directory.path()).await.unwrap_err();
    assert!(
        matches!(&error, PrivateServerError::OtherVersion { made_by, .. } if made_by == "9"),
        "{error}"
    );
}
