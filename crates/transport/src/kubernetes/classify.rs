//! A Kubernetes `Status` into the failure it stands for.

use std::time::Duration;

use kube::core::Status;

use crate::Failure;

/// `code` is the HTTP status of the answer, which the body need not repeat.
pub(super) fn classify(code: u16, status: &Status, retry_after: Option<Duration>) -> Failure {
    let message = status.message.clone();
    if let Some(webhook) = denied_by(&message) {
        return Failure::WebhookDenied { webhook, message };
    }
    match (code, status.reason.as_str()) {
        (404, _) => Failure::NotFound { message },
        (401, _) => Failure::Unauthorized { message },
        (409, "AlreadyExists") => Failure::AlreadyExists { message },
        (409, _) => conflict(status, message),
        (403, _) if message.contains("exceeded quota") => Failure::QuotaExceeded { message },
        (403, _) if has_cause(status, "NamespaceTerminating") => {
            Failure::NamespaceTerminating { message }
        }
        (403, _) => Failure::Forbidden { message },
        (400 | 413 | 415 | 422, _) => Failure::Invalid {
            causes: causes(status),
            message,
        },
        (429, _) => Failure::TooManyRequests {
            retry_after: retry_after.or_else(|| asked_to_wait(status)),
            message,
        },
        (500 | 502 | 503 | 504, _) => Failure::Unavailable { message },
        _ => Failure::Other {
            status: Some(code),
            message,
        },
    }
}

fn conflict(status: &Status, message: String) -> Failure {
    let found = status.details.iter().flat_map(|details| &details.causes);
    let owned: Vec<_> = found
        .filter(|cause| cause.reason == "FieldManagerConflict")
        .collect();
    Failure::Conflict {
        manager: owned
            .first()
            .and_then(|cause| quoted(&cause.message))
            .map(str::to_owned),
        fields: owned.iter().map(|cause| cause.field.clone()).collect(),
        message,
    }
}

fn causes(status: &Status) -> Vec<String> {
    let found = status.details.iter().flat_map(|details| &details.causes);
    found
        .map(|cause| match cause.field.as_str() {
            "" => cause.message.clone(),
            field => format!("{field}: {}", cause.message),
        })
        .collect()
}

fn has_cause(status: &Status, reason: &str) -> bool {
    let mut found = status.details.iter().flat_map(|details| &details.causes);
    found.any(|cause| cause.reason == reason)
}

fn asked_to_wait(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

/// The admission plugin that said no; only its message tells. A webhook that could not be called
/// at all is an outage, not a denial.
fn denied_by(message: &str) -> Option<String> {
    if let Some(rest) = message.strip_prefix("admission webhook ") {
        return rest
            .contains("denied the request")
            .then(|| format!("admission webhook {}", quoted(rest).unwrap_or("?")));
    }
    let at = message.find("ValidatingAdmissionPolicy '")?;
    let rest = &message[at + "ValidatingAdmissionPolicy '".len()..];
    let name = rest.split('\'').next()?;
    rest.contains("denied request")
        .then(|| format!("admission policy {name}"))
}

/// The first text in double quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failure(code: u16, body: serde_json::Value) -> Failure {
        classify(code, &serde_json::from_value(body).unwrap(), None)
    }

    #[test]
    fn a_field_conflict_names_the_other_manager_and_the_fields() {
        let found = failure(
            409,
            json!({
                "reason": "Conflict",
                "message": "Apply failed with 1 conflict",
                "details": {"causes": [{
                    "reason": "FieldManagerConflict",
                    "message": "conflict with \"kubectl\" using v1",
                    "field": ".data.a",
                }]},
            }),
        );
        assert_eq!(
            found,
            Failure::Conflict {
                manager: Some("kubectl".into()),
                fields: vec![".data.a".into()],
                message: "Apply failed with 1 conflict".into(),
            }
        );
    }

    #[test]
    fn forbidden_quota_and_dying_namespace_are_told_apart() {
        let message = |text: &str| json!({"reason": "Forbidden", "message": text});
        assert!(matches!(
            failure(403, message("User \"a\" cannot create jobs")),
            Failure::Forbidden { .. }
        ));
        assert!(matches!(
            failure(
                403,
                message("pods \"a\" is forbidden: exceeded quota: q, requested: pods=1")
            ),
            Failure::QuotaExceeded { .. }
        ));
        let dying = json!({"reason": "Forbidden", "message": "unable to create new content",
            "details": {"causes": [{"reason": "NamespaceTerminating", "field": "metadata.namespace"}]}});
        assert!(matches!(
            failure(403, dying),
            Failure::NamespaceTerminating { .. }
        ));
    }

    #[test]
    fn a_webhook_that_denies_is_named_and_one_that_is_down_is_an_outage() {
        let denied = json!({"reason": "Forbidden", "message":
            "admission webhook \"names.example.org\" denied the request: no dots"});
        assert!(matches!(
            failure(403, denied),
            Failure::WebhookDenied { webhook, .. } if webhook == "admission webhook names.example.org"
        ));
        let policy = json!({"reason": "Invalid", "message":
            "jobs \"x\" is forbidden: ValidatingAdmissionPolicy 'reserve' with binding 'b' denied request: no"});
        assert!(matches!(
            failure(422, policy),
            Failure::WebhookDenied { webhook, .. } if webhook == "admission policy reserve"
        ));
        let down = json!({"reason": "InternalError", "message":
            "Internal error occurred: failed calling webhook \"names\": connection refused"});
        assert!(matches!(failure(500, down), Failure::Unavailable { .. }));
    }

    #[test]
    fn a_busy_server_says_when_to_come_back() {
        let busy = json!({"reason": "TooManyRequests", "message": "slow down",
            "details": {"retryAfterSeconds": 7}});
        assert_eq!(
            failure(429, busy),
            Failure::TooManyRequests {
                retry_after: Some(Duration::from_secs(7)),
                message: "slow down".into()
            }
        );
    }
}
