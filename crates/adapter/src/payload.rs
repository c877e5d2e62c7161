//! Documents built from a configuration's `build`.

use serde_json::{Map, Value as Json};

use crate::context::Context;
use crate::task::Build;

/// Builds a document; the error says which template could not be rendered.
pub(crate) fn build(build: &Build, context: &Context) -> Result<Json, String> {
    let render = |template: &hyperfleet_expr::template::Template| {
        let text = template.render(&context.data(), context.now);
        text.map_err(|error| error.to_string())
    };
    Ok(match build {
        Build::Fixed(value) => value.clone(),
        Build::Text(template) => Json::from(render(template)?),
        Build::Field { path, default } => {
            let value = path.get_in(|root| context.get(root));
            let value = value.map(|value| value.into_owned());
            let is_there = |value: &Json| !value.is_null() && value.as_str() != Some("");
            or_default(value.filter(is_there), default.as_ref())
        }
        Build::Expression { program, default } => {
            let value = match program.evaluate_json(&context.bindings()) {
                Ok(value) => Some(value).filter(|value| !value.is_null()),
                Err(error) => {
                    tracing::warn!(
                        expression = program.source(),
                        %error,
                        "a value of the payload cannot be computed; its default is used"
                    );
                    None
                }
            };
            or_default(value, default.as_ref())
        }
        Build::Map(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, value) in entries {
                map.insert(render(key)?, self::build(value, context)?);
            }
            Json::Object(map)
        }
        Build::List(items) => {
            let items = items.iter().map(|item| self::build(item, context));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
    })
}

fn or_default(value: Option<Json>, default: Option<&Json>) -> Json {
    value.or_else(|| default.cloned()).unwrap_or_default()
}
