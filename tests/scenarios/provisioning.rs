//! The good days: clusters and node pools come, change and are repaired.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use e2e::adapters::{OF_CLUSTERS, OF_NODE_POOLS};
use e2e::process::wait_for;
use e2e::stack::{Stack, condition};
use serde_json::{Value, json};

crate::scenarios![
    a_cluster_comes_to_ready_through_all_its_adapters_in_their_order,
    a_changed_spec_is_reconciled_by_all_at_the_new_generation,
    node_pools_come_scale_and_go_without_touching_their_cluster,
    what_is_taken_away_by_hand_comes_back,
];

/// What each adapter says, by name.
fn reports(stack: &Stack, plural: &str, id: &str) -> Result<Vec<Value>> {
    let statuses = stack.get(&format!("/{plural}/{id}/statuses"))?;
    let reports = statuses["adapter_statuses"].as_array();
    Ok(reports.context("no reports")?.clone())
}

fn report<'r>(reports: &'r [Value], adapter: &str) -> Result<&'r Value> {
    let mut reports = reports.iter();
    let found = reports.find(|report| report["adapter"] == adapter);
    found.with_context(|| format!("{adapter} has not reported"))
}

fn a_cluster_comes_to_ready_through_all_its_adapters_in_their_order(stack: &Stack) -> Result<()> {
    let begun = Instant::now();
    let spec = json!({"region": "eu-west-1", "release": {"version": "4.20.3"}});
    let id = stack.create_cluster("first", &spec)?;
    let ready = stack.wait_for_phase("clusters", &id, "Ready")?;
    eprintln!(
        "POST to Ready with 6 adapters: {:.2} s",
        begun.elapsed().as_secs_f64()
    );
    anyhow::ensure!(condition(&ready["status"], "Reconciled")["status"] == "True");
    let reports = reports(stack, "clusters", &id)?;
    let since = |adapter: &str| -> Result<String> {
        let available = condition(report(&reports, adapter)?, "Available");
        anyhow::ensure!(available["status"] == "True", "{adapter}: {available}");
        let time = available["last_transition_time"].as_str();
        Ok(time.context("no time")?.to_owned())
    };
    for (before, after) in [
        ("landing-zone", "validation"),
        ("landing-zone", "placement"),
        ("landing-zone", "pull-secret"),
        ("validation", "dns"),
        ("dns", "control-plane"),
        ("placement", "control-plane"),
        ("pull-secret", "control-plane"),
    ] {
        let (earlier, later) = (since(before)?, since(after)?);
        anyhow::ensure!(
            earlier <= later,
            "{before} at {earlier}, {after} at {later}"
        );
    }
    let data = |adapter: &str| anyhow::Ok(report(&reports, adapter)?["data"].clone());
    anyhow::ensure!(data("validation")?["checksPassed"] == 3);
    anyhow::ensure!(data("dns")?["recordsCreated"][0] == "api.first.example.com");
    anyhow::ensure!(data("placement")?["placement"]["region"] == "eu-west-1");
    anyhow::ensure!(data("control-plane")?["resources"]["hostedCluster"] == "first");
    stack.delete("clusters", &id, &[])
}

fn a_changed_spec_is_reconciled_by_all_at_the_new_generation(stack: &Stack) -> Result<()> {
    let spec = json!({"region": "eu-west-1", "release": {"version": "4.20.3"}});
    let id = stack.create_cluster("changing", &spec)?;
    stack.wait_for_phase("clusters", &id, "Ready")?;
    let spec = json!({"region": "eu-west-1", "release": {"version": "4.20.4"}});
    let changed = stack.patch("clusters", &id, &spec)?;
    anyhow::ensure!(changed["generation"] == 2, "{changed}");
    anyhow::ensure!(changed["status"]["phase"] != "Ready", "{changed}");
    stack.wait_for_phase("clusters", &id, "Ready")?;
    let reports = reports(stack, "clusters", &id)?;
    for adapter in OF_CLUSTERS {
        anyhow::ensure!(
            report(&reports, adapter)?["observed_generation"] == 2,
            "{adapter}"
        );
    }
    let on = stack.connect()?;
    let hosted = on
        .get(&hosted_cluster(&id, "changing"))?
        .context("no HostedCluster")?;
    let image = hosted["spec"]["release"]["image"]
        .as_str()
        .unwrap_or_default();
    anyhow::ensure!(image.contains("4.20.4"), "{image}");
    // The Job of the generation before stays to be looked at.
    for job in ["validation-gen1", "validation-gen2"] {
        let path = format!("/apis/batch/v1/namespaces/{id}/jobs/{job}");
        anyhow::ensure!(on.get(&path)?.is_some(), "no {job}");
    }
    stack.delete("clusters", &id, &[])
}

fn node_pools_come_scale_and_go_without_touching_their_cluster(stack: &Stack) -> Result<()> {
    let id = stack.create_cluster("pools", &json!({"region": "us-east-1"}))?;
    stack.wait_for_phase("clusters", &id, "Ready")?;
    let on = stack.connect()?;
    let of_cluster = |what: &str| -> Result<(Value, Value, Value)> {
        let cluster = stack.get(&format!("/clusters/{id}"))?;
        let hosted = on
            .get(&hosted_cluster(&id, "pools"))?
            .context(what.to_owned())?;
        let metadata = &hosted["metadata"];
        Ok((
            cluster["generation"].clone(),
            metadata["uid"].clone(),
            metadata["generation"].clone(),
        ))
    };
    let before = of_cluster("no HostedCluster")?;

    let pool = stack.create_nodepool(&id, "workers", &json!({"replicas": 2}))?;
    stack.wait_for_phase("nodepools", &pool, "Ready")?;
    let nodes = |pool: &str| -> Result<Value> {
        let reports = reports(stack, "nodepools", pool)?;
        Ok(report(&reports, "nodepool")?["data"]["nodes"].clone())
    };
    anyhow::ensure!(nodes(&pool)? == json!({"wanted": 2, "ready": 2}));
    stack.patch("nodepools", &pool, &json!({"replicas": 5}))?;
    stack.wait_for_phase("nodepools", &pool, "Ready")?;
    anyhow::ensure!(nodes(&pool)? == json!({"wanted": 5, "ready": 5}));
    for adapter in OF_NODE_POOLS {
        let reports = reports(stack, "nodepools", &pool)?;
        anyhow::ensure!(
            report(&reports, adapter)?["observed_generation"] == 2,
            "{adapter}"
        );
    }
    stack.delete("nodepools", &pool, &[])?;
    stack.wait_until_gone("nodepools", &pool)?;
    anyhow::ensure!(of_cluster("the HostedCluster is gone")? == before);
    stack.wait_for_phase("clusters", &id, "Ready")?;
    stack.delete("clusters", &id, &[])
}

fn what_is_taken_away_by_hand_comes_back(stack: &Stack) -> Result<()> {
    let id = stack.create_cluster("meddled", &json!({"region": "us-east-1"}))?;
    stack.wait_for_phase("clusters", &id, "Ready")?;
    let on = stack.connect()?;
    let paths = [
        hosted_cluster(&id, "meddled"),
        format!("/api/v1/namespaces/{id}/configmaps/cluster"),
        format!("/api/v1/namespaces/{id}/secrets/pull-secret"),
        format!("/apis/batch/v1/namespaces/{id}/jobs/validation-gen1"),
    ];
    stack.ledger.meddled("HostedCluster", &id, "meddled");
    let uid = |path: &str| -> Result<Value> {
        let object = on.get(path)?.with_context(|| path.to_owned())?;
        Ok(object["metadata"]["uid"].clone())
    };
    let before = paths
        .iter()
        .map(|path| uid(path))
        .collect::<Result<Vec<_>>>()?;
    for path in &paths {
        on.delete(path)?;
    }
    for (path, before) in paths.iter().zip(&before) {
        wait_for(&format!("{path} to come back"), || match uid(path)? {
            same if same == *before => bail!("it is still the old one"),
            _ => Ok(()),
        })?;
    }
    stack.wait_for_phase("clusters", &id, "Ready")?;
    stack.delete("clusters", &id, &[])
}

fn hosted_cluster(namespace: &str, name: &str) -> String {
    format!("/apis/hypershift.openshift.io/v1beta1/namespaces/{namespace}/hostedclusters/{name}")
}
