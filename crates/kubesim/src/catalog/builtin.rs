//! Parser of `tables/resources.txt`, one line per resource:
//! apiVersion, plural, kind, scope, singular, short names, categories, subresources, verbs, type.

use super::Resource;
use crate::schema::Shape;

static TABLE: &str = include_str!("../../tables/resources.txt");

/// What `all` in the table stands for.
pub(crate) const BUILTIN_VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// Subresources that need a kubelet, a scheduler or a certificate authority behind them.
const UNSERVED: [&str; 9] = [
    "attach",
    "exec",
    "log",
    "portforward",
    "proxy",
    "token",
    "binding",
    "ephemeralcontainers",
    "resize",
];

pub(super) fn resources() -> impl Iterator<Item = Resource> {
    TABLE.lines().filter_map(parse)
}

fn parse(line: &str) -> Option<Resource> {
    let mut words = line.split(' ');
    let api_version = words.next()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let (plural, kind) = (words.next()?, words.next()?);
    let namespaced = words.next()? == "namespaced";
    let singular = words.next()?;
    let short_names = names(words.next()?);
    let categories = names(words.next()?);
    let mut subresources = names(words.next()?);
    subresources.retain(|s| !UNSERVED.contains(&s.as_str()));
    let verbs = match words.next()? {
        "all" => BUILTIN_VERBS.iter().map(|v| (*v).to_owned()).collect(),
        some => names(some),
    };
    let shape = Shape::Named(words.next()?.to_owned());
    // Served in one version only: the other would need a conversion.
    if api_version == "autoscaling/v1" {
        return None;
    }
    Some(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        singular: singular.to_owned(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        namespaced,
        short_names,
        categories,
        subresources,
        verbs,
        shape,
        custom: None,
    })
}

fn names(word: &str) -> Vec<String> {
    if word == "-" {
        Vec::new()
    } else {
        word.split(',').map(str::to_owned).collect()
    }
}
