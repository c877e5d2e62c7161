//! CloudEvents in protocol buffers, and the one call of Maestro's gRPC service that is made.
//!
//! Written by hand from the published format (`io.cloudevents.v1`), so that nothing is generated when this is built.

use std::collections::BTreeMap;

/// `/<package>.<service>/<method>` of the call that hands an event over.
pub(super) const PUBLISH: &str = "/io.cloudevents.v1.CloudEventService/Publish";

/// The attribute that says what the data are; the only one without [`PREFIX`].
pub(super) const CONTENT_TYPE: &str = "contenttype";

/// What the names of all other attributes begin with.
pub(super) const PREFIX: &str = "ce-";

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PublishRequest {
    #[prost(message, optional, tag = "1")]
    pub(super) event: Option<CloudEvent>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CloudEvent {
    #[prost(string, tag = "1")]
    pub(super) id: String,
    #[prost(string, tag = "2")]
    pub(super) source: String,
    #[prost(string, tag = "3")]
    pub(super) spec_version: String,
    #[prost(string, tag = "4")]
    pub(super) r#type: String,
    #[prost(btree_map = "string, message", tag = "5")]
    pub(super) attributes: BTreeMap<String, Attribute>,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub(super) binary_data: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(oneof = "AttributeValue", tags = "2, 3, 7")]
    pub(super) value: Option<AttributeValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum AttributeValue {
    #[prost(int32, tag = "2")]
    Integer(i32),
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(message, tag = "7")]
    Time(Timestamp),
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(super) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(super) nanos: i32,
}
