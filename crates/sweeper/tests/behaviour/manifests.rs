//! `deploy/sweeper.yaml`: a real server takes it, and what it grants is enough and no more.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperfleet_core::ownership::{ADAPTER, RESOURCE_ID};
use hyperfleet_source::SourceFile;
use hyperfleet_sweeper::{Flags, Options, Sweeper};
use hyperfleet_transport::{KubernetesConfig, KubernetesTransport, Mode, ObjectKind, Transport};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::World;

const MANIFESTS: &str = include_str!("../../../../deploy/sweeper.yaml");
const ACCOUNT: &str = "system:serviceaccount:hyperfleet:hyperfleet-sweeper";

fn manifests() -> Vec<Value> {
    let documents = MANIFESTS.split("\n---\n");
    let read = |text: &str| {
        let file = SourceFile::new("sweeper.yaml", text);
        hyperfleet_source::yaml::parse(&file).unwrap().to_json()
    };
    documents.map(read).collect()
}

pub(crate) fn environment_is_read() {
    let manifests = manifests();
    let is_deployment = |manifest: &&Value| manifest["kind"] == "Deployment";
    let deployment = manifests.iter().find(is_deployment).unwrap();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["args"], json!(["sweeper", "serve"]));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let variables = container["env"].as_array().unwrap();
    let variables = variables
        .iter()
        .map(|one| (text(&one["name"]), text(&one["value"])));
    let options = Options::load(Flags::default(), variables).unwrap().value;
    options.check().unwrap();
    let key = Path::new("/etc/hyperfleet/ownership/key");
    assert_eq!(options.ownership.key_file.as_deref(), Some(key));
    let mount = &container["volumeMounts"][0]["mountPath"];
    assert_eq!(key.parent().unwrap().to_str(), mount.as_str());
    assert_eq!(
        (options.health.host.as_str(), options.health.port),
        ("0.0.0.0", 8080)
    );
    assert_eq!(
        (options.metrics.host.as_str(), options.metrics.port),
        ("0.0.0.0", 9090)
    );
}

/// The same server, asked in the name of the sweeper's account.
fn as_account(kubeconfig: &Path) -> tempfile::NamedTempFile {
    let text = std::fs::read_to_string(kubeconfig).unwrap();
    let file = SourceFile::new("kubeconfig", text);
    let mut config = hyperfleet_source::yaml::parse(&file).unwrap().to_json();
    for user in config["users"].as_array_mut().unwrap() {
        user["user"]["as"] = json!(ACCOUNT);
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), config.to_string()).unwrap();
    file
}

pub(crate) async fn are_enough(kubeconfig: PathBuf) {
    let world = World::new(kubeconfig.clone(), "the_shipped_manifests").await;
    for manifest in manifests() {
        // The Deployment is checked and not kept: there is nothing here that would run it.
        let mode = match manifest["kind"] == "Deployment" {
            true => Mode::DryRun,
            false => Mode::Commit,
        };
        let applied = world.cluster.apply(&manifest, mode).await;
        applied.unwrap_or_else(|error| panic!("{}: {error}", manifest["kind"]));
    }
    let removed = world.api.removed("removed").await;
    world.make("gone", &removed).await;
    let secret = world.sign(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "unseen", "namespace": world.namespace,
        "labels": {ADAPTER: "dns", RESOURCE_ID: removed}}}));
    world.apply(&secret).await;

    let file = as_account(&kubeconfig);
    let config = KubernetesConfig::new("hyperfleet-sweeper").with_kube_config(file.path());
    let account = Arc::new(KubernetesTransport::connect(config).await.unwrap());
    let mut options = world.options();
    options.lease.namespace = Some("hyperfleet".to_owned());
    options.lease.name = "hyperfleet-sweeper".to_owned();
    let sweeper = Sweeper::new(options, Arc::clone(&account) as _, None).unwrap();
    let mut handle = sweeper.handle();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(sweeper.serve(stop.clone()));
    let report = handle.passed(|report| report.swept == 1).await.unwrap();
    stop.cancel();
    serving.await.unwrap();

    assert!(!world.exists("gone").await);
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(
        report.skipped.iter().any(|kind| kind.contains("Secret")),
        "{:?}",
        report.skipped
    );
    let unseen = ObjectKind::new("v1", "Secret").named(Some(&world.namespace), "unseen");
    assert!(world.cluster.get(&unseen).await.unwrap().is_some());

    // It changes nothing: neither what it may delete, nor another Lease.
    world.make("there", &removed).await;
    let change = json!({"data": {"a": "b"}});
    let refused = account.patch(&world.named("there"), &change).await;
    assert_eq!(refused.unwrap_err().reason(), "Forbidden");
    let new = world.labelled("new", &removed);
    let refused = account.apply(&new, Mode::Commit).await;
    assert_eq!(refused.unwrap_err().reason(), "Forbidden");
    let other = ObjectKind::new("coordination.k8s.io/v1", "Lease").named(Some("hyperfleet"), "x");
    let refused = account.get(&other).await;
    assert_eq!(refused.unwrap_err().reason(), "Forbidden");
}
