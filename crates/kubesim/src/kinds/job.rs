//! Jobs and cron jobs.

use serde_json::{Value, json};

use super::{immutable, pod};
use crate::failure::Cause;
use crate::meta::{self, fill};

pub(super) fn fill_job(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    let has_completions = spec.get("completions").is_some_and(|v| !v.is_null());
    let has_parallelism = spec.get("parallelism").is_some_and(|v| !v.is_null());
    if !has_completions && !has_parallelism {
        fill(spec, "completions", 1);
    }
    fill(spec, "parallelism", 1);
    if spec.get("backoffLimitPerIndex").is_none_or(Value::is_null) {
        fill(spec, "backoffLimit", 6);
    } else {
        fill(spec, "backoffLimit", i32::MAX);
    }
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    let replacement = if spec.get("podFailurePolicy").is_some() {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    fill(spec, "podReplacementPolicy", replacement);
    if let Some(template) = spec.pointer_mut("/template/spec") {
        pod::fill_spec(template);
    }
}

pub(super) fn fill_cron(spec: &mut Value) {
    if !spec.is_object() {
        return;
    }
    fill(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    if let Some(template) = spec.pointer_mut("/jobTemplate/spec/template/spec") {
        pod::fill_spec(template);
    }
}

/// The selector and labels that tie pods to their job.
pub(super) fn prepare(object: &mut Value) {
    object["status"] = json!({});
    if object["spec"]["manualSelector"] == true {
        return;
    }
    let (uid, name) = (meta::uid(object).to_owned(), meta::name(object).to_owned());
    let spec = &mut object["spec"];
    fill(
        spec,
        "selector",
        json!({ "matchLabels": { "batch.kubernetes.io/controller-uid": uid } }),
    );
    let template = &mut spec["template"];
    if !template.is_object() {
        return;
    }
    let metadata = meta::object_at(template, "metadata");
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ] {
        labels[key] = value.as_str().into();
    }
    // A job without labels of its own takes its template's.
    let labels = labels.clone();
    let own = meta::metadata_mut(object)
        .entry("labels")
        .or_insert(Value::Null);
    if own.as_object().is_none_or(|l| l.is_empty()) {
        *own = labels;
    }
}

pub(super) fn check(spec: &Value, path: &str, causes: &mut Vec<Cause>) {
    for field in [
        "parallelism",
        "completions",
        "backoffLimit",
        "activeDeadlineSeconds",
        "ttlSecondsAfterFinished",
    ] {
        if let Some(value) = spec
            .get(field)
            .filter(|v| v.as_i64().is_some_and(|n| n < 0))
        {
            causes.push(Cause::invalid(
                format!("{path}.{field}"),
                value,
                "must be greater than or equal to 0",
            ));
        }
    }
    let template = &spec["template"]["spec"];
    pod::check_spec(template, &format!("{path}.template.spec"), causes);
    let restart = meta::text(template, "/restartPolicy");
    if !["OnFailure", "Never"].contains(&restart) {
        causes.push(Cause {
            reason: "FieldValueRequired",
            field: format!("{path}.template.spec.restartPolicy"),
            message: "Required value: valid values: \"OnFailure\", \"Never\"".into(),
        });
    }
}

pub(super) fn check_cron(spec: &Value, causes: &mut Vec<Cause>) {
    if meta::text(spec, "/schedule").is_empty() {
        causes.push(Cause::required("spec.schedule", ""));
    }
    check(
        &spec["jobTemplate"]["spec"],
        "spec.jobTemplate.spec",
        causes,
    );
}

pub(super) fn check_update(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    immutable(old, new, "/spec/selector", causes);
    immutable(old, new, "/spec/completionMode", causes);
    if old["spec"]["completionMode"] != "Indexed" {
        immutable(old, new, "/spec/completions", causes);
    }
    // A suspended job that never started may still change where its pods run.
    if !(old["spec"]["suspend"] == true && old["status"]["startTime"].is_null()) {
        immutable(old, new, "/spec/template", causes);
    }
}
