//! The state file. kubesim only.

use std::path::Path;
use std::time::Duration;

use kubesim::{Options, Server, StartError};
use serde_json::json;

use crate::endpoint::Endpoint;
use crate::promises;
use crate::world::{World, config_map, job};

promises![
    a_world_comes_back_as_it_was,
    a_killed_server_comes_back,
    an_unfinished_job_finishes_after_a_restart,
    a_damaged_state_file_is_refused,
    the_state_file_is_private,
    a_taken_port_is_named,
    a_version_before_the_restart_is_expired,
];

async fn server(file: &Path) -> Server {
    let options = Options {
        state_file: Some(file.to_owned()),
        job_duration: Duration::from_secs(1),
        ..Options::default()
    };
    Server::start(options).await.unwrap()
}

async fn a_world_comes_back_as_it_was(_: World) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    let first = server(&file).await;
    let world = World::new(Endpoint::plain(first.url())).await;
    let created = world
        .apply(&world.map("a"), "me", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    first.shutdown().await;

    let second = server(&file).await;
    let again = World::new(Endpoint::plain(second.url())).await;
    assert_eq!(again.get(&world.map("a")).await.ok(), created);
    let next = again.create_map("b", json!({})).await;
    let version = |v: &serde_json::Value| {
        v["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    assert!(version(&next) > version(&created));
    second.shutdown().await;
}

async fn a_killed_server_comes_back(_: World) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    let first = server(&file).await;
    let world = World::new(Endpoint::plain(first.url())).await;
    let created = world.create_map("a", json!({"x": "1"})).await;
    // Killed means: whatever is on disk now is all there is.
    let uid = created["metadata"]["uid"].as_str().unwrap().to_owned();
    let copy = directory.path().join("copy.json");
    let mut pause = tokio::time::interval(Duration::from_millis(20));
    loop {
        pause.tick().await;
        let saved = std::fs::read_to_string(&file).unwrap_or_default();
        if saved.contains(&uid) {
            std::fs::write(&copy, saved).unwrap();
            break;
        }
    }
    let second = server(&copy).await;
    let again = World::new(Endpoint::plain(second.url())).await;
    assert_eq!(again.get(&world.map("a")).await.ok(), created);
}

async fn an_unfinished_job_finishes_after_a_restart(_: World) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    let first = server(&file).await;
    let world = World::new(Endpoint::plain(first.url())).await;
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &job("j")).await.ok();
    world
        .until(&format!("{path}/j"), |r| r.body["status"]["active"] == 1)
        .await;
    first.shutdown().await;
    let second = server(&file).await;
    let again = World::new(Endpoint::plain(second.url())).await;
    again
        .until(&format!("{path}/j"), |r| r.body["status"]["succeeded"] == 1)
        .await;
}

async fn a_damaged_state_file_is_refused(_: World) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    for damage in [
        "",
        "{\"format\":\"kubesim/1\",\"rev",
        "[]",
        "{\"format\":\"other\"}",
    ] {
        std::fs::write(&file, damage).unwrap();
        let error = Server::start(Options {
            state_file: Some(file.clone()),
            ..Options::default()
        })
        .await
        .unwrap_err();
        assert!(
            matches!(error, StartError::DamagedState { .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains("state.json") && text.contains("move it away"),
            "{text}"
        );
    }
}

async fn the_state_file_is_private(_: World) {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    server(&file).await.shutdown().await;
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

async fn a_taken_port_is_named(_: World) {
    let first = Server::start(Options::default()).await.unwrap();
    let address = first.url().trim_start_matches("http://").to_owned();
    let options = Options {
        listen: address.parse().unwrap(),
        ..Options::default()
    };
    let error = Server::start(options).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains(&address), "{error}");
    assert!(first.kubeconfig().contains(&address));
}

async fn a_version_before_the_restart_is_expired(_: World) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("state.json");
    let first = server(&file).await;
    let world = World::new(Endpoint::plain(first.url())).await;
    let created = world.create_map("a", json!({})).await;
    world.create_map("b", json!({})).await;
    first.shutdown().await;
    let second = server(&file).await;
    let again = World::new(Endpoint::plain(second.url())).await;
    let version = created["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = again
        .watch(&format!(
            "{}?watch=1&resourceVersion={version}",
            world.maps()
        ))
        .await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["object"]["code"], 410);
}
