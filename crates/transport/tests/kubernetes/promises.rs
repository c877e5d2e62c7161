//! What the transport promises.

use std::pin::Pin;
use std::time::{Duration, Instant};

use hyperfleet_transport::{
    ConnectError, Delete, Deletion, Failure, KubernetesConfig, KubernetesTransport, Mode,
    ObjectKind, ObjectRef, Propagation, Scope, Selector, Survey, Transport,
};
use serde_json::{Value as Json, json};

use crate::World;

type Run = fn(World) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! promises {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn all() -> Vec<(&'static str, Run)> {
            vec![$((stringify!($name), |world| Box::pin($name(world)))),+]
        }
    };
}

promises![
    applying_creates_and_then_owns_only_its_fields,
    a_dry_run_keeps_nothing,
    an_absent_object_is_none_and_deleting_it_is_no_error,
    deleting_another_object_of_the_same_name_is_refused,
    labels_find_objects_and_pages_are_joined,
    every_kind_can_be_surveyed_by_a_label,
    a_wrong_manifest_is_invalid_and_names_the_field,
    a_name_that_is_no_name_is_invalid,
    a_kind_that_does_not_exist_is_named,
    a_kind_that_appears_is_found,
    an_object_in_no_namespace_is_not_found,
    creating_twice_says_so,
    a_patch_changes_only_what_it_names,
    a_server_that_is_not_there_is_told_at_once,
];

impl World {
    pub(crate) async fn make_namespace(&self) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": self.namespace}});
        self.transport
            .apply(&namespace, Mode::Commit)
            .await
            .unwrap();
    }

    fn config_map(&self, name: &str, data: Json) -> Json {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": name, "namespace": self.namespace, "labels": {"app": "x"}}})
    }

    fn named(&self, name: &str) -> ObjectRef {
        ObjectKind::new("v1", "ConfigMap").named(Some(&self.namespace), name)
    }
}

async fn applying_creates_and_then_owns_only_its_fields(world: World) {
    let first = world.config_map("a", json!({"x": "1", "y": "1"}));
    let made = world.transport.apply(&first, Mode::Commit).await.unwrap();
    assert_eq!(
        made["metadata"]["managedFields"][0]["manager"],
        "hyperfleet-adapter/test"
    );
    let foreign = json!({"data": {"z": "theirs"}});
    world
        .transport
        .patch(&world.named("a"), &foreign)
        .await
        .unwrap();
    let second = world.config_map("a", json!({"x": "2"}));
    let after = world.transport.apply(&second, Mode::Commit).await.unwrap();
    assert_eq!(after["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(after["data"], json!({"x": "2", "z": "theirs"}));
}

async fn a_dry_run_keeps_nothing(world: World) {
    let manifest = world.config_map("a", json!({"x": "1"}));
    let shown = world
        .transport
        .apply(&manifest, Mode::DryRun)
        .await
        .unwrap();
    assert_eq!(shown["data"]["x"], "1");
    assert_eq!(world.transport.get(&world.named("a")).await.unwrap(), None);
}

async fn an_absent_object_is_none_and_deleting_it_is_no_error(world: World) {
    let absent = world.named("a");
    assert_eq!(world.transport.get(&absent).await.unwrap(), None);
    let deleted = world.transport.delete(&absent, &Delete::default()).await;
    assert_eq!(deleted.unwrap(), Deletion::Absent);
}

async fn deleting_another_object_of_the_same_name_is_refused(world: World) {
    let manifest = world.config_map("a", json!({}));
    let made = world
        .transport
        .apply(&manifest, Mode::Commit)
        .await
        .unwrap();
    let other = Delete {
        uid: Some("11111111-2222-3333-4444-555555555555".to_owned()),
        ..Delete::default()
    };
    let refused = world
        .transport
        .delete(&world.named("a"), &other)
        .await
        .unwrap_err();
    assert!(
        matches!(refused.failure, Failure::Conflict { .. }),
        "{refused}"
    );
    let same = Delete {
        uid: made["metadata"]["uid"].as_str().map(str::to_owned),
        propagation: Propagation::Background,
        ..Delete::default()
    };
    let deleted = world
        .transport
        .delete(&world.named("a"), &same)
        .await
        .unwrap();
    assert_eq!(deleted, Deletion::Accepted);
    assert_eq!(world.transport.get(&world.named("a")).await.unwrap(), None);
}

async fn labels_find_objects_and_pages_are_joined(world: World) {
    for name in ["a", "b", "c"] {
        let manifest = world.config_map(name, json!({}));
        world
            .transport
            .apply(&manifest, Mode::Commit)
            .await
            .unwrap();
    }
    let kind = ObjectKind::new("v1", "ConfigMap");
    let with = |value: &str| Selector {
        labels: [("app".to_owned(), value.to_owned())].into(),
    };
    let namespace = Some(world.namespace.as_str());
    let found = world
        .transport
        .list(&kind, namespace, &with("x"))
        .await
        .unwrap();
    let names: Vec<_> = found
        .iter()
        .map(|one| one["metadata"]["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(ObjectRef::of(&found[0]).unwrap(), world.named("a"));
    let none = world
        .transport
        .list(&kind, namespace, &with("y"))
        .await
        .unwrap();
    assert!(none.is_empty());
    let anywhere = world.transport.list(&kind, None, &with("x")).await.unwrap();
    assert!(anywhere.len() >= 3);
}

async fn every_kind_can_be_surveyed_by_a_label(world: World) {
    let manifest = world.config_map("a", json!({}));
    let transport = &world.transport;
    transport.apply(&manifest, Mode::Commit).await.unwrap();
    let found = transport.kinds().await.unwrap();
    assert!(found.failed.is_empty(), "{:?}", found.failed);
    let count = |kind: &str| {
        found
            .kinds
            .iter()
            .filter(|known| known.kind == kind)
            .count()
    };
    for kind in ["ConfigMap", "Namespace", "Job", "CustomResourceDefinition"] {
        assert_eq!(count(kind), 1, "{kind}");
    }
    // It can be asked, but there is nothing to list or delete.
    assert_eq!(count("TokenReview") + count("Binding"), 0);
    let kind = ObjectKind::new("v1", "ConfigMap");
    let page = transport.page(&kind, "app", None).await.unwrap();
    let ours = page.items.iter().map(|item| ObjectRef::of(item).unwrap());
    assert_eq!(ours.filter(|item| *item == world.named("a")).count(), 1);
    assert_eq!(page.next, None);
    let nothing = transport.page(&kind, "nobody-has-it", None).await.unwrap();
    assert!(nothing.items.is_empty());
}

async fn a_wrong_manifest_is_invalid_and_names_the_field(world: World) {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "a", "namespace": world.namespace},
        "spec": {"template": {"spec": {"restartPolicy": "Always",
            "containers": [{"name": "c", "image": "busybox"}]}}}});
    let refused = world.transport.apply(&job, Mode::Commit).await.unwrap_err();
    assert!(
        matches!(refused.failure, Failure::Invalid { .. }),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("restartPolicy"), "{refused}");
    assert!(!refused.is_transient());
}

async fn a_name_that_is_no_name_is_invalid(world: World) {
    for name in ["Upper_Case", "a/b", "..", "a b", "%2e"] {
        let manifest = world.config_map(name, json!({}));
        let refused = world
            .transport
            .apply(&manifest, Mode::Commit)
            .await
            .unwrap_err();
        assert!(
            matches!(refused.failure, Failure::Invalid { .. }),
            "{name}: {refused:?}"
        );
    }
}

async fn a_kind_that_does_not_exist_is_named(world: World) {
    for version in ["example.org/v1", "v1"] {
        let kind = ObjectKind::new(version, "Widget");
        let refused = world.transport.scope(&kind).await.unwrap_err();
        assert!(
            matches!(refused.failure, Failure::UnknownKind { .. }),
            "{refused}"
        );
        assert!(refused.to_string().contains("Widget"), "{refused}");
    }
    let namespace = ObjectKind::new("v1", "Namespace");
    assert_eq!(
        world.transport.scope(&namespace).await.unwrap(),
        Scope::Cluster
    );
}

async fn a_kind_that_appears_is_found(world: World) {
    // Not known, and not asked for yet: an absence that was seen is kept for some seconds.
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": "gadgets.transport.example.org"},
        "spec": {"group": "transport.example.org", "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}]}});
    world
        .transport
        .apply(&definition, Mode::Commit)
        .await
        .unwrap();
    let gadget = json!({"apiVersion": "transport.example.org/v1", "kind": "Gadget",
        "metadata": {"name": "g", "namespace": world.namespace}, "spec": {"size": 1}});
    let start = Instant::now();
    loop {
        match world.transport.apply(&gadget, Mode::Commit).await {
            Ok(made) => return assert_eq!(made["spec"]["size"], 1),
            Err(error) => assert!(start.elapsed() < Duration::from_secs(40), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn an_object_in_no_namespace_is_not_found(world: World) {
    let mut manifest = world.config_map("a", json!({}));
    manifest["metadata"]["namespace"] = json!("there-is-no-such-namespace");
    let refused = world
        .transport
        .apply(&manifest, Mode::Commit)
        .await
        .unwrap_err();
    assert!(
        matches!(refused.failure, Failure::NotFound { .. }),
        "{refused:?}"
    );
    manifest["metadata"] = json!({"name": "a"});
    let refused = world
        .transport
        .apply(&manifest, Mode::Commit)
        .await
        .unwrap_err();
    assert!(
        matches!(refused.failure, Failure::Invalid { .. }),
        "{refused:?}"
    );
}

async fn creating_twice_says_so(world: World) {
    let manifest = world.config_map("a", json!({}));
    world.transport.create(&manifest).await.unwrap();
    let refused = world.transport.create(&manifest).await.unwrap_err();
    assert!(
        matches!(refused.failure, Failure::AlreadyExists { .. }),
        "{refused:?}"
    );
}

async fn a_patch_changes_only_what_it_names(world: World) {
    let manifest = world.config_map("a", json!({"x": "1", "y": "1"}));
    world
        .transport
        .apply(&manifest, Mode::Commit)
        .await
        .unwrap();
    let patch = json!({"data": {"x": null, "z": "1"}});
    let after = world
        .transport
        .patch(&world.named("a"), &patch)
        .await
        .unwrap();
    assert_eq!(after["data"], json!({"y": "1", "z": "1"}));
}

async fn a_server_that_is_not_there_is_told_at_once(world: World) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kubeconfig");
    let text = std::fs::read_to_string(&world.kubeconfig).unwrap();
    let text: String = text
        .lines()
        .map(|line| match line.split_once("server:") {
            Some((before, _)) if line.contains('{') => {
                format!("{before}server: \"http://127.0.0.1:1\"}}\n")
            }
            Some((before, _)) => format!("{before}server: http://127.0.0.1:1\n"),
            None => format!("{line}\n"),
        })
        .collect();
    std::fs::write(&path, text).unwrap();
    let start = Instant::now();
    let connect = |path| {
        let config = KubernetesConfig::new("test").with_kube_config(path);
        KubernetesTransport::connect(config)
    };
    let Err(error) = connect(path.clone()).await else {
        panic!("there is a server on port 1");
    };
    assert!(start.elapsed() < Duration::from_secs(10));
    let said = error.to_string();
    assert!(
        said.contains("127.0.0.1:1") && said.contains("kubeconfig"),
        "{said}"
    );
    let missing = connect(directory.path().join("nothing")).await;
    assert!(matches!(missing, Err(ConnectError::Kubeconfig { .. })));
}
