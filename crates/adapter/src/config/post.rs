//! `post`: what is reported.

use hyperfleet_expr::template::Template;
use hyperfleet_source::{Node, Style, Value};

use super::files::Files;
use super::scope::Scope;
use super::{call, names, paths};
use crate::task::{Action, Build, Payload, Post};
use hyperfleet_source::fields::{Fields, Found};

pub(super) fn post(node: &Node, scope: &Scope, files: &Files, found: &mut Found) -> Option<Post> {
    let mut fields = Fields::of(node, "`post`", found)?;
    // A payload's templates see the payloads before it; its expressions do too.
    let mut scope = scope.clone();
    let mut payloads = Vec::new();
    for item in fields.list("payloads", found) {
        let payload = payload(item, &scope, files, found);
        if let Some(name) = item.get("name").and_then(Node::as_str) {
            scope.add(name);
        }
        payloads.extend(payload);
    }
    let mut actions = Vec::new();
    for item in fields.list("post_actions", found) {
        actions.extend(action(item, &scope, &payloads, found));
    }
    fields.finish(found);
    Some(Post { payloads, actions })
}

fn payload(node: &Node, scope: &Scope, files: &Files, found: &mut Found) -> Option<Payload> {
    let mut fields = Fields::of(node, "a payload", found)?;
    let name = fields.required_text("name", found);
    let when = match fields.get("when") {
        None => Some(None),
        Some(node) => call::when(node, scope, found).map(Some),
    };
    let inline = fields.get("build");
    let file = fields.text("build_ref", found);
    if inline.is_some() == file.is_some() {
        found.push(node.error("a payload is exactly one of `build` and `build_ref`"));
    }
    fields.finish(found);
    let build = match (inline, file) {
        (Some(node), _) => top(node, scope, found),
        (None, Some(path)) => {
            let tree = files.read_yaml(path, found)?;
            top(&tree, scope, found)
        }
        (None, None) => None,
    };
    Some(Payload {
        name: name?.as_str()?.to_owned(),
        when: when?,
        build: build?,
    })
}

/// The document itself is a mapping, never a value definition.
fn top(node: &Node, scope: &Scope, found: &mut Found) -> Option<Build> {
    match node.as_mapping() {
        Some(_) => map(node, scope, found),
        None => {
            found.push(node.error(format!("a payload is a mapping, found {}", node.kind())));
            None
        }
    }
}

fn build(node: &Node, scope: &Scope, found: &mut Found) -> Option<Build> {
    match &node.value {
        Value::String(text, _) if text.contains("{{") => {
            scope.template(node, found).map(Build::Text)
        }
        Value::Mapping(_) if is_definition(node) => definition(node, scope, found),
        Value::Mapping(_) => map(node, scope, found),
        Value::Sequence(items) => {
            let built: Vec<_> = items.iter().map(|item| build(item, scope, found)).collect();
            Some(Build::List(built.into_iter().collect::<Option<_>>()?))
        }
        _ => Some(Build::Fixed(node.to_json())),
    }
}

fn map(node: &Node, scope: &Scope, found: &mut Found) -> Option<Build> {
    let mut built = Vec::new();
    let mut complete = true;
    for (key, value) in node.as_mapping().unwrap_or_default() {
        let written = Value::String(key.text.clone(), Style::Plain);
        let name = scope.template(&Node::new(&key.file, key.span, written), found);
        match (name, build(value, scope, found)) {
            (Some(name), Some(value)) => built.push((name, value)),
            _ => complete = false,
        }
    }
    complete.then_some(Build::Map(built))
}

/// `{field: …}` or `{expression: …}`, with a default.
fn is_definition(node: &Node) -> bool {
    ["field", "expression"]
        .iter()
        .any(|key| matches!(node.get(key).and_then(Node::as_str), Some(text) if !text.is_empty()))
}

fn definition(node: &Node, scope: &Scope, found: &mut Found) -> Option<Build> {
    let mut fields = Fields::of(node, "a value", found)?;
    let field = fields.text("field", found);
    let expression = fields.text("expression", found);
    let default = fields.get_json("default").filter(|value| !value.is_null());
    fields.finish(found);
    match (field, expression) {
        (Some(node), Some(_)) => {
            found.push(node.error("a value is `field` or `expression`, not both"));
            None
        }
        (Some(node), None) => Some(Build::Field {
            path: paths::path(node, found)?,
            default,
        }),
        (None, Some(node)) => Some(Build::Expression {
            program: scope.expression(node, found)?,
            default,
        }),
        (None, None) => None,
    }
}

fn action(node: &Node, scope: &Scope, payloads: &[Payload], found: &mut Found) -> Option<Action> {
    let mut fields = Fields::of(node, "a post action", found)?;
    let name = names::required(&mut fields, "name", found);
    let when = match fields.get("when") {
        None => Some(None),
        Some(node) => call::when(node, scope, found).map(Some),
    };
    let log = fields
        .get("log")
        .and_then(|node| call::log(node, scope, found));
    let call = match fields.get("api_call") {
        None => Some(None),
        Some(node) => call::api_call(node, scope, found).map(Some),
    };
    fields.finish(found);
    let call = call?;
    let body = call.as_ref().and_then(|call| call.body.as_ref());
    Some(Action {
        name: name?,
        when: when?,
        log,
        payloads: body.map_or_else(Vec::new, |body| used(body, payloads)),
        call,
    })
}

fn used(body: &Template, payloads: &[Payload]) -> Vec<String> {
    let names = body.roots().iter().map(|root| root.name.clone());
    names
        .filter(|name| payloads.iter().any(|payload| payload.name == *name))
        .collect()
}
