//! Request bodies: size limit, media types, JSON or YAML.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, Limited};
use serde_json::Value;

use crate::cluster::PatchKind;
use crate::failure::Failure;
use crate::protobuf;

/// What kube-apiserver takes.
const LIMIT: usize = 3 * 1024 * 1024;

const PATCH_TYPES: [&str; 5] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
];

pub(super) async fn read(body: Body) -> Result<Bytes, Failure> {
    match Limited::new(body, LIMIT).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Failure::too_large(LIMIT))
        }
        Err(error) => Err(Failure::bad_request(format!(
            "the request body could not be read: {error}"
        ))),
    }
}

pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The object of a create, update or delete.
pub(super) fn object(headers: &HeaderMap, bytes: &[u8]) -> Result<Value, Failure> {
    match media_type(headers).as_str() {
        "" | "application/json" | "*/*" => json(bytes),
        "application/yaml" => yaml(bytes),
        "application/vnd.kubernetes.protobuf" => protobuf::decode(bytes)
            .map_err(|why| Failure::bad_request(format!("the request body cannot be read: {why}"))),
        _ => Err(Failure::unsupported_media_type(&[
            "application/json",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
        ])),
    }
}

pub(super) fn patch_kind(headers: &HeaderMap) -> Result<PatchKind, Failure> {
    match media_type(headers).as_str() {
        "application/json-patch+json" => Ok(PatchKind::Json),
        "application/merge-patch+json" => Ok(PatchKind::Merge),
        "application/strategic-merge-patch+json" => Ok(PatchKind::Strategic),
        "application/apply-patch+yaml" => Ok(PatchKind::Apply),
        _ => Err(Failure::unsupported_media_type(&PATCH_TYPES[..4])),
    }
}

pub(super) fn patch(kind: PatchKind, bytes: &[u8]) -> Result<Value, Failure> {
    match kind {
        PatchKind::Apply => yaml(bytes),
        _ => json(bytes),
    }
}

fn json(bytes: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(bytes).map_err(|error| {
        Failure::bad_request(format!(
            "couldn't get version/kind; json parse error: {error}"
        ))
    })
}

/// JSON first: it is YAML too, and what every client sends.
fn yaml(bytes: &[u8]) -> Result<Value, Failure> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Ok(value);
    }
    serde_yaml_ng::from_slice(bytes)
        .map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))
}
