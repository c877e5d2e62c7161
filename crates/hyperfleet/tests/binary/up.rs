use serde_json::json;

use crate::running::{Up, data_dir, processes_of};

fn cluster(name: &str) -> serde_json::Value {
    json!({"kind": "Cluster", "name": name, "spec": {"region": "us-east-1"}})
}

#[test]
fn a_cluster_goes_from_created_to_ready_and_ctrl_c_leaves_nothing_behind() {
    let directory = data_dir();
    let system = Up::start(directory.path());
    let created = system.post("/clusters", &cluster("first"));
    let path = format!("/clusters/{}", created["id"].as_str().unwrap());
    let ready = system.wait_for_phase(&path, "Ready");
    assert_eq!(ready["status"]["conditions"][0]["reason"], "ReconciledAll");
    let readiness = system.readiness();
    assert_eq!(readiness["status"], "ok", "{readiness}");
    assert_eq!(readiness["checks"]["database"], "ok", "{readiness}");
    assert!(system.interrupt().success(), "it stops with exit code 0");
    assert_eq!(processes_of(directory.path()), Vec::<String>::new());
}

#[test]
fn a_killed_system_comes_back_with_the_same_clusters_still_converging() {
    let directory = data_dir();
    let system = Up::start(directory.path());
    let ids: Vec<String> = (0..5)
        .map(|index| {
            system.post("/clusters", &cluster(&format!("c-{index}")))["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    system.kill();

    let system = Up::start(directory.path());
    for id in &ids {
        system.wait_for_phase(&format!("/clusters/{id}"), "Ready");
    }
    assert_eq!(system.get("/clusters")["total"], 5);
    system.kill();
    let again = Up::start(directory.path());
    for id in &ids {
        assert_eq!(
            again.get(&format!("/clusters/{id}"))["status"]["phase"],
            "Ready",
            "what was Ready still is"
        );
    }
    assert!(again.interrupt().success());
    assert_eq!(processes_of(directory.path()), Vec::<String>::new());
}
