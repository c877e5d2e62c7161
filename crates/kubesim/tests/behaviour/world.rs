//! What a test sees: one server, and a namespace of its own.

use std::time::Duration;

use serde_json::{Value, json};

use crate::endpoint::Endpoint;

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) body: Value,
    pub(crate) warnings: Vec<String>,
}

impl Reply {
    /// The body of a success; anything else fails the test with what the server said.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(
            (200..300).contains(&self.code),
            "{}: {:#}",
            self.code,
            self.body
        );
        self.body
    }

    /// A refusal with this code and reason.
    #[track_caller]
    pub(crate) fn refused(self, code: u16, reason: &str) -> Value {
        assert_eq!(
            (self.code, self.body["reason"].as_str().unwrap_or_default()),
            (code, reason),
            "{:#}",
            self.body
        );
        assert_eq!(self.body["kind"], "Status");
        assert_eq!(self.body["status"], "Failure");
        assert_eq!(self.body["code"], code);
        self.body
    }
}

pub(crate) struct World {
    pub(crate) endpoint: Endpoint,
    client: reqwest::Client,
    pub(crate) namespace: String,
}

impl World {
    pub(crate) async fn new(endpoint: Endpoint) -> World {
        let client = endpoint.client();
        let world = World {
            endpoint,
            client,
            namespace: unique("t"),
        };
        let namespace = json!({ "metadata": { "name": world.namespace } });
        world.post("/api/v1/namespaces", &namespace).await.ok();
        world
    }

    /// The path of a namespaced resource of `api_version`, in this test's namespace.
    pub(crate) fn path(&self, api_version: &str, rest: &str) -> String {
        let base = if api_version.contains('/') {
            "apis"
        } else {
            "api"
        };
        format!("/{base}/{api_version}/namespaces/{}/{rest}", self.namespace)
    }

    pub(crate) fn maps(&self) -> String {
        self.path("v1", "configmaps")
    }

    pub(crate) fn map(&self, name: &str) -> String {
        format!("{}/{name}", self.maps())
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        self.client
            .request(method, format!("{}{path}", self.endpoint.server))
            .bearer_auth(&self.endpoint.token)
    }

    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        let response = request.send().await.expect("an answer");
        let code = response.status().as_u16();
        let warnings = response
            .headers()
            .get_all("warning")
            .iter()
            .map(|w| w.to_str().unwrap_or_default().to_owned())
            .collect();
        let text = response.text().await.expect("a body");
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Reply {
            code,
            body,
            warnings,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(self.request("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(self.request("POST", path).json(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Reply {
        self.send(self.request("PUT", path).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send(self.request("DELETE", path)).await
    }

    pub(crate) async fn delete_with(&self, path: &str, options: &Value) -> Reply {
        self.send(self.request("DELETE", path).json(options)).await
    }

    pub(crate) async fn patch(&self, path: &str, kind: &str, body: &Value) -> Reply {
        let request = self
            .request("PATCH", path)
            .header("content-type", kind)
            .body(body.to_string());
        self.send(request).await
    }

    pub(crate) async fn apply(&self, path: &str, manager: &str, body: &Value) -> Reply {
        self.patch(&format!("{path}?fieldManager={manager}"), APPLY, body)
            .await
    }

    pub(crate) async fn force(&self, path: &str, manager: &str, body: &Value) -> Reply {
        self.patch(
            &format!("{path}?fieldManager={manager}&force=true"),
            APPLY,
            body,
        )
        .await
    }

    /// Creates a config map with these data.
    pub(crate) async fn create_map(&self, name: &str, data: Value) -> Value {
        self.post(&self.maps(), &config_map(name, data)).await.ok()
    }

    pub(crate) async fn watch(&self, path: &str) -> Watch {
        let response = self.request("GET", path).send().await.expect("an answer");
        assert_eq!(response.status().as_u16(), 200, "{path}");
        Watch {
            response,
            buffer: Vec::new(),
        }
    }

    /// Asks again until `done` says so; the harness gives up on tests that take too long.
    pub(crate) async fn until(&self, path: &str, done: impl Fn(&Reply) -> bool) -> Reply {
        let mut pause = tokio::time::interval(Duration::from_millis(50));
        loop {
            pause.tick().await;
            let reply = self.get(path).await;
            if done(&reply) {
                return reply;
            }
        }
    }

    pub(crate) async fn gone(&self, path: &str) {
        self.until(path, |reply| reply.code == 404).await;
    }
}

/// A running watch.
pub(crate) struct Watch {
    response: reqwest::Response,
    buffer: Vec<u8>,
}

impl Watch {
    /// The next event, or `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("a JSON event"));
            }
            match self.response.chunk().await.expect("a chunk") {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return None,
            }
        }
    }

    /// Type and name of the next event that is not a bookmark.
    pub(crate) async fn change(&mut self) -> (String, String) {
        loop {
            let event = self.next().await.expect("another event");
            if event["type"] != "BOOKMARK" {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                return (
                    text(&event["type"]),
                    text(&event["object"]["metadata"]["name"]),
                );
            }
        }
    }
}

pub(crate) fn unique(prefix: &str) -> String {
    format!(
        "{prefix}-{}",
        &uuid::Uuid::new_v4().simple().to_string()[..12]
    )
}

pub(crate) fn config_map(name: &str, data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data })
}

pub(crate) fn job(name: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name },
        "spec": { "template": { "spec": { "restartPolicy": "Never", "containers": [{ "name": "main", "image": "busybox:1" }] } } },
    })
}

pub(crate) fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name },
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "main", "image": "busybox:1" }] },
            },
        },
    })
}

/// Names of the items of a list.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("items");
    items
        .iter()
        .map(|i| {
            i["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

/// The managedFields entry of one manager and operation.
pub(crate) fn managed<'a>(object: &'a Value, manager: &str, operation: &str) -> Option<&'a Value> {
    object["metadata"]["managedFields"]
        .as_array()?
        .iter()
        .find(|entry| entry["manager"] == manager && entry["operation"] == operation)
}
