//! What is asked of Maestro, as the CloudEvent it takes.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use uuid::Uuid;

use super::bundle;
use super::wire::{Attribute, AttributeValue, CONTENT_TYPE, CloudEvent, PREFIX, Timestamp};

const TYPE: &str = "io.open-cluster-management.works.v1alpha1.manifestbundles.spec";

/// What shall become of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Create,
    Update,
    Delete,
}

impl Request {
    fn action(self) -> &'static str {
        match self {
            Self::Create => "create_request",
            Self::Update => "update_request",
            Self::Delete => "delete_request",
        }
    }
}

/// The event that asks for it. `version` is the one the change is based on; 0 where nothing is.
pub(super) fn event(request: Request, source: &str, work: &Value, version: i32) -> CloudEvent {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &work["metadata"];
    let mut attributes = BTreeMap::new();
    let mut set = |name: String, value: AttributeValue| {
        attributes.insert(name, Attribute { value: Some(value) });
    };
    let named = |name: &str| format!("{PREFIX}{name}");
    let now = now();
    set(named("time"), AttributeValue::Time(now));
    set(
        named("clustername"),
        AttributeValue::Text(text(&metadata["namespace"])),
    );
    set(named("originalsource"), AttributeValue::Text(String::new()));
    set(
        named("resourceid"),
        AttributeValue::Text(text(&metadata["uid"])),
    );
    set(named("resourceversion"), AttributeValue::Integer(version));
    let mut kept = metadata.clone();
    if let Some(kept) = kept.as_object_mut() {
        // Maestro's own bookkeeping, which it adds to every answer.
        for field in ["creationTimestamp", "deletionTimestamp", "generation"] {
            kept.remove(field);
        }
        kept.insert("resourceVersion".to_owned(), json!(version.to_string()));
    }
    set(named("metadata"), AttributeValue::Text(kept.to_string()));
    let data = match request {
        Request::Delete => {
            set(named("deletiontimestamp"), AttributeValue::Time(now));
            None
        }
        Request::Create | Request::Update => {
            let json = "application/json".to_owned();
            set(CONTENT_TYPE.to_owned(), AttributeValue::Text(json));
            Some(bundle::payload(work).to_string().into_bytes())
        }
    };
    CloudEvent {
        id: Uuid::new_v4().to_string(),
        source: source.to_owned(),
        spec_version: "1.0".to_owned(),
        r#type: format!("{TYPE}.{}", request.action()),
        attributes,
        binary_data: data,
    }
}

fn now() -> Timestamp {
    // A clock before 1970 is no reason not to send.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp {
        seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(since.subsec_nanos()).unwrap_or_default(),
    }
}
