//! Mixed stacks: what components of v1.0 say to ours, and what they expect to hear. The recordings are in `wire/`.

use anyhow::{Context, Result};
use chrono::{SecondsFormat, Utc};
use e2e::root;
use e2e::stack::Stack;
use serde_json::{Value, json};

crate::scenarios![
    a_sentinel_of_v1_is_answered_as_it_expects,
    an_adapter_of_v1_is_answered_as_it_expects,
];

fn a_sentinel_of_v1_is_answered_as_it_expects(stack: &Stack) -> Result<()> {
    replay(stack, "sentinel")
}

fn an_adapter_of_v1_is_answered_as_it_expects(stack: &Stack) -> Result<()> {
    replay(stack, "adapter")
}

fn replay(stack: &Stack, who: &str) -> Result<()> {
    let file = root().join(format!("tests/wire/{who}.json"));
    let recording: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let cluster = stack.create_cluster(&format!("wire-{who}"), &json!({"region": "us-east-1"}))?;
    let exchanges = recording["exchanges"].as_array().context("no exchanges")?;
    for exchange in exchanges {
        let now = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
        let filled = exchange
            .to_string()
            .replace("{cluster}", &cluster)
            .replace("{now}", &now);
        let exchange: Value = serde_json::from_str(&filled)?;
        one(stack, &exchange)
            .with_context(|| format!("{}: {}", recording["who"], exchange["says"]))?;
    }
    stack.delete("clusters", &cluster, &[])
}

fn one(stack: &Stack, exchange: &Value) -> Result<()> {
    let (request, wanted) = (&exchange["request"], &exchange["answer"]);
    let text = |key: &str| request[key].as_str().context("no text").map(str::to_owned);
    let answer = stack.call(&text("method")?, &text("path")?, request.get("body"))?;
    anyhow::ensure!(
        wanted["status"] == answer.status,
        "{}: {}",
        answer.status,
        answer.body
    );
    for (key, value) in wanted["has"].as_object().into_iter().flatten() {
        anyhow::ensure!(answer.body[key] == *value, "{key}: {}", answer.body);
    }
    let items = answer.body["items"].as_array().cloned().unwrap_or_default();
    has_all(&wanted["items_have"], &items)?;
    has_all(&wanted["report_has"], &[answer.body])?;
    let conditions: Vec<Value> = items
        .iter()
        .filter_map(|item| item["status"]["conditions"].as_array())
        .flatten()
        .cloned()
        .collect();
    has_all(&wanted["conditions_have"], &conditions)
}

/// Every one of `these` has all keys that are wanted, if any are; there must be some then.
fn has_all(keys: &Value, these: &[Value]) -> Result<()> {
    let Some(keys) = keys.as_array() else {
        return Ok(());
    };
    anyhow::ensure!(!these.is_empty(), "there are none");
    for one in these {
        for key in keys.iter().filter_map(Value::as_str) {
            anyhow::ensure!(one.get(key).is_some(), "no `{key}` in {one}");
        }
    }
    Ok(())
}
