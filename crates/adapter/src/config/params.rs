//! `params`: named values and where they come from.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hyperfleet_source::{Node, suggest};

use super::scope::Scope;
use super::{call, held};
use crate::task::{Holder, Param, ParamType, Source};
use hyperfleet_source::fields::{Fields, Found};

const TYPES: [&str; 6] = ["string", "int", "int64", "float", "float64", "bool"];

/// Every parameter sees the ones before it. Names found are added to the scope, environment
/// variables to `environment`.
pub(super) fn params(
    items: &[Node],
    scope: &mut Scope,
    environment: &mut BTreeSet<String>,
    found: &mut Found,
) -> Vec<Param> {
    let mut params = Vec::new();
    for item in items {
        let Some((name, param)) = param(item, scope, found) else {
            continue;
        };
        if let Some(Param {
            source: Source::Env(variable),
            ..
        }) = &param
        {
            environment.insert(variable.clone());
        }
        // Also when its source is wrong: what uses it is not wrong for that.
        scope.add(&name);
        params.extend(param);
    }
    params
}

fn param(node: &Node, scope: &Scope, found: &mut Found) -> Option<(String, Option<Param>)> {
    let mut fields = Fields::of(node, "a parameter", found)?;
    let name = fields.required_text("name", found);
    let source = fields.required("source", found);
    let source = source.and_then(|node| source_of(node, scope, found));
    let kind = fields
        .text("type", found)
        .and_then(|node| param_type(node, found));
    let required = fields.flag("required", found).unwrap_or(false);
    let default = fields.get_json("default").filter(|value| !value.is_null());
    fields.text("description", found);
    fields.finish(found);
    let name = name?.as_str()?.to_owned();
    let param = source.map(|source| Param {
        name: name.clone(),
        source,
        kind,
        required,
        default,
    });
    Some((name, param))
}

fn param_type(node: &Node, found: &mut Found) -> Option<ParamType> {
    Some(match call::choice(node, &TYPES, found)? {
        "int" | "int64" => ParamType::Int,
        "float" | "float64" => ParamType::Float,
        "bool" => ParamType::Bool,
        _ => ParamType::String,
    })
}

fn source_of(node: &Node, scope: &Scope, found: &mut Found) -> Option<Source> {
    if let Some(text) = node.as_str() {
        return path(node, text, scope, found);
    }
    let mut fields = Fields::of(node, "a source", found)?;
    let call = fields.get("api_call");
    let expression = fields.get("expression");
    let file = fields.get("file");
    let secret = fields.get("secret");
    let config_map = fields.get("configmap");
    let given = [call, expression, file, secret, config_map];
    if given.iter().flatten().count() != 1 {
        found.push(node.error(
            "a source is exactly one of `api_call`, `expression`, `file`, `secret` and `configmap`, or a text",
        ));
    }
    let secret = secret.and_then(|node| held::structured(node, Holder::Secret, scope, found));
    let config_map =
        config_map.and_then(|node| held::structured(node, Holder::ConfigMap, scope, found));
    let call = call.and_then(|node| call::api_call(node, scope, found));
    let expression = expression.and_then(|node| scope.expression(node, found));
    let file = file.and_then(|node| file_of(node, found));
    fields.finish(found);
    call.map(|call| Source::Call(Box::new(call)))
        .or(expression.map(Source::Expression))
        .or(file)
        .or(secret)
        .or(config_map)
}

fn file_of(node: &Node, found: &mut Found) -> Option<Source> {
    let mut fields = Fields::of(node, "a file source", found)?;
    let path = fields.required_text("path", found);
    let trim = fields.flag("trim", found).unwrap_or(true);
    fields.finish(found);
    let node = path?;
    let path = PathBuf::from(node.as_str()?);
    if !path.is_absolute() {
        found.push(node.warning(
            "a relative path depends on where the process is started: write an absolute one",
        ));
    }
    Some(Source::File { path, trim })
}

/// `env.X`, `event.a.b`, `config.a.b`, `secret.ns.name.key`, `configmap.ns.name.key`, `earlier.a.b`, or a bare path into
/// the event.
fn path(node: &Node, text: &str, scope: &Scope, found: &mut Found) -> Option<Source> {
    let mut steps = text.split('.').filter(|step| !step.is_empty());
    let Some(first) = steps.next() else {
        found.push(node.error("a source cannot be empty"));
        return None;
    };
    let rest: Vec<String> = steps.map(str::to_owned).collect();
    match first {
        "env" if rest.is_empty() => {
            found.push(node.error("`env` needs the name of a variable, `env.REGION`"));
            None
        }
        "env" => Some(Source::Env(rest.join("."))),
        "event" => Some(Source::Event(rest)),
        "config" => Some(Source::Config(rest)),
        "secret" => held::dotted(node, Holder::Secret, &rest, found),
        "configmap" => held::dotted(node, Holder::ConfigMap, &rest, found),
        earlier if scope.has(earlier) => Some(Source::Value(earlier.to_owned(), rest)),
        _ => {
            // The event's own fields are known; anything else is more probably misspelt.
            let known = ["id", "kind", "href", "generation", "owner_references"];
            let known = [&known[..], &["resource_type", "resource_id", "reason"]].concat();
            if !known.contains(&first) {
                let message = format!(
                    "nothing is named `{first}` here, so it is taken as the event's field; write \
                     `event.{text}` to say so"
                );
                let mut unsure = node.warning(message);
                unsure.help = suggest::nearest(first, scope.names().chain(known))
                    .map(|near| format!("did you mean `{near}`?"));
                found.push(unsure);
            }
            let steps = std::iter::once(first.to_owned()).chain(rest);
            Some(Source::Event(steps.collect()))
        }
    }
}
