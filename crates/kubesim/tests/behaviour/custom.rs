//! Custom resources.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{MERGE, STRATEGIC, World, names, unique};

promises![
    a_definition_is_established_and_its_kind_served,
    all_versions_share_their_objects,
    unknown_fields_of_custom_objects_are_pruned,
    preserved_fields_are_kept,
    schema_violations_are_invalid,
    defaults_of_the_schema_are_filled_in,
    status_of_a_custom_kind_is_apart,
    custom_objects_count_generations,
    an_update_of_a_custom_object_needs_a_version,
    custom_lists_merge_by_their_keys,
    deleting_a_definition_deletes_its_objects,
    a_definition_must_be_named_after_its_kind,
    custom_kinds_take_no_strategic_patch,
    custom_scale_follows_its_paths,
];

struct Kind {
    group: String,
    definition: Value,
}

impl Kind {
    fn path(&self, world: &World, rest: &str) -> String {
        format!(
            "/apis/{}/v1/namespaces/{}/{rest}",
            self.group, world.namespace
        )
    }

    fn object(&self, name: &str, spec: Value) -> Value {
        json!({"apiVersion": format!("{}/v1", self.group), "kind": "Widget", "metadata": {"name": name}, "spec": spec})
    }

    fn definition_path(&self) -> String {
        format!(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{}",
            self.group
        )
    }
}

/// Serves a kind of this test's own and waits until it is.
async fn served(world: &World) -> Kind {
    let group = format!("{}.example.com", unique("g"));
    let spec = json!({
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 10},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "name": {"type": "string", "pattern": "^[a-z]+$"},
            "replicas": {"type": "integer"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
                "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}},
        },
    });
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {
        "spec": spec,
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}});
    let subresources = json!({"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}});
    let version = |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": schema, "subresources": subresources});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version("v1", true), version("v1beta1", false)],
        },
    });
    let kind = Kind { group, definition };
    world
        .post(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &kind.definition,
        )
        .await
        .ok();
    let path = kind.definition_path();
    world
        .until(&path, |r| condition(&r.body, "Established") == "True")
        .await;
    let list = kind.path(world, "widgets");
    world.until(&list, |r| r.code == 200).await;
    kind
}

fn condition(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let found = conditions.iter().find(|c| c["type"] == kind);
    found
        .and_then(|c| c["status"].as_str())
        .unwrap_or_default()
        .to_owned()
}

async fn a_definition_is_established_and_its_kind_served(world: World) {
    let kind = served(&world).await;
    let definition = world.get(&kind.definition_path()).await.ok();
    assert_eq!(condition(&definition, "NamesAccepted"), "True");
    assert_eq!(definition["spec"]["names"]["singular"], "widget");
    assert_eq!(definition["spec"]["names"]["listKind"], "WidgetList");
    assert_eq!(definition["status"]["storedVersions"], json!(["v1"]));
    let created = world
        .post(
            &kind.path(&world, "widgets"),
            &kind.object("a", json!({"size": 1})),
        )
        .await
        .ok();
    assert_eq!(created["kind"], "Widget");
    let list = world.get(&kind.path(&world, "widgets")).await.ok();
    assert_eq!(list["kind"], "WidgetList");
    assert_eq!(
        list["items"][0]["kind"], "Widget",
        "items of custom lists carry their kind"
    );
    let resources = world.get(&format!("/apis/{}/v1", kind.group)).await.ok();
    let found: Vec<&Value> = resources["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["name"])
        .collect();
    assert!(
        found.contains(&&json!("widgets")) && found.contains(&&json!("widgets/status")),
        "{found:?}"
    );
}

async fn all_versions_share_their_objects(world: World) {
    let kind = served(&world).await;
    world
        .post(
            &kind.path(&world, "widgets"),
            &kind.object("a", json!({"size": 1})),
        )
        .await
        .ok();
    let path = kind.path(&world, "widgets/a").replace("/v1/", "/v1beta1/");
    let object = world.get(&path).await.ok();
    assert_eq!(object["apiVersion"], format!("{}/v1beta1", kind.group));
}

async fn unknown_fields_of_custom_objects_are_pruned(world: World) {
    let kind = served(&world).await;
    let object = kind.object("a", json!({"size": 1, "surprise": true}));
    let reply = world.post(&kind.path(&world, "widgets"), &object).await;
    assert_eq!(
        reply.warnings,
        ["299 - \"unknown field \\\"spec.surprise\\\"\""]
    );
    assert!(reply.ok()["spec"].get("surprise").is_none());
    let strict = format!("{}?fieldValidation=Strict", kind.path(&world, "widgets"));
    world
        .post(
            &strict,
            &kind.object("b", json!({"size": 1, "surprise": true})),
        )
        .await
        .refused(400, "BadRequest");
}

async fn preserved_fields_are_kept(world: World) {
    let kind = served(&world).await;
    let object = kind.object("a", json!({"size": 1, "free": {"any": ["thing", 1]}}));
    let created = world
        .post(&kind.path(&world, "widgets"), &object)
        .await
        .ok();
    assert_eq!(created["spec"]["free"], json!({"any": ["thing", 1]}));
}

async fn schema_violations_are_invalid(world: World) {
    let kind = served(&world).await;
    for (spec, field) in [
        (json!({}), "spec.size"),
        (json!({"size": 0}), "spec.size"),
        (json!({"size": 11}), "spec.size"),
        (json!({"size": "big"}), "spec.size"),
        (json!({"size": 1, "colour": "green"}), "spec.colour"),
        (json!({"size": 1, "name": "UPPER"}), "spec.name"),
    ] {
        let status = world
            .post(&kind.path(&world, "widgets"), &kind.object("a", spec))
            .await
            .refused(422, "Invalid");
        assert_eq!(status["details"]["causes"][0]["field"], field, "{status:#}");
        assert_eq!(status["details"]["kind"], "Widget");
    }
}

async fn defaults_of_the_schema_are_filled_in(world: World) {
    let kind = served(&world).await;
    let created = world
        .post(
            &kind.path(&world, "widgets"),
            &kind.object("a", json!({"size": 1})),
        )
        .await
        .ok();
    assert_eq!(created["spec"]["colour"], "red");
}

async fn status_of_a_custom_kind_is_apart(world: World) {
    let kind = served(&world).await;
    let path = kind.path(&world, "widgets");
    let mut object = kind.object("a", json!({"size": 1}));
    object["status"] = json!({"ready": true});
    let created = world.post(&path, &object).await.ok();
    assert!(created.get("status").is_none());
    let patch =
        json!({"status": {"ready": true}, "spec": {"size": 5}, "metadata": {"labels": {"a": "b"}}});
    let patched = world
        .patch(&format!("{path}/a/status"), MERGE, &patch)
        .await
        .ok();
    assert_eq!(
        (&patched["status"], &patched["spec"]["size"]),
        (&json!({"ready": true}), &json!(1))
    );
    assert!(patched["metadata"].get("labels").is_none());
    let patched = world
        .patch(
            &format!("{path}/a"),
            MERGE,
            &json!({"status": {"ready": false}}),
        )
        .await
        .ok();
    assert_eq!(patched["status"], json!({"ready": true}));
}

async fn custom_objects_count_generations(world: World) {
    let kind = served(&world).await;
    let path = kind.path(&world, "widgets");
    let created = world
        .post(&path, &kind.object("a", json!({"size": 1})))
        .await
        .ok();
    assert_eq!(created["metadata"]["generation"], 1);
    let path = format!("{path}/a");
    let patched = world
        .patch(&path, MERGE, &json!({"spec": {"size": 2}}))
        .await
        .ok();
    assert_eq!(patched["metadata"]["generation"], 2);
    let patched = world
        .patch(&path, MERGE, &json!({"metadata": {"labels": {"a": "b"}}}))
        .await
        .ok();
    assert_eq!(patched["metadata"]["generation"], 2);
    let patched = world
        .patch(
            &format!("{path}/status"),
            MERGE,
            &json!({"status": {"x": 1}}),
        )
        .await
        .ok();
    assert_eq!(patched["metadata"]["generation"], 2);
}

async fn an_update_of_a_custom_object_needs_a_version(world: World) {
    let kind = served(&world).await;
    let path = kind.path(&world, "widgets");
    world
        .post(&path, &kind.object("a", json!({"size": 1})))
        .await
        .ok();
    let status = world
        .put(&format!("{path}/a"), &kind.object("a", json!({"size": 2})))
        .await
        .refused(422, "Invalid");
    assert!(
        status["message"].as_str().unwrap().contains(
            "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        ),
        "{status:#}"
    );
}

async fn custom_lists_merge_by_their_keys(world: World) {
    let kind = served(&world).await;
    let path = kind.path(&world, "widgets/a");
    world
        .apply(
            &path,
            "one",
            &kind.object("a", json!({"size": 1, "parts": [{"id": "x", "n": 1}]})),
        )
        .await
        .ok();
    let other = json!({"apiVersion": format!("{}/v1", kind.group), "kind": "Widget", "metadata": {"name": "a"},
        "spec": {"parts": [{"id": "y", "n": 2}]}});
    let applied = world.apply(&path, "two", &other).await.ok();
    assert_eq!(
        applied["spec"]["parts"],
        json!([{"id": "x", "n": 1}, {"id": "y", "n": 2}])
    );
}

async fn deleting_a_definition_deletes_its_objects(world: World) {
    let kind = served(&world).await;
    world
        .post(
            &kind.path(&world, "widgets"),
            &kind.object("a", json!({"size": 1})),
        )
        .await
        .ok();
    let deleting = world.delete(&kind.definition_path()).await.ok();
    assert_eq!(
        deleting["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    world.gone(&kind.definition_path()).await;
    world
        .until(&kind.path(&world, "widgets"), |r| r.code == 404)
        .await;
    world
        .post(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &kind.definition,
        )
        .await
        .ok();
    let list = world
        .until(&kind.path(&world, "widgets"), |r| r.code == 200)
        .await
        .body;
    assert_eq!(names(&list), Vec::<String>::new());
}

async fn a_definition_must_be_named_after_its_kind(world: World) {
    let kind = Kind {
        group: format!("{}.example.com", unique("g")),
        definition: Value::Null,
    };
    let definition = json!({
        "metadata": {"name": format!("other.{}", kind.group)},
        "spec": {"group": kind.group, "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    });
    let reply = world
        .post(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &definition,
        )
        .await;
    let status = reply.refused(422, "Invalid");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("must be spec.names.plural+\".\"+spec.group")
    );
}

async fn custom_kinds_take_no_strategic_patch(world: World) {
    let kind = served(&world).await;
    let path = kind.path(&world, "widgets");
    world
        .post(&path, &kind.object("a", json!({"size": 1})))
        .await
        .ok();
    world
        .patch(&format!("{path}/a"), STRATEGIC, &json!({}))
        .await
        .refused(415, "UnsupportedMediaType");
}

async fn custom_scale_follows_its_paths(world: World) {
    let kind = served(&world).await;
    let path = kind.path(&world, "widgets");
    world
        .post(&path, &kind.object("a", json!({"size": 1, "replicas": 2})))
        .await
        .ok();
    assert_eq!(
        world.get(&format!("{path}/a/scale")).await.ok()["spec"]["replicas"],
        2
    );
    world
        .patch(
            &format!("{path}/a/scale"),
            MERGE,
            &json!({"spec": {"replicas": 4}}),
        )
        .await
        .ok();
    assert_eq!(
        world.get(&format!("{path}/a")).await.ok()["spec"]["replicas"],
        4
    );
}
