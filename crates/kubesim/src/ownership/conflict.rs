//! How a conflict between managers is told.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::fieldset::Set;
use super::managers::{Id, Operation};
use crate::failure::Failure;

pub(super) fn failure(conflicts: &[(Id, Option<DateTime<Utc>>, Set)]) -> Failure {
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for (id, _, set) in conflicts {
        let who = print(id);
        lines.push(format!("conflicts with {who}:"));
        for path in set.paths() {
            causes.push(json!({
                "reason": "FieldManagerConflict", "message": format!("conflict with {who}"), "field": path,
            }));
            lines.push(format!("- {path}"));
        }
    }
    let message = match causes.as_slice() {
        [only] => format!(
            "Apply failed with 1 conflict: {}: {}",
            only["message"].as_str().unwrap_or_default(),
            only["field"].as_str().unwrap_or_default()
        ),
        many => format!(
            "Apply failed with {} conflicts: {}",
            many.len(),
            lines.join("\n")
        ),
    };
    Failure::apply_conflict(message, causes)
}

fn print(id: &Id) -> String {
    let mut text = format!("{:?}", id.manager);
    if !id.subresource.is_empty() {
        text.push_str(&format!(" with subresource {:?}", id.subresource));
    }
    if id.operation == Operation::Update {
        text.push_str(&format!(" using {}", id.api_version));
    }
    text
}
