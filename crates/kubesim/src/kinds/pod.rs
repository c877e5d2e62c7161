//! Pods and pod templates.

use serde_json::{Value, json};

use crate::failure::Cause;
use crate::meta::{self, fill};
use crate::validation::dns_label_problem;

pub(super) fn fill_spec(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    fill(spec, "restartPolicy", "Always");
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "schedulerName", "default-scheduler");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "securityContext", json!({}));
    if let Some(account) = spec.get("serviceAccountName").cloned() {
        fill(spec, "serviceAccount", account);
    }
    for list in ["containers", "initContainers"] {
        for container in spec
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            fill_container(container);
        }
    }
    for volume in spec
        .get_mut("volumes")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        for source in ["configMap", "secret", "downwardAPI", "projected"] {
            if volume.get(source).is_some_and(Value::is_object) {
                fill(&mut volume[source], "defaultMode", 420);
            }
        }
    }
}

fn fill_container(container: &mut Value) {
    let image = container
        .get("image")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let tag = image
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .split_once(':')
        .map(|(_, tag)| tag);
    let floating = !image.contains('@') && matches!(tag, None | Some("latest"));
    fill(
        container,
        "imagePullPolicy",
        if floating { "Always" } else { "IfNotPresent" },
    );
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    fill(container, "resources", json!({}));
    for port in container
        .get_mut("ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        fill(port, "protocol", "TCP");
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe).filter(|p| p.is_object()) {
            for (field, value) in [
                ("timeoutSeconds", 1),
                ("periodSeconds", 10),
                ("successThreshold", 1),
                ("failureThreshold", 3),
            ] {
                fill(probe, field, value);
            }
            if let Some(get) = probe.get_mut("httpGet").filter(|g| g.is_object()) {
                fill(get, "scheme", "HTTP");
                fill(get, "path", "/");
            }
        }
    }
    for env in container
        .get_mut("env")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(field) = env.pointer_mut("/valueFrom/fieldRef") {
            fill(field, "apiVersion", "v1");
        }
    }
}

pub(super) fn prepare(object: &mut Value) {
    object["status"] = json!({ "phase": "Pending", "qosClass": "BestEffort" });
    let spec = &mut object["spec"];
    fill(spec, "serviceAccountName", "default");
    fill(spec, "serviceAccount", "default");
    fill(spec, "enableServiceLinks", true);
    fill(spec, "preemptionPolicy", "PreemptLowerPriority");
    fill(spec, "priority", 0);
    if spec.get("tolerations").is_none() {
        let wait = |key: &str| json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 });
        spec["tolerations"] = json!([
            wait("node.kubernetes.io/not-ready"),
            wait("node.kubernetes.io/unreachable")
        ]);
    }
}

pub(super) fn check_spec(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    let containers = meta::list(spec, "/containers");
    if containers.is_empty() {
        causes.push(Cause::required(format!("{path}.containers"), ""));
    }
    let mut names = Vec::new();
    for list in ["initContainers", "containers"] {
        for (index, container) in meta::list(spec, &format!("/{list}")).iter().enumerate() {
            let at = format!("{path}.{list}[{index}]");
            let name = meta::text(container, "/name");
            if name.is_empty() {
                causes.push(Cause::required(format!("{at}.name"), ""));
            } else if let Some(problem) = dns_label_problem(name) {
                causes.push(Cause::invalid(format!("{at}.name"), &name.into(), &problem));
            } else if names.contains(&name) {
                causes.push(Cause::duplicate(format!("{at}.name"), &name.into()));
            }
            names.push(name);
            if meta::text(container, "/image").is_empty() {
                causes.push(Cause::required(format!("{at}.image"), ""));
            }
        }
    }
    let restart = meta::text(spec, "/restartPolicy");
    if !["Always", "OnFailure", "Never"].contains(&restart) {
        causes.push(Cause::unsupported(
            format!("{path}.restartPolicy"),
            &restart.into(),
            &["Always", "OnFailure", "Never"],
        ));
    }
}

/// A running pod can change little more than its images.
pub(super) fn check_update(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let frozen = |object: &Value| {
        let mut spec = object["spec"].clone();
        if let Some(map) = spec.as_object_mut() {
            for field in [
                "activeDeadlineSeconds",
                "tolerations",
                "terminationGracePeriodSeconds",
                "schedulingGates",
                "nodeName",
            ] {
                map.remove(field);
            }
        }
        for list in ["containers", "initContainers"] {
            for container in spec
                .get_mut(list)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                container["image"] = Value::Null;
            }
        }
        spec
    };
    if frozen(old) != frozen(new) {
        causes.push(Cause::forbidden(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
        ));
    }
}
