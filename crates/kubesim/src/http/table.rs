//! The columns `kubectl get` prints.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::catalog::Resource;
use crate::meta;

mod columns;

pub(super) fn of_list(resource: &Resource, items: &[Arc<Value>], metadata: Value) -> Value {
    let now = Utc::now();
    let columns = columns::of(resource);
    let definitions: Vec<Value> = columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name, "type": column.kind, "format": column.format, "description": column.name,
                "priority": column.priority,
            })
        })
        .collect();
    let rows: Vec<Value> = items
        .iter()
        .map(|object| {
            let cells: Vec<Value> = columns
                .iter()
                .map(|column| (column.cell)(object, now))
                .collect();
            json!({ "cells": cells, "object": metadata_only(object) })
        })
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

pub(super) fn metadata_only(object: &Value) -> Value {
    json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"] })
}

/// `5s`, `3m10s`, `2d5h`: as `kubectl` shortens durations.
fn age(from: &str, now: DateTime<Utc>) -> String {
    match meta::parse_time(from) {
        Some(from) => human_duration((now - from).num_seconds()),
        None => "<unknown>".into(),
    }
}

fn human_duration(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    let two = |big: i64, unit: &str, rest: i64, small: &str| {
        if rest == 0 {
            format!("{big}{unit}")
        } else {
            format!("{big}{unit}{rest}{small}")
        }
    };
    match seconds {
        i64::MIN..=-2 => "<invalid>".into(),
        -1..=0 => "0s".into(),
        1..=119 => format!("{seconds}s"),
        120..=599 => two(minutes, "m", seconds % 60, "s"),
        600..=10_799 => format!("{minutes}m"),
        10_800..=28_799 => two(hours, "h", minutes % 60, "m"),
        28_800..=172_799 => format!("{hours}h"),
        172_800..=691_199 => two(days, "d", hours % 24, "h"),
        _ if days < 730 => format!("{days}d"),
        _ if days < 2920 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::human_duration;

    #[test]
    fn durations_read_as_kubectl_prints_them() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (130, "2m10s"),
            (700, "11m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (90_000, "25h"),
            (200_000, "2d7h"),
            (864_000, "10d"),
            (70_000_000, "2y80d"),
        ] {
            assert_eq!(human_duration(seconds), text, "{seconds}");
        }
    }
}
