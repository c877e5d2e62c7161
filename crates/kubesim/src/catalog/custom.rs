//! From a CustomResourceDefinition to the resources it makes the server answer for.

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::Value;

use super::{BUILTIN_VERBS, Resource};
use crate::meta;
use crate::schema::from_open_api;

/// What a custom kind's definition says beyond names.
#[derive(Debug, Clone)]
pub(crate) struct CustomKind {
    pub schema: Arc<Value>,
    pub printer_columns: Arc<Value>,
    /// Paths of the scale subresource, if it has one.
    pub scale: Option<Arc<Value>>,
}

pub(crate) fn custom_resources(definition: &Value) -> Vec<Resource> {
    let names = &definition["spec"]["names"];
    let text = |key: &str| names[key].as_str().unwrap_or_default().to_owned();
    let many = |key: &str| -> Vec<String> {
        names[key]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    meta::list(definition, "/spec/versions")
        .iter()
        .filter(|version| version["served"] == true)
        .map(|version| {
            let schema = version
                .pointer("/schema/openAPIV3Schema")
                .cloned()
                .unwrap_or_default();
            let mut subresources = Vec::new();
            for name in ["status", "scale"] {
                if version["subresources"]
                    .get(name)
                    .is_some_and(Value::is_object)
                {
                    subresources.push(name.to_owned());
                }
            }
            Resource {
                group: meta::text(definition, "/spec/group").to_owned(),
                version: version["name"].as_str().unwrap_or_default().to_owned(),
                plural: text("plural"),
                singular: text("singular"),
                kind: text("kind"),
                list_kind: text("listKind"),
                namespaced: definition["spec"]["scope"] == "Namespaced",
                short_names: many("shortNames"),
                categories: many("categories"),
                subresources,
                verbs: BUILTIN_VERBS.iter().map(|v| (*v).to_owned()).collect(),
                shape: from_open_api(&schema),
                custom: Some(CustomKind {
                    schema: Arc::new(schema),
                    printer_columns: Arc::new(version["additionalPrinterColumns"].clone()),
                    scale: version
                        .pointer("/subresources/scale")
                        .filter(|s| s.is_object())
                        .cloned()
                        .map(Arc::new),
                }),
            }
        })
        .collect()
}

/// Kubernetes version priority: v2 > v1 > v1beta1 > v1alpha1 > anything else by name.
pub(super) fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => b.cmp(a),
    }
}

fn rank(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let major = rest[..digits].parse().ok()?;
    let rest = &rest[digits..];
    if rest.is_empty() {
        return Some((3, major, 0));
    }
    for (word, level) in [("beta", 2), ("alpha", 1)] {
        if let Some(minor) = rest.strip_prefix(word) {
            return Some((level, major, minor.parse().ok()?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_preferred_as_kubernetes_prefers_them() {
        let mut versions = vec![
            "v1beta1",
            "foo10",
            "v1",
            "v11alpha2",
            "v10",
            "v2",
            "v3beta1",
            "foo1",
            "v10beta3",
        ];
        versions.sort_by(|a, b| compare_versions(b, a));
        assert_eq!(
            versions,
            [
                "v10",
                "v2",
                "v1",
                "v10beta3",
                "v3beta1",
                "v1beta1",
                "v11alpha2",
                "foo1",
                "foo10"
            ]
        );
    }
}
