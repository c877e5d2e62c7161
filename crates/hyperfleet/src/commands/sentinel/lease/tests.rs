use std::net::Ipv4Addr;
use std::sync::Arc;

use super::*;

/// A Kubernetes to try it on: kubesim, whose behaviour the transport's suite holds to the real one.
async fn kubernetes() -> (kubesim::Server, tempfile::TempDir) {
    let options = kubesim::Options {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        job_duration: Duration::from_millis(1),
        rollout_duration: Duration::from_millis(1),
        state_file: None,
    };
    let server = kubesim::Server::start(options).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kubeconfig");
    std::fs::write(file, server.kubeconfig()).unwrap();
    (server, directory)
}

async fn registrar(directory: &tempfile::TempDir) -> LeaseRegistrar {
    let mut options = Options::for_kinds("http://localhost", ["clusters"]);
    let file = directory.path().join("kubeconfig");
    options.sentinel.kube_config_path = Some(file.to_string_lossy().into_owned());
    LeaseRegistrar::connect(&options).await.unwrap()
}

fn saying(name: &str, keep: Shards, seconds: u32) -> Announcement {
    Announcement {
        name: name.to_owned(),
        resource_type: "clusters".to_owned(),
        selector: BTreeMap::new(),
        shares: true,
        keep,
        leaving: false,
        duration_seconds: seconds,
        decides: serde_json::Map::new(),
    }
}

#[tokio::test]
async fn replicas_share_through_a_lease_object_and_see_who_overlaps() {
    let (_server, directory) = kubernetes().await;
    let (here, there) = (registrar(&directory).await, registrar(&directory).await);
    let (one, two) = (Uuid::now_v7(), Uuid::now_v7());
    let alone = here
        .announce(one, &saying("s", Shards::NONE, 60))
        .await
        .unwrap();
    assert_eq!(alone.held, Shards::ALL);
    let joined = there
        .announce(two, &saying("s", Shards::NONE, 60))
        .await
        .unwrap();
    assert_eq!(
        (joined.held, joined.more, joined.replicas),
        (Shards::NONE, true, 2)
    );
    let kept = here
        .announce(one, &saying("s", alone.held.first(32), 60))
        .await
        .unwrap();
    let settled = there
        .announce(two, &saying("s", Shards::NONE, 60))
        .await
        .unwrap();
    assert_eq!(settled.held, Shards::ALL.without(kept.held));
    let stranger = there
        .announce(Uuid::now_v7(), &saying("other", Shards::NONE, 60))
        .await
        .unwrap();
    assert_eq!((stranger.held, stranger.overlaps.len()), (Shards::ALL, 2));
    here.withdraw(one).await.unwrap();
    let all = there
        .announce(two, &saying("s", settled.held, 60))
        .await
        .unwrap();
    assert_eq!((all.held, all.overlaps.len()), (Shards::ALL, 1));
}

#[tokio::test]
async fn one_that_is_not_heard_of_is_forgotten_and_not_before() {
    let (_server, directory) = kubernetes().await;
    let (here, there) = (registrar(&directory).await, registrar(&directory).await);
    let (dead, alive) = (Uuid::now_v7(), Uuid::now_v7());
    let asked = Instant::now();
    here.announce(dead, &saying("s", Shards::NONE, 1))
        .await
        .unwrap();
    let mut held = Shards::NONE;
    while held != Shards::ALL {
        let told = there.announce(alive, &saying("s", held, 60)).await.unwrap();
        held = told.held;
        let over = asked.elapsed() >= Duration::from_secs(1);
        assert!(over || held.is_empty(), "taken before its time was over");
        assert!(asked.elapsed() < Duration::from_secs(30), "never taken");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_never_hold_the_same() {
    let (_server, directory) = kubernetes().await;
    let mut speaking = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let registrar = Arc::new(registrar(&directory).await);
        speaking.spawn(async move {
            let id = Uuid::now_v7();
            let mut keep = Shards::NONE;
            for _ in 0..8 {
                // Others may be faster eight times in a row; then it holds what it held.
                if let Ok(told) = registrar.announce(id, &saying("s", keep, 60)).await {
                    keep = told.held.first(told.share);
                }
            }
        });
    }
    speaking.join_all().await;
    let last = registrar(&directory).await;
    let found = last.transport.get(&last.lease("clusters")).await.unwrap();
    let entries = entries(&found.unwrap()).unwrap();
    let total: u32 = entries.values().map(|entry| entry.held.count()).sum();
    let union = entries
        .values()
        .fold(Shards::NONE, |all, entry| all.with(entry.held));
    assert_eq!((entries.len(), union.count()), (4, total));
}
