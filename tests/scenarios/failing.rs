//! The bad days: a check says no, an adapter cannot work. Each is told, and each can be mended.

use anyhow::Result;
use e2e::process::wait_for;
use e2e::stack::{Stack, condition};
use serde_json::{Value, json};

crate::scenarios![
    a_failing_validation_fails_the_cluster_in_the_jobs_words_until_it_is_mended,
    an_adapter_that_cannot_work_degrades_the_cluster_until_it_can,
];

fn available(stack: &Stack, id: &str, adapter: &str) -> Result<Value> {
    let statuses = stack.get(&format!("/clusters/{id}/statuses"))?;
    let reports = statuses["adapter_statuses"].as_array().cloned();
    let report = reports.into_iter().flatten();
    let report = report
        .into_iter()
        .find(|report| report["adapter"] == adapter);
    Ok(condition(&report.unwrap_or_default(), "Available").clone())
}

fn a_failing_validation_fails_the_cluster_in_the_jobs_words_until_it_is_mended(
    stack: &Stack,
) -> Result<()> {
    let said = "quota: 12 of 10 vCPUs are in use";
    let simulate = json!({"validation": {"outcome": "fail", "message": said}});
    let spec = json!({"region": "eu-west-1", "simulate": simulate});
    let id = stack.create_cluster("failing", &spec)?;
    stack.wait_for_phase("clusters", &id, "Failed")?;
    let told = available(stack, &id, "validation")?;
    let message = told["message"].as_str().unwrap_or_default();
    anyhow::ensure!(
        told["reason"] == "JobFailed" && message.contains(said),
        "{told}"
    );
    let statuses = stack.get(&format!("/clusters/{id}/statuses"))?;
    let reports = statuses["adapter_statuses"].as_array().cloned();
    let failed = reports.into_iter().flatten();
    let failed: Vec<Value> = failed
        .filter(|report| report["adapter"] == "validation")
        .map(|report| report["data"]["failedChecks"].clone())
        .collect();
    anyhow::ensure!(failed == [json!(["quota"])], "{failed:?}");
    let waiting = available(stack, &id, "dns")?;
    anyhow::ensure!(waiting["reason"] == "PreconditionsNotMet", "{waiting}");

    stack.patch("clusters", &id, &json!({"region": "eu-west-1"}))?;
    stack.wait_for_phase("clusters", &id, "Ready")?;
    stack.delete("clusters", &id, &[])
}

fn an_adapter_that_cannot_work_degrades_the_cluster_until_it_can(stack: &Stack) -> Result<()> {
    let on = stack.connect()?;
    let secrets = "/api/v1/namespaces/hyperfleet-system/secrets";
    let place = format!("{secrets}/pull-secret");
    let mut secret = on.get(&place)?.unwrap_or_default();
    on.delete(&place)?;
    let id = stack.create_cluster("degraded", &json!({"region": "eu-west-1"}))?;
    let degraded = stack.wait_for_phase("clusters", &id, "Degraded");
    let told = available(stack, &id, "pull-secret");
    secret["metadata"] = json!({"name": "pull-secret", "namespace": "hyperfleet-system"});
    on.create(secrets, &secret)?;
    degraded?;
    let told = told?;
    let message = told["message"].as_str().unwrap_or_default();
    anyhow::ensure!(message.contains("hyperfleet-system/pull-secret"), "{told}");
    stack.wait_for_phase("clusters", &id, "Ready")?;
    // The others, too, were short of it.
    wait_for("everything to recover", || {
        let list = stack.get("/clusters?size=100")?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let degraded = items
            .iter()
            .filter(|one| one["status"]["phase"] == "Degraded");
        let names: Vec<&Value> = degraded.map(|one| &one["name"]).collect();
        anyhow::ensure!(names.is_empty(), "{names:?}");
        Ok(())
    })?;
    stack.delete("clusters", &id, &[])
}
