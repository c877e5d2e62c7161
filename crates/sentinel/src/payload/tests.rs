use super::*;

fn resource() -> Value {
    json!({
        "id": "c1", "kind": "Cluster", "href": "/api/hyperfleet/v1/clusters/c1", "generation": 3, "name": "one",
        "labels": {"region": "us-east"}, "spec": {"nodes": 3},
        "status": {"conditions": [{"type": "Reconciled", "status": "False"}]},
    })
}

fn build(data: Value) -> Value {
    let payload = Payload::compile(data.as_object(), "clusters").unwrap();
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let kept = Projection::read(&payload.projection().keep(&resource()));
    payload.build(&kept, "created", now)
}

fn refused(data: Value) -> String {
    Payload::compile(data.as_object(), "clusters")
        .unwrap_err()
        .to_string()
}

#[test]
fn without_message_data_an_event_has_what_adapters_of_every_version_look_for() {
    let payload = Payload::compile(None, "clusters").unwrap();
    let now = Time::UNIX_EPOCH;
    let expected = json!({
        "id": "c1", "kind": "Cluster", "href": "/api/hyperfleet/v1/clusters/c1", "generation": 3,
        "resource_type": "clusters", "resource_id": "c1", "reason": "created",
    });
    let kept = Projection::read(&payload.projection().keep(&resource()));
    assert_eq!(payload.build(&kept, "created", now), expected);
    let mut child = resource();
    child["owner_references"] = json!({"id": "p1", "kind": "Cluster", "href": "/p1"});
    let kept = Projection::read(&payload.projection().keep(&child));
    assert_eq!(
        payload.build(&kept, "created", now)["owner_references"]["id"],
        "p1"
    );
}

#[test]
fn paths_of_the_first_documents_work_also_below_metadata() {
    assert_eq!(
        build(json!({
            "resource_id": ".id", "resource_type": ".kind", "generation": ".generation",
            "region": ".metadata.labels.region", "same": ".labels.region", "missing": ".labels.zone",
        })),
        json!({
            "resource_id": "c1", "resource_type": "Cluster", "generation": 3,
            "region": "us-east", "same": "us-east",
        })
    );
}

#[test]
fn expressions_literals_and_nested_objects_are_filled_in() {
    assert_eq!(
        build(json!({
            "id": "resource.id", "constant": "\"text\"", "number": 7, "flag": true, "why": "reason",
            "twice": "resource.spec.nodes * 2",
            "status": {"reconciled": "condition('Reconciled').status", "at": "now"},
        })),
        json!({
            "id": "c1", "constant": "text", "number": 7, "flag": true, "why": "created", "twice": 6,
            "status": {"reconciled": "False", "at": "2026-01-01T00:00:00Z"},
        })
    );
}

#[test]
fn what_cannot_be_filled_in_is_left_out_and_so_is_an_object_without_anything() {
    assert_eq!(
        build(
            json!({"id": "resource.id", "gone": "resource.nothing.there", "deep": {"gone": "resource.nope"}})
        ),
        json!({"id": "c1"})
    );
}

#[test]
fn mistakes_are_found_when_it_is_loaded() {
    assert!(refused(json!({"id": ""})).contains("message_data.id is empty"));
    assert!(refused(json!({"a": {"b": null}})).contains("message_data.a.b is empty"));
    assert!(refused(json!({"a": []})).contains("message_data.a is a list"));
    assert!(refused(json!({"a": ".b..c"})).contains("`.b..c` is not a path"));
    let typo = refused(json!({"a": "resuorce.id"}));
    assert!(
        typo.starts_with("message_data.a: ") && typo.contains("did you mean `resource`?"),
        "{typo}"
    );
    assert!(refused(json!({"a": "resource.id +"})).starts_with("message_data.a: "));
}

#[test]
fn only_paths_are_kept_when_there_are_only_paths() {
    let payload = |data: Value| {
        Payload::compile(data.as_object(), "clusters")
            .unwrap()
            .projection()
    };
    assert!(matches!(
        payload(json!({"a": {"b": ".id"}, "c": 1})),
        Projection::Paths(_)
    ));
    assert_eq!(
        payload(json!({"a": ".id", "b": "resource.id"})),
        Projection::All
    );
}
