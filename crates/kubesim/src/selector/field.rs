//! Field selectors: `metadata.name=x,status.phase!=Running`.

use serde_json::Value;

use crate::catalog::Resource;
use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq)]
struct Term {
    path: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    pub(crate) fn parse(text: &str, resource: &Resource) -> Result<FieldSelector, Failure> {
        let mut terms = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
                (path, false, value)
            } else if let Some((path, value)) =
                part.split_once("==").or_else(|| part.split_once('='))
            {
                (path, true, value)
            } else {
                return Err(Failure::bad_request(format!(
                    "invalid selector: '{text}'; can't understand '{part}'"
                )));
            };
            if !supported(resource, path) {
                return Err(Failure::bad_request(format!(
                    "field label not supported: {path}"
                )));
            }
            terms.push(Term {
                path: path.to_owned(),
                equal,
                value: value.to_owned(),
            });
        }
        Ok(FieldSelector { terms })
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.terms
            .iter()
            .all(|term| (field(object, &term.path) == term.value) == term.equal)
    }

    /// The only name this selector admits, which turns a list into a lookup.
    pub(crate) fn name(&self) -> Option<&str> {
        self.terms
            .iter()
            .find(|t| t.equal && t.path == "metadata.name")
            .map(|t| t.value.as_str())
    }
}

fn supported(resource: &Resource, path: &str) -> bool {
    if path == "metadata.name" || (path == "metadata.namespace") {
        return true;
    }
    let more: &[&str] = match resource.qualified().as_str() {
        "pods" => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        "namespaces" => &["status.phase"],
        "secrets" => &["type"],
        "nodes" => &["spec.unschedulable"],
        "jobs.batch" => &["status.successful"],
        "services" => &["spec.clusterIP", "spec.type"],
        "replicasets.apps" | "replicationcontrollers" => &["status.replicas"],
        "certificatesigningrequests.certificates.k8s.io" => &["spec.signerName"],
        "events" | "events.events.k8s.io" => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingComponent",
            "reportingController",
            "source",
            "type",
        ],
        _ => &[],
    };
    more.contains(&path)
}

fn field(object: &Value, path: &str) -> String {
    // Selectable names that are not paths of the stored form.
    let path = match path {
        "status.successful" => "status.succeeded".to_owned(),
        "source" => "source.component".to_owned(),
        "reportingController" => "reportingComponent".to_owned(),
        other => match other.strip_prefix("regarding.") {
            Some(rest) => format!("involvedObject.{rest}"),
            None => other.to_owned(),
        },
    };
    let mut value = object;
    for key in path.split('.') {
        match value.get(key) {
            Some(inner) => value = inner,
            None => value = &Value::Null,
        }
    }
    match value {
        Value::Null if path == "status.succeeded" || path == "status.replicas" => "0".to_owned(),
        Value::Null if path.ends_with("hostNetwork") || path.ends_with("unschedulable") => {
            "false".to_owned()
        }
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
