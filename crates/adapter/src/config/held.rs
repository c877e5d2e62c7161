//! `secret` and `configmap` as sources: values that objects on the target hold.

use hyperfleet_expr::template::Template;
use hyperfleet_source::Node;
use hyperfleet_source::fields::{Fields, Found};

use super::scope::Scope;
use crate::task::{Holder, Source};

/// `{namespace, name, key}`, each a template.
pub(super) fn structured(
    node: &Node,
    kind: Holder,
    scope: &Scope,
    found: &mut Found,
) -> Option<Source> {
    let mut fields = Fields::of(node, "a source on the target", found)?;
    let mut template = |key: &'static str| {
        let written = fields.required_text(key, found);
        written.and_then(|node| scope.template(node, found))
    };
    let (namespace, name, key) = (template("namespace"), template("name"), template("key"));
    fields.finish(found);
    Some(Source::Held {
        kind,
        namespace: namespace?,
        name: name?,
        key: key?,
    })
}

/// `secret.NAMESPACE.NAME.KEY`; the key may have dots, as `tls.crt` has.
pub(super) fn dotted(
    node: &Node,
    kind: Holder,
    steps: &[String],
    found: &mut Found,
) -> Option<Source> {
    let [namespace, name, key @ ..] = steps else {
        found.push(node.error(incomplete(kind)));
        return None;
    };
    if key.is_empty() {
        found.push(node.error(incomplete(kind)));
        return None;
    }
    let fixed = |text: &str| Template::parse(&node.location(), text).ok();
    Some(Source::Held {
        kind,
        namespace: fixed(namespace)?,
        name: fixed(name)?,
        key: fixed(&key.join("."))?,
    })
}

fn incomplete(kind: Holder) -> String {
    let word = match kind {
        Holder::Secret => "secret",
        Holder::ConfigMap => "configmap",
    };
    format!("`{word}` needs a namespace, a name and a key: `{word}.default.registry.token`")
}
