//! CloudEvents in protocol buffers, as the server reads them. Written once more than the client's on purpose: a mistake
//! made in both would be seen in neither.

use std::collections::HashMap;

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PublishRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) event: Option<CloudEvent>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CloudEvent {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(string, tag = "2")]
    pub(crate) source: String,
    #[prost(string, tag = "3")]
    pub(crate) spec_version: String,
    #[prost(string, tag = "4")]
    pub(crate) r#type: String,
    #[prost(map = "string, message", tag = "5")]
    pub(crate) attributes: HashMap<String, Attribute>,
    #[prost(oneof = "Data", tags = "6, 7")]
    pub(crate) data: Option<Data>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Data {
    #[prost(bytes = "vec", tag = "6")]
    Binary(Vec<u8>),
    #[prost(string, tag = "7")]
    Text(String),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Attribute {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub(crate) value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Value {
    #[prost(bool, tag = "1")]
    Boolean(bool),
    #[prost(int32, tag = "2")]
    Integer(i32),
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(bytes = "vec", tag = "4")]
    Bytes(Vec<u8>),
    #[prost(string, tag = "5")]
    Uri(String),
    #[prost(string, tag = "6")]
    UriReference(String),
    #[prost(message, tag = "7")]
    Time(Timestamp),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}
