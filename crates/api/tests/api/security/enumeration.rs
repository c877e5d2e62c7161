//! Every operation of the contract × everybody who may ask, against a table in the tree: an operation that is new, or
//! that lets in somebody else, changes the table.

use std::fmt::Write;

use serde_json::{Value, json};

use super::issuer::{Issuer, now};
use crate::caller::{Caller, done};

struct World {
    api: Caller,
    issuer: Issuer,
    stranger: Issuer,
    cluster: String,
    pool: String,
}

const ROLES: [&str; 6] = [
    "viewer", "operator", "admin", "adapter", "sentinel", "sweeper",
];

impl World {
    async fn new() -> World {
        let (issuer, stranger) = (Issuer::new().await, Issuer::new().await);
        let mut bindings: Vec<Value> = ROLES
            .iter()
            .map(|role| json!({"role": role, "identities": [role], "tenant": {"org": "acme"}}))
            .collect();
        bindings[3]["adapters"] = json!(["dns"]);
        bindings
            .push(json!({"role": "admin", "identities": ["other"], "tenant": {"org": "other"}}));
        for role in ["sentinel", "sweeper"] {
            bindings.push(json!({"role": role, "identities": ["machine"]}));
        }
        let api = Caller::secured(json!({
            "server": {
                "jwt": {"configs": [issuer.config()]},
                "tenant": {"enabled": true, "system_header": "X-System",
                           "dimensions": [{"header": "X-Org", "key": "org", "required": true}]},
            },
            "authorization": {"bindings": bindings},
            "limits": {"writes_per_minute": 0},
        }))
        .await;
        let mut world = World {
            api,
            issuer,
            stranger,
            cluster: String::new(),
            pool: String::new(),
        };
        world.cluster = world.made("/clusters", "Cluster").await;
        let pools = format!("/clusters/{}/nodepools", world.cluster);
        world.pool = world.made(&pools, "NodePool").await;
        world
    }

    async fn made(&self, path: &str, kind: &str) -> String {
        let body = json!({"kind": kind, "name": "there", "spec": {}}).to_string();
        let bearer = self.issuer.bearer("admin");
        let headers = [("authorization", bearer.as_str()), ("x-org", "acme")];
        let answer = self.api.send_with("POST", path, &headers, body).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.body["id"].as_str().unwrap().to_owned()
    }

    /// The callers: a name for the table, what they show, and for whom they ask.
    fn callers(&self) -> Vec<(&'static str, Option<String>, (&'static str, &'static str))> {
        const ACME: (&str, &str) = ("x-org", "acme");
        let mut old = self.issuer.claims("admin");
        old["exp"] = json!(now() - 600);
        let old = format!("Bearer {}", self.issuer.token(&old));
        let mut bad = self.issuer.bearer("admin");
        bad.truncate(bad.len() - 8);
        let mut callers = vec![
            ("no token", None, ACME),
            ("bad token", Some(bad), ACME),
            ("expired", Some(old), ACME),
            ("wrong issuer", Some(self.stranger.bearer("admin")), ACME),
        ];
        for role in ROLES {
            callers.push((role, Some(self.issuer.bearer(role)), ACME));
        }
        callers.push(("no role", Some(self.issuer.bearer("nobody")), ACME));
        callers.push((
            "other tenant",
            Some(self.issuer.bearer("other")),
            ("x-org", "other"),
        ));
        let machine = self.issuer.bearer("machine");
        callers.push(("all tenants", Some(machine), ("x-system", "true")));
        callers
    }

    /// A path with ids that are there.
    fn path(&self, template: &str) -> String {
        let of_pool = template.contains("/nodepools/{id}");
        let id = if of_pool { &self.pool } else { &self.cluster };
        template
            .replace("{parent_id}", &self.cluster)
            .replace("{id}", id)
    }
}

/// A request that would be done if it were allowed, but changes nothing that the next one depends on.
fn body(operation: &str) -> Value {
    if operation.starts_with("forceDelete") {
        json!({"reason": "it is not even being deleted"})
    } else if operation.starts_with("putStatus") || operation.starts_with("postStatus") {
        done("dns")
    } else if operation.starts_with("patch") {
        json!({"labels": {"a": "b"}})
    } else if operation.starts_with("create") {
        json!({"kind": "Nothing of that kind"})
    } else if operation == "noteInAudit" {
        json!({"action": "object.deleted", "resource_id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b",
               "done_time": "2026-01-01T00:00:00Z", "reason": "its owner is gone",
               "object": {"api_version": "v1", "kind": "Namespace", "name": "n", "uid": "u", "adapter": "dns"}})
    } else if operation == "announceSentinel" {
        json!({"name": "s", "resource_type": "clusters", "selector": {}, "shares": false, "duration_seconds": 5})
    } else {
        Value::Null
    }
}

#[tokio::test]
async fn who_gets_how_far_is_what_the_table_says() {
    let world = World::new().await;
    let callers = world.callers();
    let document = world.api.get("/api/hyperfleet/v1/openapi").await.body;
    let mut table = String::new();
    write!(table, "{:<38}", "").unwrap();
    for (name, ..) in &callers {
        write!(table, " {name:>12}").unwrap();
    }
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let operation = described["operationId"].as_str().unwrap();
            write!(table, "\n{operation:<38}").unwrap();
            for (_, bearer, tenant) in &callers {
                let mut headers = vec![*tenant];
                headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
                if ["patch", "delete"].contains(&method.as_str()) && template.contains("/{id}") {
                    // Of a state it never was in: whoever may do it gets 412.
                    headers.push(("if-match", "\"99\""));
                }
                let mut path = world.path(template);
                if operation == "canI" {
                    path.push_str("?verb=get");
                }
                let body = match body(operation) {
                    Value::Null => String::new(),
                    body => body.to_string(),
                };
                let method = method.to_uppercase();
                let status = world
                    .api
                    .send_with(&method, &path, &headers, body)
                    .await
                    .status;
                write!(table, " {status:>12}").unwrap();
            }
        }
    }
    insta::assert_snapshot!(table);
}
