//! The admission policy of `deploy/`, enforced by a real server.

use std::time::{Duration, Instant};

use axum::http::Request;
use serde_json::{Value as Json, json};

use crate::world::World;

const POLICY: &str = include_str!("../../../../deploy/admission-policy.yaml");
const NAMESPACE: &str = "reserved";
const ADAPTER: &str = "system:serviceaccount:hyperfleet:dns";
const STRANGER: &str = "eve";

/// The server, asked in somebody's name.
struct Server(kube::Client);

impl Server {
    async fn of(world: &World) -> Server {
        let file = kube::config::Kubeconfig::read_from(world.kubeconfig.path()).unwrap();
        let config = kube::Config::from_custom_kubeconfig(file, &Default::default()).await;
        Server(kube::Client::try_from(config.unwrap()).unwrap())
    }

    /// What it answers to a change by this user.
    async fn ask(&self, user: &str, method: &str, path: &str, body: &Json) -> Result<Json, String> {
        let kind = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .header("impersonate-user", user)
            .body(body.to_string().into_bytes())
            .unwrap();
        self.0
            .request::<Json>(request)
            .await
            .map_err(|error| error.to_string())
    }
}

fn map(name: &str, marks: &Json) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": marks}})
}

pub(crate) async fn marks_are_reserved_to_our_service_accounts(kubeconfig: String) {
    let world = World::on(&kubeconfig).await;
    let labels = json!({"hyperfleet-policy": "on"});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}});
    world.transport.create(&namespace).await.unwrap();
    for user in [ADAPTER, STRANGER] {
        let name = user.replace(':', "-");
        let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]});
        world.transport.create(&binding).await.unwrap();
    }
    // Other tests share the server: here the policy binds one namespace only.
    for document in POLICY.split("\n---\n") {
        let file = hyperfleet_source::SourceFile::new("policy.yaml", document);
        let mut manifest = hyperfleet_source::yaml::parse(&file).unwrap().to_json();
        if manifest["kind"] == "ValidatingAdmissionPolicyBinding" {
            manifest["spec"]["matchResources"] =
                json!({"namespaceSelector": {"matchLabels": labels}});
        }
        world.transport.create(&manifest).await.unwrap();
    }
    let server = Server::of(&world).await;
    let maps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let marked = json!({"hyperfleet.io/adapter": "dns"});

    // A policy is in force a moment after it is there.
    let start = Instant::now();
    let refused = loop {
        let forged = map(&format!("forged-{}", start.elapsed().as_micros()), &marked);
        match server.ask(STRANGER, "POST", &maps, &forged).await {
            Err(refused) => break refused,
            Ok(_) => assert!(
                start.elapsed() < Duration::from_secs(60),
                "the policy is not in force"
            ),
        }
    };
    assert!(refused.contains("belong to HyperFleet"), "{refused}");

    server
        .ask(ADAPTER, "POST", &maps, &map("ours", &marked))
        .await
        .unwrap();
    let ours = format!("{maps}/ours");
    let changes = [
        json!({"metadata": {"labels": {"hyperfleet.io/adapter": "other"}}}),
        json!({"metadata": {"labels": {"hyperfleet.io/adapter": null}}}),
        json!({"metadata": {"labels": {"hyperfleet.io/new": "x"}}}),
        json!({"metadata": {"annotations": {"hyperfleet.io/ownership": "v1.forged"}}}),
    ];
    for change in &changes {
        let refused = server
            .ask(STRANGER, "PATCH", &ours, change)
            .await
            .unwrap_err();
        assert!(
            refused.contains("belong to HyperFleet"),
            "{change}: {refused}"
        );
    }
    let harmless = json!({"data": {"a": "b"}, "metadata": {"labels": {"team": "x"}}});
    server
        .ask(STRANGER, "PATCH", &ours, &harmless)
        .await
        .unwrap();
    for change in &changes {
        server.ask(ADAPTER, "PATCH", &ours, change).await.unwrap();
    }
}
