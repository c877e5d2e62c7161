//! `preconditions`: what must hold before anything is applied.

use hyperfleet_source::Node;

use super::scope::Scope;
use super::{call, names};
use crate::task::{Capture, CaptureFrom, Precondition};
use hyperfleet_source::fields::{Fields, Found};

/// Answers and captures found are added to the scope.
pub(super) fn preconditions(
    items: &[Node],
    scope: &mut Scope,
    found: &mut Found,
) -> Vec<Precondition> {
    let mut preconditions = Vec::new();
    for item in items {
        preconditions.extend(precondition(item, scope, found));
    }
    preconditions
}

fn precondition(node: &Node, scope: &mut Scope, found: &mut Found) -> Option<Precondition> {
    let mut fields = Fields::of(node, "a precondition", found)?;
    let name = names::required(&mut fields, "name", found);
    let log = fields
        .get("log")
        .and_then(|node| call::log(node, scope, found));
    let call_node = fields.get("api_call");
    let call = call_node.and_then(|node| call::api_call(node, scope, found));
    if let (Some(node), Some(name)) = (call_node, &name) {
        scope.add(name);
        let help = format!(
            "write `params: [{{name: {name}, source: {{api_call: …}}}}]` and test `{name}.…` here"
        );
        let old = "`api_call` in a precondition still works; the place for it is a parameter";
        found.push(node.warning(old).with_help(help));
    }
    let mut captures = Vec::new();
    for item in fields.list("capture", found) {
        captures.extend(capture(item, scope, found));
    }
    if let (None, Some(node)) = (call_node, fields.get("capture")) {
        found.push(node.error("`capture` takes values from an answer, but there is no `api_call`"));
    }
    let judged = fields.get("expression").is_some() || fields.get("conditions").is_some();
    let test = call::test(&mut fields, scope, found);
    if !judged && call_node.is_none() {
        let message = "a precondition needs one of `expression`, `conditions` and `api_call`";
        found.push(node.error(message));
    }
    fields.finish(found);
    Some(Precondition {
        name: name?,
        log,
        call,
        captures,
        test,
    })
}

fn capture(node: &Node, scope: &mut Scope, found: &mut Found) -> Option<Capture> {
    let mut fields = Fields::of(node, "a capture", found)?;
    let name = fields.required_text("name", found);
    let field = fields.text("field", found);
    let expression = fields.text("expression", found);
    if field.is_some() == expression.is_some() {
        found.push(node.error("a capture is exactly one of `field` and `expression`"));
    }
    let default = fields.get_json("default").filter(|value| !value.is_null());
    fields.finish(found);
    let from = match (field, expression) {
        (Some(node), _) => super::paths::path(node, found).map(CaptureFrom::Field),
        (None, Some(node)) => scope
            .open_expression(node, found)
            .map(CaptureFrom::Expression),
        (None, None) => None,
    };
    let name = name?.as_str()?.to_owned();
    scope.add(&name);
    Some(Capture {
        name,
        from: from?,
        default,
    })
}
