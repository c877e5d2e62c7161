//! Columns per kind.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{age, human_duration};
use crate::catalog::Resource;
use crate::meta;

type Cell = Box<dyn Fn(&Value, DateTime<Utc>) -> Value>;

pub(super) struct Column {
    pub name: String,
    pub kind: String,
    pub format: &'static str,
    pub priority: i64,
    pub cell: Cell,
}

fn column(
    name: &str,
    kind: &str,
    cell: impl Fn(&Value, DateTime<Utc>) -> Value + 'static,
) -> Column {
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: "",
        priority: 0,
        cell: Box::new(cell),
    }
}

fn text(name: &str, pointer: &'static str) -> Column {
    column(name, "string", move |object, _| {
        json!(meta::text(object, pointer))
    })
}

fn number(name: &str, pointer: &'static str) -> Column {
    column(name, "integer", move |object, _| {
        object.pointer(pointer).cloned().unwrap_or_else(|| json!(0))
    })
}

fn count(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn size(name: &str, pointer: &'static str) -> Column {
    column(name, "integer", move |object, _| {
        json!(object.pointer(pointer).map_or(0, |v| {
            v.as_object()
                .map_or_else(|| v.as_array().map_or(0, Vec::len), |m| m.len())
        }))
    })
}

fn ratio(name: &str, ready: &'static str, wanted: &'static str) -> Column {
    column(name, "string", move |object, _| {
        json!(format!(
            "{}/{}",
            count(object, ready),
            count(object, wanted)
        ))
    })
}

pub(super) fn of(resource: &Resource) -> Vec<Column> {
    let mut columns = vec![Column {
        format: "name",
        ..text("Name", "/metadata/name")
    }];
    columns.extend(middle(resource));
    let has_age = columns.iter().any(|c| c.name == "Age");
    if !has_age {
        columns.push(column("Age", "string", |object, now| {
            json!(age(meta::text(object, "/metadata/creationTimestamp"), now))
        }));
    }
    // Wide columns come after the age.
    columns.sort_by_key(|c| c.priority);
    columns
}

fn middle(resource: &Resource) -> Vec<Column> {
    match resource.qualified().as_str() {
        "namespaces" => vec![text("Status", "/status/phase")],
        "pods" => vec![
            column("Ready", "string", |o, _| {
                let statuses = meta::list(o, "/status/containerStatuses");
                let ready = statuses.iter().filter(|c| c["ready"] == true).count();
                json!(format!(
                    "{ready}/{}",
                    meta::list(o, "/spec/containers").len()
                ))
            }),
            column("Status", "string", |o, _| json!(pod_status(o))),
            column("Restarts", "string", |o, _| {
                let restarts: i64 = meta::list(o, "/status/containerStatuses")
                    .iter()
                    .map(|c| count(c, "/restartCount"))
                    .sum();
                json!(restarts.to_string())
            }),
            wide(text("IP", "/status/podIP")),
            wide(text("Node", "/spec/nodeName")),
        ],
        "jobs.batch" => vec![
            column("Status", "string", |o, _| json!(job_status(o))),
            column("Completions", "string", |o, _| {
                let wanted = o
                    .pointer("/spec/completions")
                    .map_or("1".to_owned(), Value::to_string);
                json!(format!("{}/{wanted}", count(o, "/status/succeeded")))
            }),
            column("Duration", "string", |o, now| {
                let Some(start) = meta::parse_time(meta::text(o, "/status/startTime")) else {
                    return json!("");
                };
                let end = meta::parse_time(meta::text(o, "/status/completionTime")).unwrap_or(now);
                json!(human_duration((end - start).num_seconds()))
            }),
        ],
        "cronjobs.batch" => vec![
            text("Schedule", "/spec/schedule"),
            column("Suspend", "string", |o, _| {
                json!(if o["spec"]["suspend"] == true {
                    "True"
                } else {
                    "False"
                })
            }),
            column("Active", "integer", |o, _| {
                json!(meta::list(o, "/status/active").len())
            }),
        ],
        "deployments.apps" => vec![
            ratio("Ready", "/status/readyReplicas", "/spec/replicas"),
            number("Up-to-date", "/status/updatedReplicas"),
            number("Available", "/status/availableReplicas"),
        ],
        "statefulsets.apps" => vec![ratio("Ready", "/status/readyReplicas", "/spec/replicas")],
        "replicasets.apps" | "replicationcontrollers" => vec![
            number("Desired", "/spec/replicas"),
            number("Current", "/status/replicas"),
            number("Ready", "/status/readyReplicas"),
        ],
        "daemonsets.apps" => vec![
            number("Desired", "/status/desiredNumberScheduled"),
            number("Current", "/status/currentNumberScheduled"),
            number("Ready", "/status/numberReady"),
            number("Available", "/status/numberAvailable"),
        ],
        "configmaps" => vec![size("Data", "/data")],
        "secrets" => vec![text("Type", "/type"), size("Data", "/data")],
        "services" => vec![
            text("Type", "/spec/type"),
            text("Cluster-IP", "/spec/clusterIP"),
            column("External-IP", "string", |_, _| json!("<none>")),
            column("Port(s)", "string", |o, _| {
                let ports: Vec<String> = meta::list(o, "/spec/ports")
                    .iter()
                    .map(|p| format!("{}/{}", count(p, "/port"), meta::text(p, "/protocol")))
                    .collect();
                json!(if ports.is_empty() {
                    "<none>".to_owned()
                } else {
                    ports.join(",")
                })
            }),
        ],
        "serviceaccounts" => vec![size("Secrets", "/secrets")],
        "persistentvolumeclaims" => vec![
            text("Status", "/status/phase"),
            text("Volume", "/spec/volumeName"),
        ],
        "leases.coordination.k8s.io" => vec![text("Holder", "/spec/holderIdentity")],
        "customresourcedefinitions.apiextensions.k8s.io" => vec![Column {
            name: "Created At".into(),
            kind: "date".into(),
            format: "",
            priority: 0,
            cell: Box::new(|o, _| o["metadata"]["creationTimestamp"].clone()),
        }],
        "events" | "events.events.k8s.io" => vec![
            column("Last Seen", "string", |o, now| {
                let seen = [
                    meta::text(o, "/lastTimestamp"),
                    meta::text(o, "/eventTime"),
                    meta::text(o, "/metadata/creationTimestamp"),
                ];
                json!(age(
                    seen.into_iter().find(|t| !t.is_empty()).unwrap_or_default(),
                    now
                ))
            }),
            text("Type", "/type"),
            text("Reason", "/reason"),
            column("Object", "string", |o, _| {
                let kind = meta::text(o, "/involvedObject/kind").to_lowercase();
                json!(format!("{kind}/{}", meta::text(o, "/involvedObject/name")))
            }),
            text("Message", "/message"),
        ],
        _ => custom(resource),
    }
}

fn wide(column: Column) -> Column {
    Column {
        priority: 1,
        ..column
    }
}

/// `additionalPrinterColumns`, with the simple JSON paths they use.
fn custom(resource: &Resource) -> Vec<Column> {
    let Some(kind) = &resource.custom else {
        return Vec::new();
    };
    let mut columns = Vec::new();
    for definition in kind.printer_columns.as_array().into_iter().flatten() {
        let path = meta::text(definition, "/jsonPath").to_owned();
        let kind = meta::text(definition, "/type").to_owned();
        let date = kind == "date";
        columns.push(Column {
            name: meta::text(definition, "/name").to_owned(),
            kind,
            format: "",
            priority: count(definition, "/priority"),
            cell: Box::new(move |object, now| match json_path(object, &path) {
                Some(Value::String(time)) if date => json!(age(&time, now)),
                Some(value) => value,
                None => Value::Null,
            }),
        });
    }
    columns
}

/// `.status.conditions[?(@.type=="Ready")].status`, `.spec.list[0].x` and `.metadata.name`.
fn json_path(object: &Value, path: &str) -> Option<Value> {
    let mut value = object;
    let mut rest = path.trim_matches(['{', '}']);
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']')?;
            rest = after;
            value = match index.strip_prefix("?(@.").and_then(|f| f.strip_suffix(')')) {
                Some(filter) => {
                    let (field, wanted) = filter.split_once("==")?;
                    let wanted = wanted.trim().trim_matches(['"', '\'']);
                    value
                        .as_array()?
                        .iter()
                        .find(|item| item[field.trim()] == wanted)?
                }
                None => value.get(index.parse::<usize>().ok()?)?,
            };
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        value = value.get(&rest[..end])?;
        rest = &rest[end..];
    }
    Some(value.clone())
}

fn pod_status(pod: &Value) -> String {
    if meta::is_deleting(pod) {
        return "Terminating".into();
    }
    for status in meta::list(pod, "/status/containerStatuses") {
        for state in ["waiting", "terminated"] {
            let reason = meta::text(status, &format!("/state/{state}/reason"));
            if !reason.is_empty() {
                return reason.to_owned();
            }
        }
    }
    meta::text(pod, "/status/phase").to_owned()
}

fn job_status(job: &Value) -> &'static str {
    let holds = |kind: &str| {
        meta::list(job, "/status/conditions")
            .iter()
            .any(|c| c["type"] == kind && c["status"] == "True")
    };
    if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if meta::is_deleting(job) {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}
