//! Server-side apply.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{APPLY, MERGE, World, config_map, deployment, managed};

promises![
    applying_creates_what_is_missing,
    applying_the_same_again_changes_nothing,
    a_field_no_longer_applied_goes,
    a_field_someone_else_owns_stays,
    changing_a_field_of_another_manager_conflicts,
    several_conflicts_are_listed,
    agreeing_on_a_value_shares_it,
    force_takes_the_field,
    an_update_takes_fields_from_the_applier,
    conflicts_name_updaters_with_their_version,
    apply_needs_a_field_manager,
    apply_accepts_yaml,
    applied_configurations_carry_no_managed_fields,
    apply_checks_kind_and_version,
    containers_are_owned_one_by_one,
    ports_with_the_default_protocol_are_the_same,
    removing_the_last_owned_item_removes_it,
    finalizers_are_a_set,
    an_atomic_list_has_one_owner,
    labels_of_several_managers_live_together,
    apply_to_status_records_the_subresource,
    a_dry_run_apply_stores_nothing,
    an_applied_uid_must_exist,
    lists_keep_the_applied_order,
    defaults_are_owned_by_nobody,
    clearing_managed_fields_resets_ownership,
    an_object_without_owners_gets_one_with_its_first_apply,
    many_update_managers_are_folded,
    an_unknown_field_cannot_be_applied,
    a_repeated_list_key_cannot_be_applied,
];

fn version(object: &Value) -> &Value {
    &object["metadata"]["resourceVersion"]
}

async fn applying_creates_what_is_missing(world: World) {
    let reply = world
        .apply(&world.map("a"), "me", &config_map("a", json!({"x": "1"})))
        .await;
    assert_eq!(reply.code, 201);
    let entry = managed(&reply.body, "me", "Apply").expect("an entry");
    assert_eq!(entry["fieldsV1"], json!({"f:data": {"f:x": {}}}));
    assert_eq!(entry["apiVersion"], "v1");
    assert!(entry["time"].is_string());
}

async fn applying_the_same_again_changes_nothing(world: World) {
    let config = config_map("a", json!({"x": "1"}));
    let first = world.apply(&world.map("a"), "me", &config).await.ok();
    let reply = world.apply(&world.map("a"), "me", &config).await;
    assert_eq!(reply.code, 200);
    assert_eq!(version(&reply.body), version(&first));
    assert_eq!(reply.body, first);
}

async fn a_field_no_longer_applied_goes(world: World) {
    world
        .apply(
            &world.map("a"),
            "me",
            &config_map("a", json!({"x": "1", "y": "1"})),
        )
        .await
        .ok();
    let applied = world
        .apply(&world.map("a"), "me", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    assert_eq!(applied["data"], json!({"x": "1"}));
    let nothing = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let applied = world.apply(&world.map("a"), "me", &nothing).await.ok();
    assert!(applied.get("data").is_none(), "{applied:#}");
}

async fn a_field_someone_else_owns_stays(world: World) {
    world
        .apply(
            &world.map("a"),
            "one",
            &config_map("a", json!({"x": "1", "y": "1"})),
        )
        .await
        .ok();
    world
        .apply(&world.map("a"), "two", &config_map("a", json!({"y": "1"})))
        .await
        .ok();
    let applied = world
        .apply(&world.map("a"), "one", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    assert_eq!(applied["data"], json!({"x": "1", "y": "1"}));
}

async fn changing_a_field_of_another_manager_conflicts(world: World) {
    world
        .apply(&world.map("a"), "one", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    let status = world
        .apply(&world.map("a"), "two", &config_map("a", json!({"x": "2"})))
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["message"],
        "Apply failed with 1 conflict: conflict with \"one\": .data.x"
    );
    assert_eq!(
        status["details"],
        json!({"causes": [{"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.x"}]})
    );
}

async fn several_conflicts_are_listed(world: World) {
    world
        .apply(
            &world.map("a"),
            "one",
            &config_map("a", json!({"x": "1", "y": "1"})),
        )
        .await
        .ok();
    let config = config_map("a", json!({"x": "2", "y": "2"}));
    let status = world
        .apply(&world.map("a"), "two", &config)
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["message"],
        "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.x\n- .data.y"
    );
    assert_eq!(
        status["details"]["causes"].as_array().map(Vec::len),
        Some(2)
    );
}

async fn agreeing_on_a_value_shares_it(world: World) {
    world
        .apply(&world.map("a"), "one", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    let applied = world
        .apply(&world.map("a"), "two", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    for manager in ["one", "two"] {
        assert_eq!(
            managed(&applied, manager, "Apply").unwrap()["fieldsV1"],
            json!({"f:data": {"f:x": {}}})
        );
    }
}

async fn force_takes_the_field(world: World) {
    world
        .apply(
            &world.map("a"),
            "one",
            &config_map("a", json!({"x": "1", "y": "1"})),
        )
        .await
        .ok();
    let applied = world
        .force(&world.map("a"), "two", &config_map("a", json!({"x": "2"})))
        .await
        .ok();
    assert_eq!(applied["data"], json!({"x": "2", "y": "1"}));
    assert_eq!(
        managed(&applied, "one", "Apply").unwrap()["fieldsV1"],
        json!({"f:data": {"f:y": {}}})
    );
    assert_eq!(
        managed(&applied, "two", "Apply").unwrap()["fieldsV1"],
        json!({"f:data": {"f:x": {}}})
    );
}

async fn an_update_takes_fields_from_the_applier(world: World) {
    world
        .apply(
            &world.map("a"),
            "one",
            &config_map("a", json!({"x": "1", "y": "1"})),
        )
        .await
        .ok();
    let path = format!("{}?fieldManager=hand", world.map("a"));
    let patched = world
        .patch(&path, MERGE, &json!({"data": {"x": "9"}}))
        .await
        .ok();
    assert_eq!(
        managed(&patched, "one", "Apply").unwrap()["fieldsV1"],
        json!({"f:data": {"f:y": {}}})
    );
    assert_eq!(
        managed(&patched, "hand", "Update").unwrap()["fieldsV1"],
        json!({"f:data": {"f:x": {}}})
    );
}

async fn conflicts_name_updaters_with_their_version(world: World) {
    let path = format!("{}?fieldManager=hand", world.maps());
    world
        .post(&path, &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    let status = world
        .apply(&world.map("a"), "two", &config_map("a", json!({"x": "2"})))
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["message"],
        "Apply failed with 1 conflict: conflict with \"hand\" using v1: .data.x"
    );
}

async fn apply_needs_a_field_manager(world: World) {
    let reply = world
        .patch(&world.map("a"), APPLY, &config_map("a", json!({})))
        .await;
    let status = reply.refused(422, "Invalid");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("fieldManager: Required value: is required for apply patch")
    );
}

async fn apply_accepts_yaml(world: World) {
    let request = world
        .request("PATCH", &format!("{}?fieldManager=me", world.map("a")))
        .header("content-type", APPLY);
    let body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: \"1\"\n";
    assert_eq!(
        world.send(request.body(body)).await.ok()["data"],
        json!({"x": "1"})
    );
}

async fn applied_configurations_carry_no_managed_fields(world: World) {
    let mut config = config_map("a", json!({}));
    config["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Apply"}]);
    let status = world
        .apply(&world.map("a"), "me", &config)
        .await
        .refused(400, "BadRequest");
    assert_eq!(status["message"], "metadata.managedFields must be nil");
}

async fn apply_checks_kind_and_version(world: World) {
    let mut config = config_map("a", json!({}));
    config["apiVersion"] = "v2".into();
    assert_eq!(world.apply(&world.map("a"), "me", &config).await.code, 400);
    assert_eq!(
        world
            .apply(&world.map("a"), "me", &json!({"metadata": {"name": "a"}}))
            .await
            .code,
        400
    );
    world
        .apply(&world.map("b"), "me", &config_map("a", json!({})))
        .await
        .refused(400, "BadRequest");
}

fn with_containers(containers: Value) -> Value {
    let mut object = deployment("d");
    object["spec"]["template"]["spec"]["containers"] = containers;
    object
}

fn images(object: &Value) -> Vec<&str> {
    let list = object["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap();
    list.iter().map(|c| c["image"].as_str().unwrap()).collect()
}

async fn containers_are_owned_one_by_one(world: World) {
    let path = world.path("apps/v1", "deployments/d");
    world
        .apply(
            &path,
            "one",
            &with_containers(json!([{"name": "a", "image": "a:1"}])),
        )
        .await
        .ok();
    let other = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": [{"name": "b", "image": "b:1"}]}}},
    });
    let applied = world.apply(&path, "two", &other).await.ok();
    assert_eq!(images(&applied), ["a:1", "b:1"]);
    let fields = &managed(&applied, "two", "Apply").unwrap()["fieldsV1"];
    assert_eq!(
        fields,
        &json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
            "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:image": {}},
        }}}}})
    );
    let mut conflicting = other.clone();
    conflicting["spec"]["template"]["spec"]["containers"][0] = json!({"name": "a", "image": "a:2"});
    let status = world
        .apply(&path, "two", &conflicting)
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["details"]["causes"][0]["field"],
        ".spec.template.spec.containers[name=\"a\"].image"
    );
}

async fn ports_with_the_default_protocol_are_the_same(world: World) {
    let path = world.path("apps/v1", "deployments/d");
    let config =
        |ports: Value| with_containers(json!([{"name": "a", "image": "a:1", "ports": ports}]));
    world
        .apply(&path, "one", &config(json!([{"containerPort": 80}])))
        .await
        .ok();
    let applied = world
        .apply(
            &path,
            "two",
            &config(json!([{"containerPort": 80, "protocol": "TCP"}])),
        )
        .await
        .ok();
    let ports = &applied["spec"]["template"]["spec"]["containers"][0]["ports"];
    assert_eq!(ports, &json!([{"containerPort": 80, "protocol": "TCP"}]));
}

async fn removing_the_last_owned_item_removes_it(world: World) {
    let path = world.path("apps/v1", "deployments/d");
    let both =
        with_containers(json!([{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]));
    world.apply(&path, "one", &both).await.ok();
    let applied = world
        .apply(
            &path,
            "one",
            &with_containers(json!([{"name": "a", "image": "a:1"}])),
        )
        .await
        .ok();
    assert_eq!(
        images(&applied),
        ["a:1"],
        "the defaulted fields of b go with it"
    );
}

async fn finalizers_are_a_set(world: World) {
    let config = |finalizers: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": finalizers}});
    world
        .apply(&world.map("a"), "one", &config(json!(["example.com/one"])))
        .await
        .ok();
    let applied = world
        .apply(&world.map("a"), "two", &config(json!(["example.com/two"])))
        .await
        .ok();
    assert_eq!(
        applied["metadata"]["finalizers"],
        json!(["example.com/one", "example.com/two"])
    );
    assert_eq!(
        managed(&applied, "two", "Apply").unwrap()["fieldsV1"],
        json!({"f:metadata": {"f:finalizers": {"v:\"example.com/two\"": {}}}})
    );
    let nothing = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    let applied = world.apply(&world.map("a"), "one", &nothing).await.ok();
    assert_eq!(
        applied["metadata"]["finalizers"],
        json!(["example.com/two"])
    );
    world.apply(&world.map("a"), "two", &nothing).await.ok();
}

async fn an_atomic_list_has_one_owner(world: World) {
    let path = world.path("apps/v1", "deployments/d");
    let config = |key: &str| {
        let mut object = with_containers(json!([{"name": "a", "image": "a:1"}]));
        object["spec"]["template"]["spec"]["tolerations"] =
            json!([{"key": key, "operator": "Exists"}]);
        object
    };
    world.apply(&path, "one", &config("x")).await.ok();
    let status = world
        .apply(&path, "two", &config("y"))
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["details"]["causes"][0]["field"],
        ".spec.template.spec.tolerations"
    );
}

async fn labels_of_several_managers_live_together(world: World) {
    let config = |labels: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": labels}});
    world
        .apply(&world.map("a"), "one", &config(json!({"x": "1"})))
        .await
        .ok();
    let applied = world
        .apply(&world.map("a"), "two", &config(json!({"y": "1"})))
        .await
        .ok();
    assert_eq!(applied["metadata"]["labels"], json!({"x": "1", "y": "1"}));
    let applied = world
        .apply(&world.map("a"), "two", &config(json!({})))
        .await
        .ok();
    assert_eq!(applied["metadata"]["labels"], json!({"x": "1"}));
}

async fn apply_to_status_records_the_subresource(world: World) {
    let path = world.path("v1", "persistentvolumeclaims");
    let claim = json!({"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}});
    world.post(&path, &claim).await.ok();
    let config = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "status": {"conditions": [{"type": "Custom", "status": "True", "lastTransitionTime": null, "lastProbeTime": null}]},
    });
    let applied = world
        .force(&format!("{path}/c/status"), "me", &config)
        .await
        .ok();
    assert_eq!(applied["status"]["conditions"][0]["type"], "Custom");
    assert_eq!(
        managed(&applied, "me", "Apply").unwrap()["subresource"],
        "status"
    );
}

async fn a_dry_run_apply_stores_nothing(world: World) {
    let path = format!("{}?fieldManager=me&dryRun=All", world.map("a"));
    let reply = world
        .patch(&path, APPLY, &config_map("a", json!({"x": "1"})))
        .await;
    assert_eq!(reply.code, 201);
    world.get(&world.map("a")).await.refused(404, "NotFound");
    let created = world.create_map("a", json!({"x": "1"})).await;
    let path = format!("{path}&force=true");
    let dry = world
        .patch(&path, APPLY, &config_map("a", json!({"x": "2"})))
        .await
        .ok();
    assert_eq!(dry["data"]["x"], "2");
    assert_eq!(world.get(&world.map("a")).await.ok(), created);
}

async fn an_applied_uid_must_exist(world: World) {
    let mut config = config_map("a", json!({}));
    config["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000".into();
    world
        .apply(&world.map("a"), "me", &config)
        .await
        .refused(409, "Conflict");
}

async fn lists_keep_the_applied_order(world: World) {
    let path = world.path("apps/v1", "deployments/d");
    let config = |names: &[&str]| {
        let containers: Vec<Value> = names
            .iter()
            .map(|n| json!({"name": n, "image": format!("{n}:1")}))
            .collect();
        with_containers(containers.into())
    };
    world
        .apply(&path, "one", &config(&["a", "b", "c"]))
        .await
        .ok();
    let applied = world
        .apply(&path, "one", &config(&["c", "x", "a", "b"]))
        .await
        .ok();
    assert_eq!(images(&applied), ["c:1", "x:1", "a:1", "b:1"]);
}

async fn defaults_are_owned_by_nobody(world: World) {
    let path = world.path("apps/v1", "deployments/d");
    let applied = world.apply(&path, "one", &deployment("d")).await.ok();
    assert_eq!(applied["spec"]["replicas"], 1);
    let fields = &managed(&applied, "one", "Apply").unwrap()["fieldsV1"]["f:spec"];
    assert!(fields.get("f:replicas").is_none(), "{fields}");
    let mut other = deployment("d");
    other["spec"]["replicas"] = 3.into();
    let applied = world.apply(&path, "two", &other).await.ok();
    assert_eq!(applied["spec"]["replicas"], 3, "nobody owned the default");
}

async fn clearing_managed_fields_resets_ownership(world: World) {
    world
        .apply(&world.map("a"), "one", &config_map("a", json!({"x": "1"})))
        .await
        .ok();
    let patched = world
        .patch(
            &world.map("a"),
            MERGE,
            &json!({"metadata": {"managedFields": [{}]}}),
        )
        .await
        .ok();
    assert!(
        patched["metadata"].get("managedFields").is_none(),
        "{patched:#}"
    );
}

async fn an_object_without_owners_gets_one_with_its_first_apply(world: World) {
    world.create_map("a", json!({})).await;
    let patched = world
        .patch(&world.map("a"), MERGE, &json!({"data": {"x": "1"}}))
        .await
        .ok();
    assert!(
        patched["metadata"].get("managedFields").is_none(),
        "{patched:#}"
    );
    let status = world
        .apply(&world.map("a"), "me", &config_map("a", json!({"x": "2"})))
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["message"],
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.x"
    );
}

async fn many_update_managers_are_folded(world: World) {
    world.create_map("a", json!({"x": "y"})).await;
    let mut last = Value::Null;
    for index in 0..12 {
        let path = format!("{}?fieldManager=m{index:02}", world.map("a"));
        last = world
            .patch(&path, MERGE, &json!({"data": {format!("k{index}"): "v"}}))
            .await
            .ok();
    }
    let entries = last["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 10, "{entries:#?}");
    assert!(managed(&last, "ancient-changes", "Update").is_some());
}

async fn an_unknown_field_cannot_be_applied(world: World) {
    let mut config = config_map("a", json!({}));
    config["surprise"] = "x".into();
    let reply = world.apply(&world.map("a"), "me", &config).await;
    assert_eq!(reply.code, 500, "{:#}", reply.body);
    assert!(
        reply.body["message"]
            .as_str()
            .unwrap()
            .contains(".surprise: field not declared in schema"),
        "{:#}",
        reply.body
    );
}

async fn a_repeated_list_key_cannot_be_applied(world: World) {
    let config =
        with_containers(json!([{"name": "a", "image": "a:1"}, {"name": "a", "image": "a:2"}]));
    let reply = world
        .apply(&world.path("apps/v1", "deployments/d"), "me", &config)
        .await;
    assert_eq!(reply.code, 500, "{:#}", reply.body);
    assert!(
        reply.body["message"]
            .as_str()
            .unwrap()
            .contains("duplicate entries for key [name=\"a\"]"),
        "{:#}",
        reply.body
    );
}
