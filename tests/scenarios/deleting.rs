//! The last days: what is deleted goes, in its order, and leaves nothing.

use anyhow::{Context, Result};
use e2e::process::wait_for;
use e2e::stack::Stack;
use serde_json::json;

crate::scenarios![
    a_deleted_cluster_goes_with_its_node_pools_and_leaves_nothing,
    a_cluster_can_be_deleted_while_it_changes,
    a_name_can_be_used_again,
    what_a_forced_deletion_leaves_is_swept_away,
];

/// A cluster with two node pools, all Ready.
fn with_pools(stack: &Stack, name: &str) -> Result<(String, Vec<String>)> {
    let id = stack.create_cluster(name, &json!({"region": "us-east-1"}))?;
    let pools =
        ["workers", "infra"].map(|pool| stack.create_nodepool(&id, pool, &json!({"replicas": 2})));
    let pools = pools.into_iter().collect::<Result<Vec<String>>>()?;
    stack.wait_for_phase("clusters", &id, "Ready")?;
    for pool in &pools {
        stack.wait_for_phase("nodepools", pool, "Ready")?;
    }
    Ok((id, pools))
}

fn a_deleted_cluster_goes_with_its_node_pools_and_leaves_nothing(stack: &Stack) -> Result<()> {
    let (id, pools) = with_pools(stack, "doomed")?;
    stack.delete("clusters", &id, &pools)?;
    for pool in &pools {
        stack.wait_until_gone("nodepools", pool)?;
    }
    stack.wait_until_gone("clusters", &id)
}

fn a_cluster_can_be_deleted_while_it_changes(stack: &Stack) -> Result<()> {
    let id = stack.create_cluster("hasty", &json!({"region": "us-east-1"}))?;
    stack.wait_for_phase("clusters", &id, "Ready")?;
    stack.patch(
        "clusters",
        &id,
        &json!({"region": "us-east-1", "release": {"version": "4.20.9"}}),
    )?;
    wait_for("the change to be under way", || {
        let path = format!("/apis/batch/v1/namespaces/{id}/jobs/validation-gen2");
        stack.connect()?.get(&path)?.context("no Job yet")
    })?;
    stack.delete("clusters", &id, &[])?;
    stack.wait_until_gone("clusters", &id)?;
    // And one that has hardly begun.
    let id = stack.create_cluster("hastier", &json!({"region": "us-east-1"}))?;
    stack.delete("clusters", &id, &[])?;
    stack.wait_until_gone("clusters", &id)
}

fn a_name_can_be_used_again(stack: &Stack) -> Result<()> {
    let spec = json!({"region": "us-east-1"});
    let first = stack.create_cluster("again", &spec)?;
    stack.wait_for_phase("clusters", &first, "Ready")?;
    stack.delete("clusters", &first, &[])?;
    stack.wait_until_gone("clusters", &first)?;
    let second = stack.create_cluster("again", &spec)?;
    anyhow::ensure!(first != second);
    stack.wait_for_phase("clusters", &second, "Ready")?;
    stack.delete("clusters", &second, &[])?;
    stack.wait_until_gone("clusters", &second)
}

fn what_a_forced_deletion_leaves_is_swept_away(stack: &Stack) -> Result<()> {
    let (id, pools) = with_pools(stack, "forced")?;
    let on = stack.connect()?;
    anyhow::ensure!(on.objects_of(&id)?.len() > 5);
    stack.delete("clusters", &id, &pools)?;
    // Adapters that were faster are fine.
    for (plural, id) in pools
        .iter()
        .map(|id| ("nodepools", id))
        .chain([("clusters", &id)])
    {
        stack.ledger.forced(id);
        let path = format!("/{plural}/{id}/force-delete");
        let answer = stack.call("POST", &path, Some(&json!({"reason": "a test"})))?;
        anyhow::ensure!(
            answer.status < 300 || answer.status == 404,
            "{}",
            answer.body
        );
    }
    for pool in &pools {
        stack.wait_until_gone("nodepools", pool)?;
    }
    stack.wait_until_gone("clusters", &id)
}
