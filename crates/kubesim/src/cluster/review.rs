//! Access reviews: everyone may do everything here, and the answer says so.

use serde_json::{Value, json};

use super::{Answer, Call};

/// Answers kinds that are questions; `None` for kinds that are stored.
pub(crate) fn review(call: &Call<'_>, body: &Value) -> Option<Answer> {
    let status = match call.resource.kind.as_str() {
        "SelfSubjectReview" => json!({ "userInfo": user() }),
        "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview" => {
            json!({ "allowed": true, "reason": "kubesim allows everything" })
        }
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{ "verbs": ["*"], "apiGroups": ["*"], "resources": ["*"] }],
            "nonResourceRules": [{ "verbs": ["*"], "nonResourceURLs": ["*"] }],
            "incomplete": false,
        }),
        "TokenReview" => json!({ "authenticated": true, "user": user() }),
        _ => return None,
    };
    let mut object = body.clone();
    object["apiVersion"] = call.resource.api_version().into();
    object["kind"] = call.resource.kind.as_str().into();
    object["status"] = status;
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    Some(Answer {
        code: 201,
        ..Answer::ok(object)
    })
}

fn user() -> Value {
    json!({ "username": "kubesim-admin", "groups": ["system:masters", "system:authenticated"] })
}
