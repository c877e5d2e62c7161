//! Who may do what.

use serde_json::{Value, json};

use super::issuer::Issuer;
use crate::caller::{Answer, Caller, done};

struct World {
    api: Caller,
    issuer: Issuer,
}

impl World {
    async fn new(authorization: Value) -> World {
        let issuer = Issuer::new().await;
        let api = Caller::secured(json!({
            "server": {"jwt": {"configs": [issuer.config()]}},
            "authorization": authorization,
        }))
        .await;
        World { api, issuer }
    }

    async fn send(&self, who: &str, method: &str, path: &str, body: Value) -> Answer {
        let bearer = self.issuer.bearer(who);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.api
            .send_with(method, path, &[("authorization", &bearer)], body)
            .await
    }

    async fn create(&self, name: &str, labels: Value) -> String {
        let body = json!({"kind": "Cluster", "name": name, "spec": {}, "labels": labels});
        let answer = self.send("root", "POST", "/clusters", body).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        format!("/clusters/{}", answer.body["id"].as_str().unwrap())
    }
}

fn forbidden(answer: &Answer, detail: &str) {
    assert_eq!(answer.status, 403, "{}", answer.body);
    assert_eq!(answer.body["code"], "HYPERFLEET-AUZ-001");
    let said = answer.body["detail"].as_str().unwrap();
    assert!(said.contains(detail), "{said}");
}

/// Somebody for every purpose; `dev` may look at and change what is labelled so, and see all of production.
async fn team() -> World {
    World::new(json!({
        "roles": [
            {"name": "dev", "rules": [
                {"verbs": ["get", "list", "watch", "create", "patch", "delete"], "kinds": ["Cluster"], "labels": {"env": "dev"}},
                {"verbs": ["get", "list", "watch"], "kinds": ["Cluster"], "labels": {"env": "prod"}},
            ]},
            {"name": "pools", "rules": [{"verbs": ["get", "list"], "kinds": ["NodePool"]}]},
        ],
        "bindings": [
            {"role": "admin", "identities": ["root"]},
            {"role": "viewer", "identities": ["vera"]},
            {"role": "dev", "identities": ["dan"]},
            {"role": "pools", "identities": ["pia"]},
            {"role": "adapter", "identities": ["dns-adapter"], "adapters": ["dns"]},
            {"role": "operator", "groups": ["ops"]},
        ],
    }))
    .await
}

#[tokio::test]
async fn who_lacks_a_permission_is_told_which() {
    let world = team().await;
    let path = world.create("one", json!({})).await;
    assert_eq!(
        world.send("vera", "GET", &path, Value::Null).await.status,
        200
    );
    let answer = world.send("vera", "DELETE", &path, Value::Null).await;
    forbidden(&answer, "vera lacks the permission to delete Cluster");
    let answer = world.send("nobody", "GET", "/clusters", Value::Null).await;
    forbidden(&answer, "nobody lacks the permission to list Cluster");
    let answer = world.send("pia", "GET", "/clusters", Value::Null).await;
    forbidden(&answer, "pia lacks the permission to list Cluster");
    assert_eq!(
        world
            .send("pia", "GET", "/nodepools", Value::Null)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn groups_have_roles_too() {
    let world = team().await;
    let mut claims = world.issuer.claims("otto");
    claims["groups"] = json!(["lunch", "ops"]);
    let bearer = format!("Bearer {}", world.issuer.token(&claims));
    let body = json!({"kind": "Cluster", "name": "of-ops", "spec": {}}).to_string();
    let answer = world
        .api
        .send_with("POST", "/clusters", &[("authorization", &bearer)], body)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.body);
}

#[tokio::test]
async fn what_lies_outside_a_label_scope_is_not_there() {
    let world = team().await;
    let dev = world.create("dev", json!({"env": "dev"})).await;
    let prod = world.create("prod", json!({"env": "prod"})).await;
    let secret = world.create("secret", json!({"env": "secret"})).await;

    let listed = world
        .send("dan", "GET", "/clusters", Value::Null)
        .await
        .body;
    assert_eq!(listed["total"], 2, "{listed}");
    let found = world
        .send("dan", "GET", "/clusters?search=name='secret'", Value::Null)
        .await;
    assert_eq!(found.body["total"], 0);
    let all = world.send("dan", "GET", "/resources", Value::Null).await;
    assert_eq!(all.body["total"], 2, "{}", all.body);

    let spec = json!({"spec": {"size": 3}});
    assert_eq!(
        world.send("dan", "PATCH", &dev, spec.clone()).await.status,
        200
    );
    let answer = world.send("dan", "PATCH", &prod, spec.clone()).await;
    forbidden(&answer, "dan lacks the permission to patch Cluster '");
    for method in ["GET", "DELETE"] {
        let answer = world.send("dan", method, &secret, Value::Null).await;
        assert_eq!(answer.status, 404, "{}", answer.body);
    }
    assert_eq!(world.send("dan", "PATCH", &secret, spec).await.status, 404);
    let history = format!("{secret}/history");
    assert_eq!(
        world.send("dan", "GET", &history, Value::Null).await.status,
        404
    );
    let statuses = format!("{secret}/statuses");
    assert_eq!(
        world
            .send("dan", "GET", &statuses, Value::Null)
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn nobody_moves_a_resource_out_of_their_scope_or_makes_one_there() {
    let world = team().await;
    let dev = world.create("dev", json!({"env": "dev"})).await;
    let relabel = json!({"labels": {"env": "prod"}});
    forbidden(
        &world.send("dan", "PATCH", &dev, relabel).await,
        "dan lacks the permission to patch",
    );
    let body =
        |env: &str| json!({"kind": "Cluster", "name": "new", "spec": {}, "labels": {"env": env}});
    forbidden(
        &world.send("dan", "POST", "/clusters", body("prod")).await,
        "dan lacks the permission to create",
    );
    assert_eq!(
        world
            .send("dan", "POST", "/clusters", body("dev"))
            .await
            .status,
        201
    );
    let kept = world.send("root", "GET", &dev, Value::Null).await.body;
    assert_eq!(
        (&kept["labels"]["env"], &kept["generation"]),
        (&json!("dev"), &json!(1))
    );
}

#[tokio::test]
async fn an_adapter_reports_under_its_own_name_only() {
    let world = team().await;
    let path = world.create("one", json!({})).await;
    let statuses = format!("{path}/statuses");
    let answer = world
        .send("dns-adapter", "PUT", &statuses, done("dns"))
        .await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let answer = world
        .send("dns-adapter", "PUT", &statuses, done("validation"))
        .await;
    forbidden(&answer, "as adapter 'validation'");
    let nested = json!({"adapter_statuses": [done("dns"), done("validation")]});
    let answer = world.send("dns-adapter", "POST", &statuses, nested).await;
    forbidden(&answer, "as adapter 'validation'");
    let answer = world.send("vera", "PUT", &statuses, done("dns")).await;
    forbidden(&answer, "vera lacks the permission to report Cluster");
    let spec = json!({"spec": {"size": 3}});
    forbidden(
        &world.send("dns-adapter", "PATCH", &path, spec).await,
        "patch Cluster",
    );
    let known = world.send("root", "GET", &statuses, Value::Null).await.body;
    assert_eq!(known["adapter_statuses"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_watch_tells_nothing_from_outside_its_scope() {
    let world = team().await;
    let bearer = world.issuer.bearer("dan");
    let mut watch = world
        .api
        .watch_with("/clusters?watch=true", &[("authorization", &bearer)])
        .await;
    let secret = world.create("secret", json!({"env": "secret"})).await;
    world.send("root", "DELETE", &secret, Value::Null).await;
    world.create("dev", json!({"env": "dev"})).await;
    assert_eq!(watch.change().await.data["name"], "dev");
    let answer = world
        .send("pia", "GET", "/clusters?watch=true", Value::Null)
        .await;
    forbidden(&answer, "pia lacks the permission to list Cluster");
    let answer = world
        .send("pia", "GET", "/nodepools?watch=true", Value::Null)
        .await;
    forbidden(&answer, "pia lacks the permission to watch NodePool");
}

#[tokio::test]
async fn one_can_ask_what_one_may_do() {
    let world = team().await;
    let dev = world.create("dev", json!({"env": "dev"})).await;
    let prod = world.create("prod", json!({"env": "prod"})).await;
    let secret = world.create("secret", json!({"env": "secret"})).await;
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let may = async |query: &str| {
        let path = format!("/can-i?{query}");
        let answer = world.send("dan", "GET", &path, Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.body["identity"], "dan");
        answer.body
    };
    assert_eq!(may("verb=patch&kind=Cluster").await["allowed"], true);
    assert_eq!(may("verb=patch&kind=clusters").await["allowed"], true);
    assert_eq!(
        may("verb=force-delete&kind=cluster").await["allowed"],
        false
    );
    assert_eq!(may("verb=get&kind=NodePool").await["allowed"], false);
    assert_eq!(may("verb=audit").await["allowed"], false);
    let one = |path: &str| format!("verb=patch&kind=Cluster&id={}", id(path));
    assert_eq!(may(&one(&dev)).await["allowed"], true);
    let refused = may(&one(&prod)).await;
    assert_eq!(refused["allowed"], false);
    assert!(
        refused["reason"]
            .as_str()
            .unwrap()
            .contains("lacks the permission")
    );
    let refused = may(&one(&secret)).await;
    assert!(
        refused["reason"].as_str().unwrap().ends_with("not found"),
        "{refused}"
    );
    assert_eq!(
        world
            .send("dan", "GET", "/can-i?verb=fly", Value::Null)
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn roles_that_make_no_sense_are_refused_at_the_start() {
    let refused = |authorization: Value| {
        let config = json!({
            "server": {"jwt": {"configs": [{"issuer_url": "https://i"}]}},
            "authorization": authorization,
        });
        let config: hyperfleet_api::ApiConfig = serde_json::from_value(config).unwrap();
        let kinds = hyperfleet_api::Entities::new(hyperfleet_core::kind::Kind::defaults()).unwrap();
        let made = hyperfleet_api::Security::new(&config, &kinds.kinds, std::path::Path::new(""));
        made.unwrap_err().to_string()
    };
    let rule =
        |rule: Value| json!({"default_role": "x", "roles": [{"name": "x", "rules": [rule]}]});
    insta::assert_snapshot!([
        refused(json!({})),
        refused(json!({"default_role": "vierwer"})),
        refused(json!({"default_role": "adapter"})),
        refused(json!({"bindings": [{"role": "admin"}]})),
        refused(json!({"bindings": [{"role": "adapter", "identities": ["a"]}]})),
        refused(json!({"bindings": [{"role": "viewer", "identities": ["a"], "adapters": ["dns"]}]})),
        refused(json!({"bindings": [{"role": "viewer", "identities": ["a"], "tenant": {"org": "acme"}}]})),
        refused(json!({"default_role": "viewer", "roles": [{"name": "admin", "rules": []}]})),
        refused(rule(json!({"verbs": []}))),
        refused(rule(json!({"verbs": ["get"], "kinds": ["Clutser"]}))),
        refused(rule(json!({"verbs": ["audit"], "labels": {"env": "dev"}}))),
    ].join("\n"));
}
