//! Requests that cannot be granted, and the Status they get.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{World, config_map, job};

promises![
    bad_names_are_invalid,
    bad_labels_are_invalid,
    bad_annotations_are_invalid,
    oversized_annotations_are_invalid,
    a_nameless_object_is_invalid,
    an_invalid_object_lists_its_causes,
    a_finalizer_without_a_domain_is_invalid,
    an_incomplete_owner_reference_is_invalid,
    an_unknown_path_is_not_found,
    an_unknown_resource_is_not_found,
    a_method_that_makes_no_sense_is_not_allowed,
    an_unknown_media_type_is_unsupported,
    an_unacceptable_answer_is_refused,
    broken_json_is_a_bad_request,
    a_wrong_type_is_a_bad_request,
    another_kind_is_a_bad_request,
    another_version_is_a_bad_request,
    another_namespace_in_the_body_is_a_bad_request,
    another_name_in_the_body_is_a_bad_request,
    a_huge_body_is_refused,
    a_version_on_a_new_object_is_refused,
];

fn cause(status: &Value, field: &str) -> String {
    let causes = status["details"]["causes"].as_array().expect("causes");
    let found = causes.iter().find(|c| c["field"] == field);
    found.unwrap_or_else(|| panic!("no cause for {field}: {status:#}"))["message"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn bad_names_are_invalid(world: World) {
    for name in ["Upper", "under_score", "-dash", "dot.", &"x".repeat(254)] {
        let status = world
            .post(&world.maps(), &config_map(name, json!({})))
            .await
            .refused(422, "Invalid");
        assert_eq!(status["details"]["kind"], "ConfigMap");
        cause(&status, "metadata.name");
    }
    let status = world
        .post(&world.maps(), &config_map("Upper", json!({})))
        .await
        .refused(422, "Invalid");
    assert_eq!(
        status["message"],
        "ConfigMap \"Upper\" is invalid: metadata.name: Invalid value: \"Upper\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    );
    let long = world
        .post(
            "/api/v1/namespaces",
            &json!({"metadata": {"name": "x".repeat(64)}}),
        )
        .await;
    let status = long.refused(422, "Invalid");
    assert!(
        cause(&status, "metadata.name").ends_with("must be no more than 63 characters"),
        "{status:#}"
    );
}

async fn bad_labels_are_invalid(world: World) {
    for (key, value) in [
        ("a b", "x"),
        ("a", "b c"),
        ("a", &"x".repeat(64)),
        ("/a", "x"),
        ("a/b/c", "x"),
    ] {
        let mut object = config_map("a", json!({}));
        object["metadata"]["labels"] = json!({key: value});
        let status = world
            .post(&world.maps(), &object)
            .await
            .refused(422, "Invalid");
        assert_eq!(
            status["details"]["causes"][0]["field"], "metadata.labels",
            "{status:#}"
        );
    }
}

async fn bad_annotations_are_invalid(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["annotations"] = json!({"a b": "x"});
    let status = world
        .post(&world.maps(), &object)
        .await
        .refused(422, "Invalid");
    assert!(
        cause(&status, "metadata.annotations")
            .starts_with("Invalid value: \"a b\": name part must consist of")
    );
}

async fn oversized_annotations_are_invalid(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["annotations"] = json!({"a": "x".repeat(256 * 1024)});
    let status = world
        .post(&world.maps(), &object)
        .await
        .refused(422, "Invalid");
    assert_eq!(
        cause(&status, "metadata.annotations"),
        "Too long: may not be more than 262144 bytes"
    );
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "FieldValueTooLong"
    );
}

async fn a_nameless_object_is_invalid(world: World) {
    let status = world
        .post(&world.maps(), &json!({"metadata": {}}))
        .await
        .refused(422, "Invalid");
    assert_eq!(
        cause(&status, "metadata.name"),
        "Required value: name or generateName is required"
    );
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "FieldValueRequired"
    );
}

async fn an_invalid_object_lists_its_causes(world: World) {
    let mut object = job("j");
    object["spec"]["template"]["spec"] =
        json!({"containers": [{"name": "a"}], "restartPolicy": "Always"});
    let status = world
        .post(&world.path("batch/v1", "jobs"), &object)
        .await
        .refused(422, "Invalid");
    assert_eq!(status["details"]["group"], "batch");
    assert_eq!(
        cause(&status, "spec.template.spec.containers[0].image"),
        "Required value"
    );
    cause(&status, "spec.template.spec.restartPolicy");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .starts_with("Job.batch \"j\" is invalid: ["),
        "{status:#}"
    );
}

async fn a_finalizer_without_a_domain_is_invalid(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["finalizers"] = json!(["plain"]);
    let status = world
        .post(&world.maps(), &object)
        .await
        .refused(422, "Invalid");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("name is neither a standard finalizer name nor is it fully qualified")
    );
}

async fn an_incomplete_owner_reference_is_invalid(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": ""}]);
    let status = world
        .post(&world.maps(), &object)
        .await
        .refused(422, "Invalid");
    cause(&status, "metadata.ownerReferences.uid");
}

async fn an_unknown_path_is_not_found(world: World) {
    assert_eq!(world.get("/nothing/here").await.code, 404);
    assert_eq!(world.get("/apis/nobody.example/v1").await.code, 404);
}

async fn an_unknown_resource_is_not_found(world: World) {
    let reply = world.get("/apis/batch/v1/wonders").await;
    assert_eq!(reply.code, 404);
}

async fn a_method_that_makes_no_sense_is_not_allowed(world: World) {
    let status = world
        .put(&world.maps(), &config_map("a", json!({})))
        .await
        .refused(405, "MethodNotAllowed");
    assert_eq!(
        status["message"],
        "the server does not allow this method on the requested resource"
    );
    world
        .delete("/api/v1/namespaces")
        .await
        .refused(405, "MethodNotAllowed");
}

async fn an_unknown_media_type_is_unsupported(world: World) {
    world.create_map("a", json!({})).await;
    let request = world
        .request("POST", &world.maps())
        .header("content-type", "text/csv")
        .body("a,b");
    world
        .send(request)
        .await
        .refused(415, "UnsupportedMediaType");
    let request = world
        .request("PATCH", &world.map("a"))
        .header("content-type", "application/json")
        .body("{}");
    world
        .send(request)
        .await
        .refused(415, "UnsupportedMediaType");
}

async fn an_unacceptable_answer_is_refused(world: World) {
    let request = world
        .request("GET", &world.maps())
        .header("accept", "text/csv");
    world.send(request).await.refused(406, "NotAcceptable");
}

async fn broken_json_is_a_bad_request(world: World) {
    let request = world
        .request("POST", &world.maps())
        .header("content-type", "application/json")
        .body("{\"a\":");
    world.send(request).await.refused(400, "BadRequest");
}

async fn a_wrong_type_is_a_bad_request(world: World) {
    let status = world
        .post(&world.maps(), &config_map("a", json!({"k": 1})))
        .await
        .refused(400, "BadRequest");
    let message = status["message"].as_str().unwrap();
    assert!(
        message.contains("ConfigMap in version \"v1\" cannot be handled as a ConfigMap"),
        "{message}"
    );
    assert!(
        message
            .contains("cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        "{message}"
    );
}

async fn another_kind_is_a_bad_request(world: World) {
    let mut object = config_map("a", json!({}));
    object["kind"] = "Secret".into();
    world
        .post(&world.maps(), &object)
        .await
        .refused(400, "BadRequest");
}

async fn another_version_is_a_bad_request(world: World) {
    let mut object = config_map("a", json!({}));
    object["apiVersion"] = "v2".into();
    world
        .post(&world.maps(), &object)
        .await
        .refused(400, "BadRequest");
}

async fn another_namespace_in_the_body_is_a_bad_request(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["namespace"] = "elsewhere".into();
    let status = world
        .post(&world.maps(), &object)
        .await
        .refused(400, "BadRequest");
    assert_eq!(
        status["message"],
        "the namespace of the provided object does not match the namespace sent on the request"
    );
}

async fn another_name_in_the_body_is_a_bad_request(world: World) {
    world.create_map("a", json!({})).await;
    let status = world
        .put(&world.map("a"), &config_map("b", json!({})))
        .await
        .refused(400, "BadRequest");
    assert_eq!(
        status["message"],
        "the name of the object (b) does not match the name on the URL (a)"
    );
}

async fn a_huge_body_is_refused(world: World) {
    let object = config_map("a", json!({"k": "x".repeat(3 * 1024 * 1024)}));
    world
        .post(&world.maps(), &object)
        .await
        .refused(413, "RequestEntityTooLarge");
    let object = config_map("a", json!({"k": "x".repeat(1024 * 1024 + 1)}));
    let status = world
        .post(&world.maps(), &object)
        .await
        .refused(422, "Invalid");
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "FieldValueTooLong"
    );
}

async fn a_version_on_a_new_object_is_refused(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["resourceVersion"] = "5".into();
    let reply = world.post(&world.maps(), &object).await;
    assert!(
        reply.body["message"]
            .as_str()
            .unwrap()
            .contains("resourceVersion should not be set on objects to be created")
    );
    assert_eq!(reply.code, 500);
}
