//! The `scale` subresource.

use std::sync::Arc;

use serde_json::{Value, json};

use super::write::{commit_update, finish_update, record};
use super::{Answer, Call, State};
use crate::failure::Failure;
use crate::meta;

struct Paths {
    spec: String,
    status: String,
    selector: Option<String>,
}

fn paths(call: &Call<'_>) -> Paths {
    let pointer = |path: &Value| path.as_str().unwrap_or_default().replace('.', "/");
    match call.resource.custom.as_ref().and_then(|c| c.scale.as_ref()) {
        Some(scale) => Paths {
            spec: pointer(&scale["specReplicasPath"]),
            status: pointer(&scale["statusReplicasPath"]),
            selector: scale["labelSelectorPath"]
                .as_str()
                .map(|p| p.replace('.', "/")),
        },
        None => Paths {
            spec: "/spec/replicas".into(),
            status: "/status/replicas".into(),
            selector: None,
        },
    }
}

pub(crate) fn read_scale(state: &State, call: &Call<'_>) -> Result<Answer, Failure> {
    let object = state.get(call)?;
    Ok(Answer::ok(scale_of(call, &object)))
}

fn scale_of(call: &Call<'_>, object: &Value) -> Value {
    let paths = paths(call);
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    let selector = match &paths.selector {
        Some(pointer) => meta::text(object, pointer).to_owned(),
        None => object["spec"]["selector"]["matchLabels"]
            .as_object()
            .map(|labels| {
                labels
                    .iter()
                    .map(|(k, v)| format!("{k}={}", v.as_str().unwrap_or_default()))
                    .collect::<Vec<_>>()
                    .join(",")
            })
            .unwrap_or_default(),
    };
    let mut metadata = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if let Some(value) = object["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": { "replicas": number(&paths.spec) },
        "status": { "replicas": number(&paths.status), "selector": selector },
    })
}

/// Stores the replicas of a Scale; `change` turns the current Scale into the wanted one.
pub(crate) fn write_scale(
    state: &mut State,
    call: &Call<'_>,
    change: impl FnOnce(&mut Value) -> Result<(), Failure>,
) -> Result<Answer, Failure> {
    let old = state.get(call)?;
    let mut scale = scale_of(call, &old);
    change(&mut scale)?;
    let version = meta::text(&scale, "/metadata/resourceVersion");
    if !version.is_empty() && version != meta::text(&old, "/metadata/resourceVersion") {
        return Err(Failure::stale(call.resource, call.name));
    }
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
    if replicas < 0 {
        let cause = crate::failure::Cause::invalid(
            "spec.replicas",
            &replicas.into(),
            "must be greater than or equal to 0",
        );
        return Err(Failure::invalid(call.resource, call.name, vec![cause]));
    }
    let mut object = (*old).clone();
    let paths = paths(call);
    if let Some((parent, field)) = paths.spec.rsplit_once('/')
        && let Some(Value::Object(map)) = object.pointer_mut(parent)
    {
        map.insert(field.to_owned(), replicas.into());
    }
    let main = Call {
        subresource: "",
        ..call.clone()
    };
    finish_update(&main, &old, &mut object)?;
    record(call, &old, &mut object);
    let stored: Arc<Value> = commit_update(state, &main, &old, object);
    Ok(Answer::ok(scale_of(call, &stored)))
}
