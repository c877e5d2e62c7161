//! A watcher that sees by labels hears when something is out of its sight, and nothing of it after that.

use serde_json::{Value, json};

use super::issuer::Issuer;
use crate::caller::{Caller, Watch};

struct World {
    api: Caller,
    issuer: Issuer,
}

impl World {
    /// `dan` sees what is labelled `env=dev`, `pat` what is `env=prod`; `root` does everything.
    async fn new() -> World {
        let issuer = Issuer::new().await;
        let sees = |name: &str, env: &str| json!({"name": name, "rules": [{"verbs": ["get", "list", "watch"], "labels": {"env": env}}]});
        let api = Caller::secured(json!({
            "server": {"jwt": {"configs": [issuer.config()]}},
            "authorization": {
                "roles": [sees("dev", "dev"), sees("prod", "prod")],
                "bindings": [
                    {"role": "admin", "identities": ["root"]},
                    {"role": "dev", "identities": ["dan"]},
                    {"role": "prod", "identities": ["pat"]},
                ],
            },
        }))
        .await;
        World { api, issuer }
    }

    async fn write(&self, method: &str, path: &str, body: Value) -> Value {
        let bearer = self.issuer.bearer("root");
        let headers = [("authorization", bearer.as_str())];
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let answer = self.api.send_with(method, path, &headers, body).await;
        assert!(answer.status < 300, "{}", answer.body);
        answer.body
    }

    async fn create(&self, name: &str, env: &str) -> String {
        let body = json!({"kind": "Cluster", "name": name, "spec": {}, "labels": {"env": env}});
        let made = self.write("POST", "/clusters", body).await;
        made["href"].as_str().unwrap().to_owned()
    }

    async fn relabel(&self, href: &str, env: &str) {
        self.write("PATCH", href, json!({"labels": {"env": env}}))
            .await;
    }

    async fn watch(&self, who: &str, since: &str) -> Watch {
        let bearer = self.issuer.bearer(who);
        let path = format!("/clusters?watch=true&since={since}");
        self.api
            .watch_with(&path, &[("authorization", &bearer)])
            .await
    }
}

#[tokio::test]
async fn who_saw_it_is_told_that_it_is_out_of_sight_and_nothing_more() {
    let world = World::new().await;
    let href = world.create("moves", "dev").await;
    let mut dan = world.watch("dan", "").await;
    let start = dan.next().await.unwrap().id;
    let mut pat = world.watch("pat", "").await;
    pat.next().await.unwrap();
    world.relabel(&href, "secret").await;
    let gone = dan.change().await;
    assert_eq!(gone.name, "delete");
    let id = href.rsplit('/').next().unwrap();
    let told = json!({"id": id, "kind": "Cluster", "href": href, "reason": "out_of_sight"});
    assert_eq!(gone.data, told, "no labels, no spec");

    // What happens to it there is nobody's business here.
    world
        .write("PATCH", &href, json!({"spec": {"nodes": 3}}))
        .await;
    world.create("other", "dev").await;
    assert_eq!(dan.change().await.data["name"], "other");
    world.create("theirs", "prod").await;
    assert_eq!(
        pat.change().await.data["name"],
        "theirs",
        "who never saw it hears nothing"
    );

    // Whoever was away meanwhile hears it too, once.
    let mut late = world.watch("dan", &start).await;
    assert_eq!(late.change().await.data, told);
    assert_eq!(late.change().await.data["name"], "other");
    let mut later = world.watch("dan", &gone.id).await;
    assert_eq!(later.change().await.data["name"], "other");
}

#[tokio::test]
async fn several_moves_and_a_removal_between_two_looks_are_still_told() {
    let world = World::new().await;
    let href = world.create("moves", "dev").await;
    let start = world.watch("dan", "").await.next().await.unwrap().id;
    world.relabel(&href, "staging").await;
    world.relabel(&href, "secret").await;
    world.write("DELETE", &href, Value::Null).await;
    let mut dan = world.watch("dan", &start).await;
    let gone = dan.change().await;
    assert_eq!(gone.name, "delete");
    assert_eq!(gone.data["reason"], "out_of_sight");
    world.create("other", "dev").await;
    assert_eq!(dan.change().await.data["name"], "other");
}

#[tokio::test]
async fn who_goes_away_in_the_middle_is_told_of_the_rest() {
    let world = World::new().await;
    let href = world.create("moves", "dev").await;
    let start = world.watch("dan", "").await.next().await.unwrap().id;
    world.relabel(&href, "secret").await;
    world.create("other", "dev").await;
    // Its only event comes after the other's, and stands for the change of its labels before.
    world
        .write("PATCH", &href, json!({"spec": {"nodes": 3}}))
        .await;
    let middle = world.watch("dan", &start).await.change().await;
    let mut dan = world.watch("dan", &middle.id).await;
    let rest = dan.change().await;
    // How far the reader of the feed has come decides which of them is told first.
    let told = match middle.name.as_str() {
        "upsert" => [&middle, &rest],
        _ => [&rest, &middle],
    };
    assert_eq!(told[0].data["name"], "other");
    assert_eq!(told[1].data["reason"], "out_of_sight");
}

#[tokio::test]
async fn what_comes_into_sight_is_told_like_anything_new() {
    let world = World::new().await;
    let href = world.create("moves", "dev").await;
    let mut pat = world.watch("pat", "").await;
    pat.next().await.unwrap();
    world.relabel(&href, "prod").await;
    let come = pat.change().await;
    assert_eq!(
        (come.name.as_str(), &come.data["name"]),
        ("upsert", &json!("moves"))
    );
    world.relabel(&href, "dev").await;
    assert_eq!(pat.change().await.data["reason"], "out_of_sight");
}
