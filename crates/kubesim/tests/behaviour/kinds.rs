//! What is special about single kinds.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::promises;
use crate::world::{MERGE, World, config_map, deployment, job};

promises![
    a_job_gets_its_defaults_and_selector,
    a_jobs_template_is_immutable,
    a_jobs_selector_and_completions_are_immutable,
    a_job_can_be_suspended_and_relabelled,
    a_deployment_gets_its_defaults,
    a_deployments_selector_must_match_its_template,
    a_deployments_selector_is_immutable,
    an_immutable_config_map_stays,
    string_data_becomes_data,
    a_secrets_type_is_immutable,
    a_config_map_key_must_be_a_file_name,
    a_lease_can_be_taken_over,
    an_event_shows_in_both_groups,
    events_are_found_by_their_object,
    access_reviews_allow,
    a_self_review_names_someone,
    a_service_gets_an_address,
    a_pod_gets_its_defaults,
    a_pods_spec_is_frozen,
    a_role_bindings_role_is_fixed,
    the_generations_of_kinds_without_one_stay_absent,
];

async fn a_job_gets_its_defaults_and_selector(world: World) {
    let created = world
        .post(&world.path("batch/v1", "jobs"), &job("j"))
        .await
        .ok();
    let spec = &created["spec"];
    let uid = created["metadata"]["uid"].clone();
    let mut expected = json!({
        "parallelism": 1, "completions": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": false,
        "manualSelector": false, "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}},
    });
    expected["template"] = spec["template"].clone();
    assert_eq!(spec, &expected);
    assert_eq!(
        spec["template"]["metadata"]["labels"],
        json!({"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "j", "controller-uid": uid, "job-name": "j"})
    );
    assert_eq!(created["metadata"]["generation"], 1);
    assert_eq!(created["status"], json!({}));
    assert_eq!(
        created["metadata"]["labels"],
        spec["template"]["metadata"]["labels"]
    );
}

async fn a_jobs_template_is_immutable(world: World) {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &job("j")).await.ok();
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "other:1"}]}}}});
    let status = world
        .patch(&format!("{path}/j"), MERGE, &patch)
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["causes"][0]["field"], "spec.template");
    assert!(
        status["details"]["causes"][0]["message"]
            .as_str()
            .unwrap()
            .ends_with(": field is immutable")
    );
}

async fn a_jobs_selector_and_completions_are_immutable(world: World) {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &job("j")).await.ok();
    let status = world
        .patch(
            &format!("{path}/j"),
            MERGE,
            &json!({"spec": {"completions": 2}}),
        )
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["causes"][0]["field"], "spec.completions");
    let patch = json!({"spec": {"selector": {"matchLabels": {"x": "y"}}}});
    world
        .patch(&format!("{path}/j"), MERGE, &patch)
        .await
        .refused(422, "Invalid");
}

async fn a_job_can_be_suspended_and_relabelled(world: World) {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &job("j")).await.ok();
    let patch = json!({"spec": {"suspend": true}, "metadata": {"annotations": {"a": "b"}}});
    let patched = world.patch(&format!("{path}/j"), MERGE, &patch).await.ok();
    assert_eq!(patched["spec"]["suspend"], true);
    assert_eq!(patched["metadata"]["generation"], 2);
}

async fn a_deployment_gets_its_defaults(world: World) {
    let created = world
        .post(&world.path("apps/v1", "deployments"), &deployment("d"))
        .await
        .ok();
    let spec = &created["spec"];
    assert_eq!(spec["replicas"], 1);
    assert_eq!(spec["revisionHistoryLimit"], 10);
    assert_eq!(spec["progressDeadlineSeconds"], 600);
    assert_eq!(
        spec["strategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}})
    );
    let pod = &spec["template"]["spec"];
    assert_eq!(
        pod,
        &json!({
            "containers": [{
                "name": "main", "image": "busybox:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler",
            "terminationGracePeriodSeconds": 30, "securityContext": {},
        })
    );
}

async fn a_deployments_selector_must_match_its_template(world: World) {
    let mut object = deployment("d");
    object["spec"]["selector"]["matchLabels"] = json!({"other": "x"});
    let status = world
        .post(&world.path("apps/v1", "deployments"), &object)
        .await
        .refused(422, "Invalid");
    assert_eq!(
        status["details"]["causes"][0]["field"],
        "spec.template.metadata.labels"
    );
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("`selector` does not match template `labels`")
    );
}

async fn a_deployments_selector_is_immutable(world: World) {
    let path = world.path("apps/v1", "deployments");
    world.post(&path, &deployment("d")).await.ok();
    let patch = json!({"spec": {"selector": {"matchLabels": {"more": "x"}}, "template": {"metadata": {"labels": {"more": "x"}}}}});
    let status = world
        .patch(&format!("{path}/d"), MERGE, &patch)
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["causes"][0]["field"], "spec.selector");
}

async fn an_immutable_config_map_stays(world: World) {
    let mut object = config_map("a", json!({"x": "1"}));
    object["immutable"] = true.into();
    world.post(&world.maps(), &object).await.ok();
    let status = world
        .patch(&world.map("a"), MERGE, &json!({"data": {"x": "2"}}))
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["causes"][0]["field"], "data");
    assert_eq!(
        status["details"]["causes"][0]["message"],
        "Forbidden: field is immutable when `immutable` is set"
    );
    world
        .patch(&world.map("a"), MERGE, &json!({"immutable": null}))
        .await
        .refused(422, "Invalid");
    world
        .patch(
            &world.map("a"),
            MERGE,
            &json!({"metadata": {"labels": {"a": "b"}}}),
        )
        .await
        .ok();
}

async fn string_data_becomes_data(world: World) {
    let object = json!({"metadata": {"name": "s"}, "stringData": {"x": "hello"}, "data": {"y": STANDARD.encode("there")}});
    let created = world.post(&world.path("v1", "secrets"), &object).await.ok();
    assert_eq!(
        created["data"],
        json!({"x": STANDARD.encode("hello"), "y": STANDARD.encode("there")})
    );
    assert!(created.get("stringData").is_none());
    assert_eq!(created["type"], "Opaque");
    let bad = json!({"metadata": {"name": "t"}, "data": {"x": "not base64!"}});
    world
        .post(&world.path("v1", "secrets"), &bad)
        .await
        .refused(400, "BadRequest");
}

async fn a_secrets_type_is_immutable(world: World) {
    world
        .post(
            &world.path("v1", "secrets"),
            &json!({"metadata": {"name": "s"}}),
        )
        .await
        .ok();
    let status = world
        .patch(
            &world.path("v1", "secrets/s"),
            MERGE,
            &json!({"type": "other/x"}),
        )
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["causes"][0]["field"], "type");
}

async fn a_config_map_key_must_be_a_file_name(world: World) {
    let status = world
        .post(&world.maps(), &config_map("a", json!({"a/b": "x"})))
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["causes"][0]["field"], "data[a/b]");
}

async fn a_lease_can_be_taken_over(world: World) {
    let path = world.path("coordination.k8s.io/v1", "leases");
    let lease = json!({"metadata": {"name": "l"}, "spec": {
        "holderIdentity": "one", "leaseDurationSeconds": 15, "acquireTime": "2026-01-01T00:00:00.000001Z",
        "renewTime": "2026-01-01T00:00:00.000001Z", "leaseTransitions": 0}});
    let created = world.post(&path, &lease).await.ok();
    assert_eq!(created["spec"]["renewTime"], "2026-01-01T00:00:00.000001Z");
    let mut taken = created.clone();
    taken["spec"]["holderIdentity"] = "two".into();
    world.put(&format!("{path}/l"), &taken).await.ok();
    let mut lost = created;
    lost["spec"]["holderIdentity"] = "three".into();
    world
        .put(&format!("{path}/l"), &lost)
        .await
        .refused(409, "Conflict");
}

fn event(world: &World, name: &str) -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": name},
        "regarding": {"kind": "ConfigMap", "name": "thing", "namespace": world.namespace, "apiVersion": "v1"},
        "reason": "Tested", "note": "it was tested", "type": "Normal", "action": "Test",
        "eventTime": "2026-01-01T00:00:00.000001Z", "reportingController": "example.com/tester", "reportingInstance": "tester-1",
    })
}

async fn an_event_shows_in_both_groups(world: World) {
    world
        .post(
            &world.path("events.k8s.io/v1", "events"),
            &event(&world, "e"),
        )
        .await
        .ok();
    let core = world.get(&world.path("v1", "events/e")).await.ok();
    assert_eq!(
        (&core["apiVersion"], &core["message"]),
        (&json!("v1"), &json!("it was tested"))
    );
    assert_eq!(core["involvedObject"]["name"], "thing");
    let new = world
        .get(&world.path("events.k8s.io/v1", "events/e"))
        .await
        .ok();
    assert_eq!(
        (&new["apiVersion"], &new["note"]),
        (&json!("events.k8s.io/v1"), &json!("it was tested"))
    );
}

async fn events_are_found_by_their_object(world: World) {
    world
        .post(
            &world.path("events.k8s.io/v1", "events"),
            &event(&world, "e"),
        )
        .await
        .ok();
    let query =
        "fieldSelector=involvedObject.name%3Dthing,involvedObject.kind%3DConfigMap,type%3DNormal";
    let list = world
        .get(&format!("{}?{query}", world.path("v1", "events")))
        .await
        .ok();
    assert_eq!(crate::world::names(&list), ["e"]);
}

async fn access_reviews_allow(world: World) {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}},
    });
    let reply = world
        .post(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            &review,
        )
        .await;
    assert_eq!(reply.code, 201);
    assert_eq!(reply.body["status"]["allowed"], true);
    assert_eq!(reply.body["kind"], "SelfSubjectAccessReview");
}

async fn a_self_review_names_someone(world: World) {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let reply = world
        .post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &review)
        .await
        .ok();
    assert!(reply["status"]["userInfo"]["username"].is_string());
}

async fn a_service_gets_an_address(world: World) {
    let service = json!({"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}});
    let created = world
        .post(&world.path("v1", "services"), &service)
        .await
        .ok();
    let spec = &created["spec"];
    assert_eq!(
        spec["ports"],
        json!([{"port": 80, "protocol": "TCP", "targetPort": 80}])
    );
    assert_eq!(
        (&spec["type"], &spec["sessionAffinity"]),
        (&json!("ClusterIP"), &json!("None"))
    );
    assert_eq!(spec["clusterIPs"], json!([spec["clusterIP"]]));
    let mut update = service;
    update["spec"]["ports"][0]["port"] = 81.into();
    let updated = world
        .put(&world.path("v1", "services/s"), &update)
        .await
        .ok();
    assert_eq!(updated["spec"]["clusterIP"], spec["clusterIP"]);
}

fn pod() -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"automountServiceAccountToken": false, "containers": [{"name": "a", "image": "b"}]}})
}

async fn a_pod_gets_its_defaults(world: World) {
    world
        .until(&world.path("v1", "serviceaccounts/default"), |r| {
            r.code == 200
        })
        .await;
    let created = world.post(&world.path("v1", "pods"), &pod()).await.ok();
    let spec = &created["spec"];
    assert_eq!(spec["containers"][0]["imagePullPolicy"], "Always");
    assert_eq!(spec["serviceAccountName"], "default");
    assert_eq!(
        (
            &spec["enableServiceLinks"],
            &spec["preemptionPolicy"],
            &spec["priority"]
        ),
        (&json!(true), &json!("PreemptLowerPriority"), &json!(0))
    );
    assert_eq!(
        created["status"],
        json!({"phase": "Pending", "qosClass": "BestEffort"})
    );
    assert_eq!(created["metadata"]["generation"], 1);
    let tolerations: Vec<&Value> = spec["tolerations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["key"])
        .collect();
    assert_eq!(
        tolerations,
        [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable"
        ]
    );
}

async fn a_pods_spec_is_frozen(world: World) {
    world
        .until(&world.path("v1", "serviceaccounts/default"), |r| {
            r.code == 200
        })
        .await;
    world.post(&world.path("v1", "pods"), &pod()).await.ok();
    let path = world.path("v1", "pods/p");
    world
        .patch(&path, MERGE, &json!({"spec": {"hostNetwork": true}}))
        .await
        .refused(422, "Invalid");
    world
        .patch(&path, MERGE, &json!({"metadata": {"labels": {"a": "b"}}}))
        .await
        .ok();
}

async fn a_role_bindings_role_is_fixed(world: World) {
    let path = world.path("rbac.authorization.k8s.io/v1", "rolebindings");
    let binding = json!({"metadata": {"name": "b:x"}, "subjects": [],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}});
    world.post(&path, &binding).await.ok();
    let status = world
        .patch(
            &format!("{path}/b:x"),
            MERGE,
            &json!({"roleRef": {"name": "s"}}),
        )
        .await
        .refused(422, "Invalid");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("cannot change roleRef")
    );
}

async fn the_generations_of_kinds_without_one_stay_absent(world: World) {
    for (api_version, plural, object) in [
        ("v1", "secrets", json!({})),
        ("v1", "serviceaccounts", json!({})),
        (
            "rbac.authorization.k8s.io/v1",
            "roles",
            json!({"rules": []}),
        ),
        ("coordination.k8s.io/v1", "leases", json!({"spec": {}})),
    ] {
        let mut object = object;
        object["metadata"] = json!({"name": "x"});
        let created = world
            .post(&world.path(api_version, plural), &object)
            .await
            .ok();
        assert!(created["metadata"].get("generation").is_none(), "{plural}");
    }
}
