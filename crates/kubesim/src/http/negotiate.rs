//! Which form of an answer the client asked for.

use http::{HeaderMap, header};

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    Table,
    /// Objects reduced to their metadata.
    Metadata,
}

/// The first acceptable entry of `Accept` wins; protobuf and CBOR are passed over for the JSON that follows them.
pub(super) fn form(headers: &HeaderMap) -> Result<Form, Failure> {
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|v| v.to_str().ok())
        .unwrap_or("*/*");
    for entry in accept.split(',') {
        let mut parts = entry.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        if !matches!(media, "application/json" | "*/*" | "application/*" | "") {
            continue;
        }
        let kind = parts.find_map(|p| p.strip_prefix("as="));
        match kind {
            None => return Ok(Form::Object),
            Some("Table") => return Ok(Form::Table),
            Some("PartialObjectMetadata" | "PartialObjectMetadataList") => {
                return Ok(Form::Metadata);
            }
            Some(_) => {}
        }
    }
    Err(Failure::not_acceptable())
}
