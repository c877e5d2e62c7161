//! What is special about single kinds: defaults, checks, immutable fields, initial status.

mod core;
mod crd;
mod job;
mod pod;
mod workload;

use serde_json::{Value, json};

use crate::catalog::Resource;
use crate::cluster::State;
use crate::failure::Cause;
use crate::meta;

pub(crate) use self::crd::established;

/// Built-in kinds whose `metadata.generation` counts changes of what is wanted.
const GENERATION: &[&str] = &[
    "pods",
    "replicationcontrollers",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "ingresses.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
    "networkpolicies.networking.k8s.io",
    "poddisruptionbudgets.policy",
    "priorityclasses.scheduling.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "horizontalpodautoscalers.autoscaling",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
    "resourceslices.resource.k8s.io",
    "deviceclasses.resource.k8s.io",
    "endpointslices.discovery.k8s.io",
];

pub(crate) fn tracks_generation(resource: &Resource) -> bool {
    resource.custom.is_some() || GENERATION.contains(&resource.qualified().as_str())
}

/// Whether what is wanted changed: the spec of built-in kinds, everything but metadata and status of custom ones.
pub(crate) fn desired_changed(resource: &Resource, old: &Value, new: &Value) -> bool {
    if resource.custom.is_none() && old.get("spec").is_some() {
        return old["spec"] != new["spec"];
    }
    let wanted = |object: &Value| {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            fields.remove("metadata");
            if resource.has_status() || resource.custom.is_none() {
                fields.remove("status");
            }
        }
        object
    };
    wanted(old) != wanted(new)
}

pub(crate) fn fill_defaults(resource: &Resource, object: &mut Value) {
    match resource.qualified().as_str() {
        "namespaces" => core::default_namespace(object),
        "secrets" => core::default_secret(object),
        "services" => core::default_service(object),
        "persistentvolumeclaims" => core::default_claim(object),
        "pods" => pod::fill_spec(&mut object["spec"]),
        "jobs.batch" => job::fill_job(&mut object["spec"]),
        "cronjobs.batch" => job::fill_cron(&mut object["spec"]),
        "deployments.apps" => workload::fill_deployment(&mut object["spec"]),
        "replicasets.apps" => workload::fill_replica_set(object),
        "statefulsets.apps" => workload::fill_stateful_set(&mut object["spec"]),
        "daemonsets.apps" => workload::fill_daemon_set(&mut object["spec"]),
        "customresourcedefinitions.apiextensions.k8s.io" => crd::fill_definition(object),
        _ => {}
    }
}

/// What only creation does: initial status, allocated fields.
pub(crate) fn prepare_create(state: &State, resource: &Resource, object: &mut Value) {
    match resource.qualified().as_str() {
        "namespaces" => core::prepare_namespace(object),
        "pods" => pod::prepare(object),
        "jobs.batch" => job::prepare(object),
        "services" => core::allocate_address(state, object),
        "persistentvolumeclaims" => object["status"] = json!({ "phase": "Pending" }),
        "persistentvolumes" => object["status"] = json!({ "phase": "Pending" }),
        "deployments.apps" | "daemonsets.apps" | "cronjobs.batch" => object["status"] = json!({}),
        "replicasets.apps" | "replicationcontrollers" => {
            object["status"] = json!({ "replicas": 0 })
        }
        "statefulsets.apps" => object["status"] = json!({ "replicas": 0, "availableReplicas": 0 }),
        "ingresses.networking.k8s.io" => object["status"] = json!({ "loadBalancer": {} }),
        "customresourcedefinitions.apiextensions.k8s.io" => object["status"] = established(object),
        _ => {}
    }
}

/// Fields the server chose at creation survive an update that leaves them out.
pub(crate) fn keep_allocated(resource: &Resource, old: &Value, new: &mut Value) {
    let keep: &[&str] = match resource.qualified().as_str() {
        "services" => &["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"],
        "jobs.batch" => &["selector", "manualSelector"],
        "namespaces" => &["finalizers"],
        _ => return,
    };
    for field in keep {
        if let Some(value) = old["spec"].get(field)
            && new["spec"].get(field).is_none()
        {
            meta::object_at(new, "spec").insert((*field).to_owned(), value.clone());
        }
    }
    if resource.is("jobs.batch") && new["spec"]["template"]["metadata"]["labels"].is_null() {
        // A client that does not send back the generated labels means no change.
        let labels = old["spec"]["template"]["metadata"]["labels"].clone();
        if labels.is_object() {
            new["spec"]["template"]["metadata"]["labels"] = labels;
        }
    }
    if resource.is("customresourcedefinitions.apiextensions.k8s.io") {
        new["status"] = established(new);
    }
}

/// What the decoder of a kind refuses beyond types: bytes that are not base64.
pub(crate) fn decode_problem(resource: &Resource, object: &Value) -> Option<String> {
    match resource.qualified().as_str() {
        "secrets" => core::base64_problem(&object["data"]),
        "configmaps" => core::base64_problem(&object["binaryData"]),
        _ => None,
    }
}

pub(crate) fn check(resource: &Resource, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    match resource.qualified().as_str() {
        "pods" => pod::check_spec(&object["spec"], "spec", &mut causes),
        "jobs.batch" => job::check(&object["spec"], "spec", &mut causes),
        "cronjobs.batch" => job::check_cron(&object["spec"], &mut causes),
        "deployments.apps" | "replicasets.apps" | "statefulsets.apps" | "daemonsets.apps" => {
            workload::check(&object["spec"], &mut causes);
        }
        "configmaps" => core::check_config_map(object, &mut causes),
        "secrets" => core::check_secret(object, &mut causes),
        "services" => core::check_service(object, &mut causes),
        "customresourcedefinitions.apiextensions.k8s.io" => crd::check(object, &mut causes),
        _ => {}
    }
    causes
}

pub(crate) fn check_update(resource: &Resource, old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    match resource.qualified().as_str() {
        "jobs.batch" => job::check_update(old, new, &mut causes),
        "configmaps" | "secrets" => core::check_immutable(resource, old, new, &mut causes),
        "pods" => pod::check_update(old, new, &mut causes),
        "deployments.apps" | "replicasets.apps" | "statefulsets.apps" | "daemonsets.apps" => {
            immutable(old, new, "/spec/selector", &mut causes);
        }
        "customresourcedefinitions.apiextensions.k8s.io" => {
            for field in [
                "/spec/scope",
                "/spec/names/kind",
                "/spec/names/plural",
                "/spec/group",
            ] {
                immutable(old, new, field, &mut causes);
            }
        }
        "services" => immutable(old, new, "/spec/clusterIP", &mut causes),
        "rolebindings.rbac.authorization.k8s.io"
        | "clusterrolebindings.rbac.authorization.k8s.io"
            if old["roleRef"] != new["roleRef"] =>
        {
            causes.push(Cause::invalid(
                "roleRef",
                &new["roleRef"],
                "cannot change roleRef",
            ));
        }
        _ => {}
    }
    causes
}

fn immutable(old: &Value, new: &Value, pointer: &str, causes: &mut Vec<Cause>) {
    let empty = Value::Null;
    let (before, after) = (
        old.pointer(pointer).unwrap_or(&empty),
        new.pointer(pointer).unwrap_or(&empty),
    );
    if before != after {
        let field = pointer.trim_start_matches('/').replace('/', ".");
        causes.push(Cause::invalid(field, after, "field is immutable"));
    }
}
