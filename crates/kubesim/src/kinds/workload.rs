//! Deployments, replica sets, stateful sets and daemon sets.

use serde_json::{Value, json};

use super::pod;
use crate::failure::Cause;
use crate::meta::{self, fill};

fn fill_template(spec: &mut Value) {
    if let Some(template) = spec.pointer_mut("/template/spec") {
        pod::fill_spec(template);
    }
}

pub(super) fn fill_deployment(spec: &mut Value) {
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    if spec.is_object() {
        let strategy = meta::object_at(spec, "strategy");
        strategy
            .entry("type")
            .or_insert_with(|| "RollingUpdate".into());
        if strategy["type"] == "RollingUpdate" {
            let rolling = &mut spec["strategy"]["rollingUpdate"];
            if !rolling.is_object() {
                *rolling = json!({});
            }
            fill(rolling, "maxUnavailable", "25%");
            fill(rolling, "maxSurge", "25%");
        }
    }
    fill_template(spec);
}

pub(super) fn fill_replica_set(object: &mut Value) {
    let spec = &mut object["spec"];
    fill(spec, "replicas", 1);
    fill_template(spec);
}

pub(super) fn fill_stateful_set(spec: &mut Value) {
    fill(spec, "replicas", 1);
    fill(spec, "podManagementPolicy", "OrderedReady");
    fill(spec, "revisionHistoryLimit", 10);
    fill(
        spec,
        "updateStrategy",
        json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } }),
    );
    fill(
        spec,
        "persistentVolumeClaimRetentionPolicy",
        json!({ "whenDeleted": "Retain", "whenScaled": "Retain" }),
    );
    fill_template(spec);
}

pub(super) fn fill_daemon_set(spec: &mut Value) {
    fill(spec, "revisionHistoryLimit", 10);
    fill(
        spec,
        "updateStrategy",
        json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 1, "maxSurge": 0 } }),
    );
    fill_template(spec);
}

pub(super) fn check(spec: &Value, causes: &mut Vec<Cause>) {
    if let Some(replicas) = spec
        .get("replicas")
        .filter(|v| v.as_i64().is_some_and(|n| n < 0))
    {
        causes.push(Cause::invalid(
            "spec.replicas",
            replicas,
            "must be greater than or equal to 0",
        ));
    }
    let selector = &spec["selector"];
    let wanted = selector["matchLabels"].as_object();
    if selector.is_null() {
        causes.push(Cause::required("spec.selector", ""));
    } else if wanted.is_none_or(|w| w.is_empty())
        && meta::list(selector, "/matchExpressions").is_empty()
    {
        causes.push(Cause::invalid(
            "spec.selector",
            selector,
            "empty selector is invalid for deployment",
        ));
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if wanted.is_some_and(|wanted| wanted.iter().any(|(k, v)| labels.get(k) != Some(v))) {
        causes.push(Cause::invalid(
            "spec.template.metadata.labels",
            labels,
            "`selector` does not match template `labels`",
        ));
    }
    pod::check_spec(&spec["template"]["spec"], "spec.template.spec", causes);
    let restart = meta::text(spec, "/template/spec/restartPolicy");
    if ["OnFailure", "Never"].contains(&restart) {
        causes.push(Cause::unsupported(
            "spec.template.spec.restartPolicy",
            &restart.into(),
            &["Always"],
        ));
    }
}
