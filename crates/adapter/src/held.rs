//! Values that Secrets and ConfigMaps on the target hold.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyperfleet_expr::template::Template;
use hyperfleet_transport::{ObjectKind, Transport, TransportError};
use serde_json::Value as Json;

use crate::context::Context;
use crate::task::Holder;

/// Why there is no value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeldError {
    #[error("{0}")]
    Render(String),
    #[error(transparent)]
    Transport(#[from] TransportError),
    #[error("there is no {0}")]
    NoObject(String),
    #[error("{object} has no key `{key}`")]
    NoKey { object: String, key: String },
    #[error("the value of `{key}` in {object} is no text")]
    NoText { object: String, key: String },
}

/// Reads the value `key` of an object.
pub(crate) async fn read(
    kind: Holder,
    (namespace, name, key): (&Template, &Template, &Template),
    context: &Context,
    transport: &dyn Transport,
) -> Result<Json, HeldError> {
    let render = |template: &Template| {
        let text = template.render(&context.data(), context.now);
        text.map_err(|error| HeldError::Render(context.with_cause(error.to_string())))
    };
    let (namespace, name, key) = (render(namespace)?, render(name)?, render(key)?);
    let word = match kind {
        Holder::Secret => "Secret",
        Holder::ConfigMap => "ConfigMap",
    };
    let object = ObjectKind::new("v1", word).named(Some(&namespace), &name);
    let found = transport.get(&object).await?;
    let object = object.to_string();
    let Some(found) = found else {
        return Err(HeldError::NoObject(object));
    };
    let Some(value) = found["data"][&key].as_str() else {
        return Err(HeldError::NoKey { object, key });
    };
    match kind {
        Holder::ConfigMap => Ok(Json::from(value)),
        Holder::Secret => {
            let bytes = STANDARD.decode(value).ok();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.map(Json::from)
                .ok_or(HeldError::NoText { object, key })
        }
    }
}
