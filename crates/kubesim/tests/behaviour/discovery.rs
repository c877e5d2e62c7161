//! Discovery, version, health, tables.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{World, job};

promises![
    aggregated_discovery_lists_resources,
    older_discovery_lists_resources,
    the_version_is_told,
    health_endpoints_answer_ok,
    a_table_has_columns_and_rows,
    a_job_table_shows_completions,
    partial_metadata_has_no_spec,
    openapi_knows_field_validation,
];

const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

async fn aggregated_discovery_lists_resources(world: World) {
    let reply = world
        .send(world.request("GET", "/apis").header("accept", AGGREGATED))
        .await
        .ok();
    assert_eq!(
        (&reply["kind"], &reply["apiVersion"]),
        (
            &json!("APIGroupDiscoveryList"),
            &json!("apidiscovery.k8s.io/v2")
        )
    );
    let groups = reply["items"].as_array().unwrap();
    let batch = groups
        .iter()
        .find(|g| g["metadata"]["name"] == "batch")
        .expect("the batch group");
    let jobs = batch["versions"][0]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["resource"] == "jobs")
        .unwrap();
    assert_eq!(jobs["scope"], "Namespaced");
    assert_eq!(jobs["singularResource"], "job");
    assert_eq!(jobs["responseKind"]["kind"], "Job");
    assert_eq!(
        jobs["verbs"],
        json!([
            "create",
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "update",
            "watch"
        ])
    );
    assert_eq!(jobs["subresources"][0]["subresource"], "status");
    let core = world
        .send(world.request("GET", "/api").header("accept", AGGREGATED))
        .await
        .ok();
    let resources = core["items"][0]["versions"][0]["resources"]
        .as_array()
        .unwrap()
        .clone();
    let maps = resources
        .iter()
        .find(|r| r["resource"] == "configmaps")
        .unwrap();
    assert_eq!(maps["shortNames"], json!(["cm"]));
}

async fn older_discovery_lists_resources(world: World) {
    assert_eq!(world.get("/api").await.ok()["versions"], json!(["v1"]));
    let groups = world.get("/apis").await.ok();
    assert_eq!(groups["kind"], "APIGroupList");
    let list = world.get("/apis/apps/v1").await.ok();
    let find = |name: &str| {
        list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["name"] == name)
            .cloned()
            .unwrap()
    };
    let deployments = find("deployments");
    assert_eq!(
        (
            &deployments["kind"],
            &deployments["namespaced"],
            &deployments["singularName"]
        ),
        (&json!("Deployment"), &json!(true), &json!("deployment"))
    );
    assert_eq!(
        (&deployments["shortNames"], &deployments["categories"]),
        (&json!(["deploy"]), &json!(["all"]))
    );
    let scale = find("deployments/scale");
    assert_eq!(
        (&scale["group"], &scale["version"], &scale["kind"]),
        (&json!("autoscaling"), &json!("v1"), &json!("Scale"))
    );
    let group = world.get("/apis/batch").await.ok();
    assert_eq!(
        (&group["kind"], &group["preferredVersion"]["groupVersion"]),
        (&json!("APIGroup"), &json!("batch/v1"))
    );
}

async fn the_version_is_told(world: World) {
    let version = world.get("/version").await.ok();
    assert_eq!(
        (&version["major"], &version["minor"]),
        (&json!("1"), &json!("36"))
    );
}

async fn health_endpoints_answer_ok(world: World) {
    for path in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(
            world.get(path).await.ok(),
            Value::String("ok".into()),
            "{path}"
        );
    }
}

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

async fn a_table_has_columns_and_rows(world: World) {
    world.create_map("a", json!({"x": "1", "y": "2"})).await;
    let path = format!("{}?fieldSelector=metadata.name%3Da", world.maps());
    let table = world
        .send(world.request("GET", &path).header("accept", TABLE))
        .await
        .ok();
    assert_eq!(
        (&table["kind"], &table["apiVersion"]),
        (&json!("Table"), &json!("meta.k8s.io/v1"))
    );
    let columns: Vec<&Value> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["name"])
        .collect();
    assert_eq!(columns, ["Name", "Data", "Age"]);
    let row = &table["rows"][0];
    assert_eq!(
        (&row["cells"][0], &row["cells"][1]),
        (&json!("a"), &json!(2))
    );
    assert_eq!(row["object"]["kind"], "PartialObjectMetadata");
    let one = world
        .send(
            world
                .request("GET", &world.map("a"))
                .header("accept", TABLE),
        )
        .await
        .ok();
    assert_eq!(one["rows"].as_array().map(Vec::len), Some(1));
}

async fn a_job_table_shows_completions(world: World) {
    let mut object = job("j");
    object["spec"]["suspend"] = true.into();
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &object).await.ok();
    world
        .until(&format!("{path}/j"), |r| {
            r.body["status"]["conditions"].is_array()
        })
        .await;
    let table = world
        .send(world.request("GET", &path).header("accept", TABLE))
        .await
        .ok();
    let columns: Vec<&Value> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["priority"] == 0)
        .map(|c| &c["name"])
        .collect();
    assert_eq!(
        columns,
        ["Name", "Status", "Completions", "Duration", "Age"]
    );
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(
        cells[..4],
        [json!("j"), json!("Suspended"), json!("0/1"), json!("")]
    );
}

async fn partial_metadata_has_no_spec(world: World) {
    world.create_map("a", json!({"x": "1"})).await;
    let accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let list = world
        .send(world.request("GET", &world.maps()).header("accept", accept))
        .await
        .ok();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert!(
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|i| i.get("data").is_none())
    );
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let one = world
        .send(
            world
                .request("GET", &world.map("a"))
                .header("accept", accept),
        )
        .await
        .ok();
    assert_eq!(
        (&one["kind"], &one["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("a"))
    );
}

async fn openapi_knows_field_validation(world: World) {
    let index = world.get("/openapi/v3").await.ok();
    let path = index["paths"]["apis/batch/v1"]["serverRelativeURL"]
        .as_str()
        .unwrap()
        .to_owned();
    let document = world.get(&path).await.ok();
    let patch = &document["paths"]["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Job");
    let parameters: Vec<&Value> = patch["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["name"])
        .collect();
    assert!(
        parameters.contains(&&json!("fieldValidation")),
        "{parameters:?}"
    );
    assert!(
        document["components"]["schemas"]["io.k8s.api.batch.v1.JobSpec"]["properties"]["template"]
            .is_object()
    );
}
