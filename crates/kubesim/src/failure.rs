//! Every refusal of the API: the `kind: Status` body and its HTTP code, worded as kube-apiserver words them.

use serde_json::{Value, json};

use crate::catalog::Resource;

/// A refused request, ready to be sent as `kind: Status`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub code: u16,
    pub reason: &'static str,
    pub message: String,
    pub details: Option<Value>,
}

/// One `details.causes` entry of a 422.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    pub reason: &'static str,
    pub field: String,
    pub message: String,
}

impl Cause {
    /// The offending value was not given.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Cause {
        let message = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        Cause {
            reason: "FieldValueRequired",
            field: field.into(),
            message,
        }
    }

    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Cause {
        Cause {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {value}: {detail}"),
        }
    }

    pub(crate) fn unsupported(
        field: impl Into<String>,
        value: &Value,
        supported: &[&str],
    ) -> Cause {
        let list = supported
            .iter()
            .map(|s| format!("{s:?}"))
            .collect::<Vec<_>>()
            .join(", ");
        Cause {
            reason: "FieldValueNotSupported",
            field: field.into(),
            message: format!("Unsupported value: {value}: supported values: {list}"),
        }
    }

    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Cause {
        Cause {
            reason: "FieldValueForbidden",
            field: field.into(),
            message: format!("Forbidden: {detail}"),
        }
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Cause {
        Cause {
            reason: "FieldValueDuplicate",
            field: field.into(),
            message: format!("Duplicate value: {value}"),
        }
    }

    /// kube-apiserver's "Too long" never repeats the value: it may be megabytes.
    pub(crate) fn too_long(field: impl Into<String>, max: usize) -> Cause {
        Cause {
            reason: "FieldValueTooLong",
            field: field.into(),
            message: format!("Too long: may not be more than {max} bytes"),
        }
    }
}

impl Failure {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Failure {
        Failure {
            code,
            reason,
            message: message.into(),
            details: None,
        }
    }

    fn about(mut self, resource: &Resource, name: &str) -> Failure {
        let mut details = json!({ "kind": resource.plural });
        if !name.is_empty() {
            details["name"] = name.into();
        }
        if !resource.group.is_empty() {
            details["group"] = resource.group.as_str().into();
        }
        self.details = Some(details);
        self
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Failure {
        Failure::new(
            404,
            "NotFound",
            format!("{} {name:?} not found", resource.qualified()),
        )
        .about(resource, name)
    }

    /// A path that no resource answers on.
    pub(crate) fn no_such_path() -> Failure {
        let mut failure = Failure::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        );
        failure.details = Some(json!({}));
        failure
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Failure {
        Failure::new(
            409,
            "AlreadyExists",
            format!("{} {name:?} already exists", resource.qualified()),
        )
        .about(resource, name)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Failure {
        Failure::new(
            409,
            "Conflict",
            format!(
                "Operation cannot be fulfilled on {} {name:?}: {why}",
                resource.qualified()
            ),
        )
        .about(resource, name)
    }

    /// Deletion preconditions name the kind where every other conflict names the resource.
    pub(crate) fn conflict_of_kind(resource: &Resource, name: &str, why: &str) -> Failure {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            resource.qualified_kind()
        );
        let mut failure = Failure::new(409, "Conflict", message).about(resource, name);
        if let Some(details) = &mut failure.details {
            details["kind"] = resource.kind.as_str().into();
        }
        failure
    }

    pub(crate) fn stale(resource: &Resource, name: &str) -> Failure {
        Failure::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    pub(crate) fn apply_conflict(message: String, causes: Vec<Value>) -> Failure {
        let mut failure = Failure::new(409, "Conflict", message);
        failure.details = Some(json!({ "causes": causes }));
        failure
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Failure {
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", resource.qualified())
        } else {
            format!("{} {name:?} is forbidden: {why}", resource.qualified())
        };
        Failure::new(403, "Forbidden", message).about(resource, name)
    }

    /// 422. One cause reads inline, several in brackets, as `field.ErrorList` prints them.
    pub(crate) fn invalid(resource: &Resource, name: &str, causes: Vec<Cause>) -> Failure {
        let mut lines: Vec<String> = Vec::new();
        for cause in &causes {
            let line = format!("{}: {}", cause.field, cause.message);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let text = if lines.len() == 1 {
            lines.remove(0)
        } else {
            format!("[{}]", lines.join(", "))
        };
        let kind = resource.qualified_kind();
        let mut failure = Failure::new(
            422,
            "Invalid",
            format!("{kind} {name:?} is invalid: {text}"),
        );
        let causes: Vec<Value> = causes
            .iter()
            .map(|c| json!({ "reason": c.reason, "message": c.message, "field": c.field }))
            .collect();
        let mut details = json!({ "name": name, "kind": resource.kind, "causes": causes });
        if !resource.group.is_empty() {
            details["group"] = resource.group.as_str().into();
        }
        failure.details = Some(details);
        failure
    }

    /// 422 for the query or body options of a request.
    pub(crate) fn invalid_options(kind: &str, cause: Cause) -> Failure {
        let mut failure = Failure::new(
            422,
            "Invalid",
            format!(
                "{kind}.meta.k8s.io \"\" is invalid: {}: {}",
                cause.field, cause.message
            ),
        );
        let cause =
            json!({ "reason": cause.reason, "message": cause.message, "field": cause.field });
        failure.details = Some(json!({ "group": "meta.k8s.io", "kind": kind, "causes": [cause] }));
        failure
    }

    /// A 500 that kube-apiserver sends without a reason: an error it did not expect from its own layers.
    pub(crate) fn unclassified(message: impl Into<String>) -> Failure {
        Failure::new(500, "", message)
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(400, "BadRequest", message)
    }

    pub(crate) fn expired(message: impl Into<String>) -> Failure {
        Failure::new(410, "Expired", message)
    }

    pub(crate) fn bad_version(text: &str) -> Failure {
        Failure::bad_request(format!(
            "invalid resource version: resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        ))
    }

    pub(crate) fn future_version(asked: u64, current: u64) -> Failure {
        let mut failure = Failure::new(
            504,
            "Timeout",
            format!("Too large resource version: {asked}, current: {current}"),
        );
        failure.details = Some(json!({
            "causes": [{ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" }],
            "retryAfterSeconds": 1,
        }));
        failure
    }

    pub(crate) fn method_not_allowed() -> Failure {
        let mut failure = Failure::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        failure.details = Some(json!({}));
        failure
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Failure {
        Failure::new(
            415,
            "UnsupportedMediaType",
            format!(
                "the body of the request was in an unknown format - accepted media types include: {}",
                accepted.join(", ")
            ),
        )
    }

    pub(crate) fn not_acceptable() -> Failure {
        Failure::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json, application/json;as=Table",
        )
    }

    pub(crate) fn too_large(limit: usize) -> Failure {
        Failure::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {limit}"),
        )
    }

    /// Adds one cause, for refusals that carry a machine-readable why.
    pub(crate) fn with_cause(mut self, reason: &str, message: &str, field: &str) -> Failure {
        let details = self.details.get_or_insert_with(|| json!({}));
        details["causes"] = json!([{ "reason": reason, "message": message, "field": field }]);
        self
    }

    pub(crate) fn body(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status
    }
}
