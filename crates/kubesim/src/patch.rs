//! Patch documents: JSON patch (RFC 6902), JSON merge patch (RFC 7396) and strategic merge patch.

mod strategic;

use serde_json::Value;

use crate::failure::Failure;

pub(crate) use strategic::strategic;

pub(crate) fn json(object: &mut Value, body: &Value) -> Result<(), Failure> {
    let patch: json_patch::Patch = serde_json::from_value(body.clone())
        .map_err(|why| Failure::bad_request(format!("error decoding patch: {why}")))?;
    // A test or path that fails is a 422 without a name, as the real server answers.
    json_patch::patch(object, &patch).map_err(|why| Failure {
        code: 422,
        reason: "Invalid",
        message: format!("the server rejected our request due to an error in our request: {why}"),
        details: Some(serde_json::json!({})),
    })
}

pub(crate) fn merge(object: &mut Value, body: &Value) -> Result<(), Failure> {
    if !body.is_object() {
        return Err(Failure::bad_request(
            "error decoding patch: a merge patch must be an object",
        ));
    }
    json_patch::merge(object, body);
    Ok(())
}
