//! `preconditions`: what must hold before anything is applied.

use hyperfleet_client::Method;
use hyperfleet_expr::template::Template;
use hyperfleet_source::Node;

use super::scope::Scope;
use super::{call, names};
use crate::task::{ApiCall, Capture, CaptureFrom, Precondition};
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
    let (fetch, output) = fetch(&mut fields, node, scope, found);
    let (has_fetch, call) = (fetch.is_some(), call.or(fetch));
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
    if !judged && call_node.is_none() && !has_fetch {
        let message = "a precondition needs one of `expression`, `conditions` and `api_call`";
        found.push(node.error(message));
    }
    fields.finish(found);
    Some(Precondition {
        name: name?,
        log,
        call,
        output,
        captures,
        test,
    })
}

/// `type: hyperfleet_api` with `resource`, `id` and `output_param`: a resource fetched under a name.
fn fetch(
    fields: &mut Fields<'_>,
    node: &Node,
    scope: &mut Scope,
    found: &mut Found,
) -> (Option<ApiCall>, Option<String>) {
    let kind = fields.text("type", found);
    let resource = fields.text("resource", found);
    let id = fields.text("id", found);
    let output = fields.text("output_param", found);
    let Some(kind) = kind else {
        for one in [resource, id, output].into_iter().flatten() {
            found.push(one.error("this belongs to `type: hyperfleet_api`, which is not said"));
        }
        return (None, None);
    };
    call::choice(kind, &["hyperfleet_api"], found);
    let (Some(resource), Some(id), Some(output)) = (resource, id, output) else {
        found.push(node.error("`type: hyperfleet_api` needs `resource`, `id` and `output_param`"));
        return (None, None);
    };
    let (Some(resource), Some(written), Some(name)) =
        (resource.as_str(), id.as_str(), output.as_str())
    else {
        return (None, None);
    };
    let checked = scope.template(id, found);
    let plural = resource.trim_end_matches('s');
    let url = Template::parse(&id.location(), &format!("{plural}s/{written}"));
    scope.add(name);
    let call = checked.and(url.ok()).map(|url| ApiCall {
        method: Method::GET,
        url,
        headers: Vec::new(),
        body: None,
        timeout: None,
        attempts: None,
        backoff: None,
    });
    (call, Some(name.to_owned()))
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
