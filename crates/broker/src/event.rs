//! The message every broker carries: a CloudEvents 1.0 event in structured JSON.
//!
//! Writing is strict (peers in other languages must accept what we send), reading is lenient
//! (whatever a Go consumer would take, we take).

mod decode;
mod encode;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

/// The largest event we send. Every broker we speak to carries this much without options.
pub const MAX_SENT_BYTES: usize = 256 * 1024;

/// The largest message body we try to read; anything bigger is malformed.
pub const MAX_ACCEPTED_BYTES: usize = 1024 * 1024;

/// The content type of `data` unless the event says otherwise.
pub const JSON_CONTENT_TYPE: &str = "application/json";

const TYPE_PREFIX: &str = "com.redhat.hyperfleet.";
const TYPE_SUFFIX: &str = ".reconcile";
const TYPE_VERSION: &str = ".v1";

/// Attribute names of the specification, which therefore cannot be extensions.
const CORE_ATTRIBUTES: [&str; 10] = [
    "specversion",
    "id",
    "source",
    "type",
    "subject",
    "datacontenttype",
    "dataschema",
    "time",
    "data",
    "data_base64",
];

/// A CloudEvents 1.0 event.
///
/// `id`, `source` and `ty` may be empty on an event that was received, as Go producers are not
/// held to them; [`Event::encode`] refuses to send such an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Unique per `source`; ours are UUIDv7.
    pub id: String,
    /// Who says so, e.g. `sentinel-operator/clusters`.
    pub source: String,
    /// The `type` attribute, e.g. `com.redhat.hyperfleet.cluster.reconcile.v1`.
    pub ty: String,
    /// When it happened. Go Sentinels do not send it.
    pub time: Option<DateTime<Utc>>,
    /// What it is about, within `source`.
    pub subject: Option<String>,
    /// Media type of `data`.
    pub datacontenttype: String,
    /// URI of the schema `data` follows.
    pub dataschema: Option<String>,
    /// The payload; `Null` stands for none.
    pub data: Value,
    /// Every other attribute, `traceparent` among them.
    pub extensions: BTreeMap<String, String>,
}

/// What is wrong with an event or with a message that should have been one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// A required attribute is missing on an event to be sent.
    #[error("event attribute `{0}` is empty; CloudEvents requires it")]
    Empty(&'static str),
    /// The extension's name is not one a peer would accept.
    #[error(
        "event extension `{0}` is not allowed: a name has only a-z and 0-9 and is not a core attribute"
    )]
    ExtensionName(String),
    /// The event or message is larger than the limit.
    #[error("event of {size} bytes is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The encoded size.
        size: usize,
        /// [`MAX_SENT_BYTES`] or [`MAX_ACCEPTED_BYTES`].
        limit: usize,
    },
    /// The message body is empty.
    #[error("message body is empty; expected a CloudEvent in structured JSON")]
    NoBody,
    /// The message body is not JSON.
    #[error("message body is not JSON: {0}")]
    NotJson(String),
    /// The message body is JSON, but not an object.
    #[error("message body is a JSON {0}; expected a CloudEvent object")]
    NotAnObject(&'static str),
    /// There is no `specversion`.
    #[error("`specversion` is missing: the message is not a CloudEvent")]
    NoSpecVersion,
    /// A specification version we do not know.
    #[error("`specversion` is `{0}`; only 1.0 is known")]
    SpecVersion(String),
    /// A core attribute has the wrong JSON type.
    #[error("attribute `{name}` is a JSON {found}; expected a string")]
    NotAString {
        /// The attribute.
        name: &'static str,
        /// Its JSON type.
        found: &'static str,
    },
    /// `time` is not RFC 3339.
    #[error("attribute `time` is `{0}`; expected RFC 3339, e.g. 2026-01-31T12:00:00Z")]
    Time(String),
    /// `data` and `data_base64` are both there.
    #[error("`data` and `data_base64` exclude each other")]
    TwoPayloads,
    /// `data_base64` cannot be read.
    #[error("`data_base64` of type `{content_type}`: {problem}")]
    Base64 {
        /// The declared media type.
        content_type: String,
        /// Why it cannot be read.
        problem: String,
    },
}

impl Event {
    /// The event that asks for one resource to be looked at again.
    ///
    /// `kind` is the resource's kind in any case (`NodePool` becomes `nodepool`).
    pub fn reconcile(
        kind: &str,
        source: impl Into<String>,
        data: Value,
        now: DateTime<Utc>,
        id: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            source: source.into(),
            ty: reconcile_type(kind),
            time: Some(now),
            subject: None,
            datacontenttype: JSON_CONTENT_TYPE.to_owned(),
            dataschema: None,
            data,
            extensions: BTreeMap::new(),
        }
    }

    /// The same event as part of the trace that caused it.
    #[must_use]
    pub fn with_traceparent(mut self, traceparent: impl Into<String>) -> Self {
        self.extensions
            .insert("traceparent".to_owned(), traceparent.into());
        self
    }

    /// The trace this event belongs to, in W3C form.
    pub fn traceparent(&self) -> Option<&str> {
        self.extensions.get("traceparent").map(String::as_str)
    }

    /// The lower-case kind a reconcile event is about; `None` for any other type.
    pub fn kind(&self) -> Option<&str> {
        reconcile_kind(&self.ty)
    }
}

/// The `type` we send for a kind.
pub fn reconcile_type(kind: &str) -> String {
    let kind = kind.to_lowercase();
    format!("{TYPE_PREFIX}{kind}{TYPE_SUFFIX}{TYPE_VERSION}")
}

/// The kind named by a reconcile type, with `.v1` as documented or without as Go Sentinels send it.
pub fn reconcile_kind(ty: &str) -> Option<&str> {
    let rest = ty.strip_prefix(TYPE_PREFIX)?;
    let rest = rest.strip_suffix(TYPE_VERSION).unwrap_or(rest);
    let kind = rest.strip_suffix(TYPE_SUFFIX)?;
    (!kind.is_empty() && !kind.contains('.')).then_some(kind)
}

#[cfg(test)]
mod tests;
