//! Values that Secrets and ConfigMaps hold.

use hyperfleet_adapter::{Outcome, Status};
use serde_json::json;

use crate::world::{World, cluster, condition, event, handle, message};

const TASK: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - {name: token, source: secret.default.registry.tls.key, required: true}
  - {name: copy, source: token}
  - {name: mixed, source: {expression: "'Bearer ' + token"}}
  - name: zone
    source: {configmap: {namespace: default, name: "zones-{{ .clusterId }}", key: zone}}
    default: nowhere
preconditions:
  - name: known
    expression: mixed == "Bearer wrong" || zone == "a"
  - name: alsoKnown
    conditions: [{field: copy, operator: equals, value: other}]
"#;

async fn world() -> World {
    let world = World::start().await;
    world.api.set("s1", cluster("s1", 1));
    // "s3cr3t-value"
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "registry", "namespace": "default"},
        "data": {"tls.key": "czNjcjN0LXZhbHVl"}});
    world.transport.create(&secret).await.unwrap();
    world
}

#[tokio::test]
async fn values_of_secrets_are_read_for_every_event_and_never_shown() {
    let world = world().await;
    let engine = world.engine(TASK);
    let run = handle(&engine, &event("s1", 1)).await;
    assert_eq!(
        run.outcome,
        Outcome::Done(Status::Skipped),
        "{:?}",
        run.fault
    );
    let said = message(&world.api.last_report(), "Applied");
    assert!(
        said.contains("'known' not met") && said.contains("zone is \"nowhere\""),
        "{said}"
    );
    assert!(!said.contains("s3cr3t"), "{said}");

    let zones = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "zones-s1", "namespace": "default"},
        "data": {"zone": "a"}});
    world.transport.create(&zones).await.unwrap();
    handle(&engine, &event("s1", 1)).await;
    let said = message(&world.api.last_report(), "Applied");
    assert!(said.contains("'alsoKnown' not met"), "{said}");
    assert!(!said.contains("s3cr3t"), "{said}");
}

#[tokio::test]
async fn a_secret_that_is_not_there_fails_the_event_and_says_which() {
    let world = world().await;
    let task = TASK.replace("registry.tls.key", "registry.tls.crt");
    let run = handle(&world.engine(&task), &event("s1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    assert_eq!(condition(&report, "Health").1, "ParameterExtractionFailed");
    let said = message(&report, "Health");
    assert!(
        said.contains("Secret default/registry has no key `tls.crt`"),
        "{said}"
    );
}
