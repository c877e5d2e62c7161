//! `clusterStatus`, `nodePoolStatus`: everything adapters said about one resource.

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::resource::Resource;
use serde_json::{Value, json};

pub(super) fn document(resource: &Resource, reports: &[AdapterStatus]) -> Value {
    let mut letters = resource.kind.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let kind: String = first.into_iter().chain(letters).collect();
    let statuses: Vec<Value> = reports.iter().map(entry).collect();
    // When the document last changed. That the oldest report counts for the resource is its own status's matter.
    let newest = reports.iter().map(|report| report.last_report_time).max();
    let mut document = json!({
        "id": format!("status-{}", resource.id),
        "type": format!("{kind}Status"),
        "href": format!("{}/statuses", resource.href),
        "adapter_statuses": statuses,
        "last_updated_time": newest.unwrap_or(resource.status.last_updated_time),
    });
    document[format!("{}_id", resource.kind.to_lowercase())] = json!(resource.id);
    document
}

fn entry(report: &AdapterStatus) -> Value {
    let mut entry = json!(report);
    entry["last_updated_time"] = json!(report.last_report_time);
    entry
}
