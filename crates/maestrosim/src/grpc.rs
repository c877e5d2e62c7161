//! The gRPC service: events, taken one by one.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, header};
use axum::middleware::Next;
use axum::routing::post;
use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Full};
use prost::Message;

use crate::state::Wish;
use crate::wire::{Attribute, CloudEvent, Data, PublishRequest, Value};
use crate::{Handle, caller};

const TYPE: &str = "io.open-cluster-management.works.v1alpha1.manifestbundles.spec.";
const UNKNOWN: u8 = 2;
const UNAVAILABLE: u8 = 14;

pub(crate) fn router() -> Router<Handle> {
    Router::new().route(
        "/io.cloudevents.v1.CloudEventService/Publish",
        post(publish),
    )
}

/// Notes who calls, and keeps everybody out while it is down.
pub(crate) async fn door(
    State(state): State<Handle>,
    headers: HeaderMap,
    request: Request,
    next: Next,
) -> Response<Body> {
    if state.lock().meet(&caller(&headers)) {
        return refused(UNAVAILABLE, "it is down");
    }
    next.run(request).await
}

async fn publish(State(state): State<Handle>, body: Bytes) -> Response<Body> {
    let mute = state.lock().mute;
    if mute {
        std::future::pending::<()>().await;
    }
    match taken(&state, body) {
        Ok(()) => accepted(),
        Err(why) => refused(UNKNOWN, &why),
    }
}

fn taken(state: &Handle, body: Bytes) -> Result<(), String> {
    let request = message(body)?;
    let event = request.event.ok_or("no event")?;
    check_names(&event)?;
    let action = event.r#type.strip_prefix(TYPE);
    let action =
        action.ok_or_else(|| format!("failed to parse cloud event type {}", event.r#type))?;
    let action = action.to_owned();
    let wish = wish(event)?;
    let mut state = state.lock();
    state.events += 1;
    match action.as_str() {
        "create_request" => state.create(wish),
        "update_request" => state.update(wish),
        "delete_request" => {
            state.mark_deleted(&wish.id);
            Ok(())
        }
        other => Err(format!("unsupported action {other}")),
    }
}

/// One message, without compression, in its frame.
fn message(mut body: Bytes) -> Result<PublishRequest, String> {
    if body.len() < 5 || body.get_u8() != 0 {
        return Err("no message".to_owned());
    }
    let length = body.get_u32() as usize;
    if length != body.len() {
        return Err("a broken frame".to_owned());
    }
    PublishRequest::decode(body).map_err(|error| error.to_string())
}

/// Attributes have their prefix, and what has a place of its own is not among them.
fn check_names(event: &CloudEvent) -> Result<(), String> {
    for name in event
        .attributes
        .keys()
        .filter(|name| *name != "contenttype")
    {
        let plain = name.strip_prefix("ce-");
        let plain =
            plain.ok_or_else(|| format!("attribute {name}: expected the \"ce-\" prefix"))?;
        if ["id", "source", "type", "specversion", "datacontenttype"].contains(&plain) {
            return Err(format!("attribute {name} is carried in a dedicated field"));
        }
    }
    match (event.spec_version.as_str(), event.id.is_empty()) {
        ("1.0", false) => Ok(()),
        _ => Err("failed to convert protobuf to cloudevent".to_owned()),
    }
}

fn wish(event: CloudEvent) -> Result<Wish, String> {
    let text = |name: &str| match event.attributes.get(&format!("ce-{name}")) {
        Some(Attribute {
            value: Some(Value::Text(text)),
        }) => Ok(text.clone()),
        _ => Err(format!(
            "failed to decode cloudevent: failed to get {name} extension"
        )),
    };
    let version = match event.attributes.get("ce-resourceversion") {
        Some(Attribute {
            value: Some(Value::Integer(version)),
        }) => *version,
        _ => {
            return Err(
                "failed to decode cloudevent: failed to get resourceversion extension".to_owned(),
            );
        }
    };
    let metadata = text("metadata")?;
    let metadata = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let payload = match &event.data {
        Some(Data::Binary(data)) => {
            serde_json::from_slice(data).map_err(|error| error.to_string())?
        }
        Some(Data::Text(data)) => serde_json::from_str(data).map_err(|error| error.to_string())?,
        None => serde_json::Value::Null,
    };
    Ok(Wish {
        id: text("resourceid")?,
        consumer: text("clustername")?,
        source: event.source.clone(),
        version,
        metadata,
        payload,
    })
}

/// An empty message, and the status behind it.
fn accepted() -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from_static(&[0; 5]));
    let body = body.with_trailers(async move { Some(Ok(trailers)) });
    answer(Body::new(body))
}

/// Only a status.
fn refused(code: u8, message: &str) -> Response<Body> {
    let mut answer = answer(Body::empty());
    let headers = answer.headers_mut();
    headers.insert("grpc-status", HeaderValue::from(u16::from(code)));
    let escaped = message.replace('%', "%25").replace('\n', "%0A");
    if let Ok(escaped) = HeaderValue::from_str(&escaped) {
        headers.insert("grpc-message", escaped);
    }
    answer
}

fn answer(body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    answer
}
