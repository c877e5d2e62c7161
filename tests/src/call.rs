//! HTTP as a script would do it: the client under test is not the one that tests.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

/// Longer than any request of a healthy system takes.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What a server said.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

/// One request. An error means that nobody knows what became of it.
pub fn call(method: &str, url: &str, body: Option<&Value>) -> Result<Answer> {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(TIMEOUT))
        .build()
        .new_agent();
    let request = http::Request::builder().method(method).uri(url);
    let request = request.body(body.map(Value::to_string).unwrap_or_default())?;
    let told = || format!("{method} {url}");
    let mut response = agent.run(request).with_context(told)?;
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().with_context(told)?;
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Ok(Answer { status, body })
}
