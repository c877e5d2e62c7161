//! The workload model. kubesim only: a real server without a kubelet never finishes anything.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{MERGE, Reply, World, deployment, job, names, unique};

promises![
    a_job_completes,
    a_job_fails_when_told_to,
    a_job_told_to_hang_hangs_until_its_deadline,
    a_jobs_pods_belong_to_it,
    a_finished_job_expires,
    a_suspended_job_starts_when_resumed,
    a_deployment_rolls_out,
    a_new_image_makes_a_new_replica_set,
    a_failing_deployment_says_so,
    a_stateful_set_names_its_pods_in_order,
    a_deleted_pod_of_a_deployment_comes_back,
    deleting_a_deployment_takes_its_pods,
    a_bare_pod_runs,
    the_outcome_can_be_set_on_the_template,
    a_custom_object_becomes_what_its_definition_says,
];

fn steered(mut object: Value, annotations: Value) -> Value {
    object["metadata"]["annotations"] = annotations;
    object
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"]
        .as_array()?
        .iter()
        .find(|c| c["type"] == kind && c["status"] == "True")
}

fn holds(kind: &'static str) -> impl Fn(&Reply) -> bool {
    move |reply| condition(&reply.body, kind).is_some()
}

async fn run(world: &World, object: &Value) -> String {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, object).await.ok();
    format!("{path}/{}", object["metadata"]["name"].as_str().unwrap())
}

async fn a_job_completes(world: World) {
    let path = run(&world, &job("j")).await;
    let done = world.until(&path, holds("Complete")).await.body;
    let status = &done["status"];
    assert_eq!(
        (&status["succeeded"], &status["ready"]),
        (&json!(1), &json!(0))
    );
    assert!(status["startTime"].is_string() && status["completionTime"].is_string());
    assert!(condition(&done, "SuccessCriteriaMet").is_some());
    assert_eq!(
        condition(&done, "Complete").unwrap()["reason"],
        "CompletionsReached"
    );
    assert!(status.get("active").is_none() && status.get("failed").is_none());
    assert_eq!(status["uncountedTerminatedPods"], json!({}));
}

async fn a_job_fails_when_told_to(world: World) {
    let object = steered(
        job("j"),
        json!({
            "kubesim.hyperfleet.io/outcome": "fail", "kubesim.hyperfleet.io/after": "50ms",
            "kubesim.hyperfleet.io/message": "no quota left",
        }),
    );
    let path = run(&world, &object).await;
    let done = world.until(&path, holds("Failed")).await.body;
    let failed = condition(&done, "Failed").unwrap();
    assert_eq!(
        (&failed["reason"], &failed["message"]),
        (&json!("BackoffLimitExceeded"), &json!("no quota left"))
    );
    assert!(condition(&done, "FailureTarget").is_some());
    assert!(done["status"].get("completionTime").is_none());
    let pods = world.get(&world.path("v1", "pods")).await.ok();
    let state = &pods["items"][0]["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(
        (&state["exitCode"], &state["message"]),
        (&json!(1), &json!("no quota left"))
    );
}

async fn a_job_told_to_hang_hangs_until_its_deadline(world: World) {
    let mut object = steered(job("j"), json!({"kubesim.hyperfleet.io/outcome": "hang"}));
    object["spec"]["activeDeadlineSeconds"] = 1.into();
    let path = run(&world, &object).await;
    let active = world
        .until(&path, |r| r.body["status"]["active"] == 1)
        .await;
    assert!(condition(&active.body, "Failed").is_none());
    let done = world.until(&path, holds("Failed")).await.body;
    assert_eq!(
        condition(&done, "Failed").unwrap()["reason"],
        "DeadlineExceeded"
    );
}

async fn a_jobs_pods_belong_to_it(world: World) {
    let mut object = job("j");
    object["spec"]["parallelism"] = 2.into();
    object["spec"]["completions"] = 2.into();
    let path = run(&world, &object).await;
    let done = world.until(&path, holds("Complete")).await.body;
    assert_eq!(done["status"]["succeeded"], 2);
    let pods = world
        .get(&format!(
            "{}?labelSelector=job-name%3Dj",
            world.path("v1", "pods")
        ))
        .await
        .ok();
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(2));
    for pod in pods["items"].as_array().unwrap() {
        assert_eq!(pod["status"]["phase"], "Succeeded");
        assert_eq!(
            pod["metadata"]["ownerReferences"][0]["uid"],
            done["metadata"]["uid"]
        );
        assert_eq!(pod["metadata"]["ownerReferences"][0]["controller"], true);
    }
}

async fn a_finished_job_expires(world: World) {
    let mut object = job("j");
    object["spec"]["ttlSecondsAfterFinished"] = 0.into();
    let path = run(&world, &object).await;
    world.gone(&path).await;
    world
        .until(&world.path("v1", "pods"), |r| names(&r.body).is_empty())
        .await;
}

async fn a_suspended_job_starts_when_resumed(world: World) {
    let mut object = job("j");
    object["spec"]["suspend"] = true.into();
    let path = run(&world, &object).await;
    let suspended = world.until(&path, holds("Suspended")).await.body;
    assert!(suspended["status"].get("startTime").is_none());
    world
        .patch(&path, MERGE, &json!({"spec": {"suspend": false}}))
        .await
        .ok();
    world.until(&path, holds("Complete")).await;
}

async fn deploy(world: &World, object: &Value) -> String {
    let path = world.path("apps/v1", "deployments");
    world.post(&path, object).await.ok();
    format!("{path}/d")
}

fn rolled_out(replicas: i64) -> impl Fn(&Reply) -> bool {
    move |reply| {
        let (status, generation) = (&reply.body["status"], &reply.body["metadata"]["generation"]);
        status["observedGeneration"] == *generation
            && [
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
            ]
            .iter()
            .all(|f| status[*f] == replicas)
    }
}

async fn a_deployment_rolls_out(world: World) {
    let mut object = deployment("d");
    object["spec"]["replicas"] = 2.into();
    let path = deploy(&world, &object).await;
    let starting = world
        .until(&path, |r| r.body["status"]["unavailableReplicas"] == 2)
        .await
        .body;
    assert!(condition(&starting, "Available").is_none());
    let done = world.until(&path, rolled_out(2)).await.body;
    assert_eq!(
        condition(&done, "Available").unwrap()["reason"],
        "MinimumReplicasAvailable"
    );
    assert_eq!(
        condition(&done, "Progressing").unwrap()["reason"],
        "NewReplicaSetAvailable"
    );
    let sets = world.get(&world.path("apps/v1", "replicasets")).await.ok();
    assert_eq!(
        sets["items"][0]["metadata"]["ownerReferences"][0]["uid"],
        done["metadata"]["uid"]
    );
    let pods = world.get(&world.path("v1", "pods")).await.ok();
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        pods["items"][0]["metadata"]["ownerReferences"][0]["kind"],
        "ReplicaSet"
    );
    world
        .patch(&path, MERGE, &json!({"spec": {"replicas": 0}}))
        .await
        .ok();
    world
        .until(&world.path("v1", "pods"), |r| names(&r.body).is_empty())
        .await;
}

async fn a_new_image_makes_a_new_replica_set(world: World) {
    let path = deploy(&world, &deployment("d")).await;
    world.until(&path, rolled_out(1)).await;
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "busybox:2"}]}}}});
    world.patch(&path, MERGE, &patch).await.ok();
    world
        .until(&path, |r| {
            r.body["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
                && rolled_out(1)(r)
        })
        .await;
    let pods = world
        .until(&world.path("v1", "pods"), |r| names(&r.body).len() == 1)
        .await
        .body;
    assert_eq!(
        pods["items"][0]["spec"]["containers"][0]["image"],
        "busybox:2"
    );
    assert_eq!(
        names(&world.get(&world.path("apps/v1", "replicasets")).await.ok()).len(),
        2
    );
}

async fn a_failing_deployment_says_so(world: World) {
    let object = steered(
        deployment("d"),
        json!({"kubesim.hyperfleet.io/outcome": "fail"}),
    );
    let path = deploy(&world, &object).await;
    world
        .until(&path, |r| {
            r.body["status"]["conditions"]
                .as_array()
                .is_some_and(|c| c.iter().any(|c| c["reason"] == "ProgressDeadlineExceeded"))
        })
        .await;
    let pods = world
        .until(&world.path("v1", "pods"), |r| {
            r.body["items"][0]["status"]["containerStatuses"].is_array()
        })
        .await
        .body;
    let waiting = &pods["items"][0]["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(waiting["reason"], "CrashLoopBackOff");
}

async fn a_stateful_set_names_its_pods_in_order(world: World) {
    let mut object = deployment("s");
    object["kind"] = "StatefulSet".into();
    object["spec"]["replicas"] = 2.into();
    object["spec"]["serviceName"] = "s".into();
    let path = world.path("apps/v1", "statefulsets");
    world.post(&path, &object).await.ok();
    world
        .until(&format!("{path}/s"), |r| {
            r.body["status"]["readyReplicas"] == 2
        })
        .await;
    assert_eq!(
        names(&world.get(&world.path("v1", "pods")).await.ok()),
        ["s-0", "s-1"]
    );
}

async fn a_deleted_pod_of_a_deployment_comes_back(world: World) {
    let path = deploy(&world, &deployment("d")).await;
    world.until(&path, rolled_out(1)).await;
    let pods = world.path("v1", "pods");
    let first = names(&world.get(&pods).await.ok())[0].clone();
    world.delete(&format!("{pods}/{first}")).await.ok();
    world
        .until(&pods, |r| {
            names(&r.body).len() == 1 && names(&r.body)[0] != first
        })
        .await;
    world.until(&path, rolled_out(1)).await;
}

async fn deleting_a_deployment_takes_its_pods(world: World) {
    let path = deploy(&world, &deployment("d")).await;
    world.until(&path, rolled_out(1)).await;
    world
        .delete_with(&path, &json!({"propagationPolicy": "Foreground"}))
        .await
        .ok();
    world.gone(&path).await;
    assert!(names(&world.get(&world.path("v1", "pods")).await.ok()).is_empty());
}

async fn a_bare_pod_runs(world: World) {
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
    world.post(&world.path("v1", "pods"), &pod).await.ok();
    world
        .until(&world.path("v1", "pods/p"), |r| {
            r.body["status"]["phase"] == "Running"
        })
        .await;
}

async fn the_outcome_can_be_set_on_the_template(world: World) {
    let mut object = job("j");
    object["spec"]["template"]["metadata"] =
        json!({"annotations": {"kubesim.hyperfleet.io/outcome": "fail"}});
    let path = run(&world, &object).await;
    world.until(&path, holds("Failed")).await;
}

async fn a_custom_object_becomes_what_its_definition_says(world: World) {
    let group = format!("{}.example.com", unique("g"));
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("pools.{group}"),
            "annotations": {"kubesim.hyperfleet.io/becomes": "Ready"},
        },
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": "pools", "singular": "pool", "kind": "Pool"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    world.post(definitions, &definition).await.ok();
    let path = format!("/apis/{group}/v1/namespaces/{}/pools", world.namespace);
    let pool = |name: &str, annotations: Value| {
        json!({
            "apiVersion": format!("{group}/v1"), "kind": "Pool", "spec": {"replicas": 2},
            "metadata": {"name": name, "annotations": annotations},
        })
    };
    let one = format!("{path}/one");
    world.post(&path, &pool("one", json!({}))).await.ok();
    let ready = world.until(&one, holds("Ready")).await.body;
    assert_eq!(ready["status"]["replicas"], 2);
    assert_eq!(ready["status"]["observedGeneration"], 1);

    let scaled = json!({"spec": {"replicas": 5}});
    world.patch(&one, MERGE, &scaled).await.ok();
    let seen = |reply: &Reply| reply.body["status"]["observedGeneration"] == 2;
    let scaled = world.until(&one, seen).await.body;
    assert_eq!(scaled["status"]["replicas"], 5);
    assert!(condition(&scaled, "Ready").is_some());

    let told = json!({
        "kubesim.hyperfleet.io/outcome": "fail", "kubesim.hyperfleet.io/message": "no instances left",
    });
    world.post(&path, &pool("two", told)).await.ok();
    let said =
        |reply: &Reply| reply.body["status"]["conditions"][0]["message"] == "no instances left";
    let failed = world.until(&format!("{path}/two"), said).await.body;
    assert_eq!(failed["status"]["conditions"][0]["status"], "False");
}
