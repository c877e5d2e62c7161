//! Which resources are served: the built-in table plus the custom resource definitions that exist now.

mod builtin;
mod custom;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::schema::Shape;

pub(crate) use builtin::BUILTIN_VERBS;
pub(crate) use custom::{CustomKind, custom_resources};

/// One served version of one resource.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub group: String,
    pub version: String,
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub list_kind: String,
    pub namespaced: bool,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub subresources: Vec<String>,
    pub verbs: Vec<String>,
    pub shape: Shape,
    /// Set for kinds that come from a CustomResourceDefinition.
    pub custom: Option<CustomKind>,
}

impl Resource {
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `jobs.batch`, `pods`: how messages name a resource.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// `Job.batch`, `Pod`: how messages name a kind.
    pub(crate) fn qualified_kind(&self) -> String {
        if self.group.is_empty() {
            self.kind.clone()
        } else {
            format!("{}.{}", self.kind, self.group)
        }
    }

    /// Where objects are kept; all versions of a resource share it.
    pub(crate) fn storage(&self) -> String {
        if self.group == "events.k8s.io" {
            "events".to_owned()
        } else {
            self.qualified()
        }
    }

    pub(crate) fn has_status(&self) -> bool {
        self.subresources.iter().any(|s| s == "status")
    }

    pub(crate) fn is(&self, qualified: &str) -> bool {
        self.qualified() == qualified
    }

    pub(crate) fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v == verb)
    }
}

/// All served resources, by group, version and plural.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    resources: BTreeMap<(String, String, String), Arc<Resource>>,
    /// Served versions of each group, the preferred first.
    versions: BTreeMap<String, Vec<String>>,
}

impl Catalog {
    pub(crate) fn builtin() -> Catalog {
        let mut catalog = Catalog::default();
        for resource in builtin::resources() {
            catalog.add(resource);
        }
        catalog
    }

    fn add(&mut self, resource: Resource) {
        let versions = self.versions.entry(resource.group.clone()).or_default();
        if !versions.contains(&resource.version) {
            versions.push(resource.version.clone());
            if resource.custom.is_some() {
                versions.sort_by(|a, b| custom::compare_versions(b, a));
            }
        }
        let key = (
            resource.group.clone(),
            resource.version.clone(),
            resource.plural.clone(),
        );
        self.resources.insert(key, Arc::new(resource));
    }

    /// Serves what a definition describes, in place of what it described before.
    pub(crate) fn serve_custom(&mut self, definition: &Value) {
        self.forget_custom(definition);
        for resource in custom_resources(definition) {
            self.add(resource);
        }
    }

    pub(crate) fn forget_custom(&mut self, definition: &Value) {
        let group = definition
            .pointer("/spec/group")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let plural = definition
            .pointer("/spec/names/plural")
            .and_then(Value::as_str)
            .unwrap_or_default();
        self.resources
            .retain(|(g, _, p), r| r.custom.is_none() || g != group || p != plural);
        let resources = &self.resources;
        self.versions.retain(|g, versions| {
            versions.retain(|v| resources.keys().any(|(rg, rv, _)| rg == g && rv == v));
            !versions.is_empty()
        });
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.resources
            .get(&(group.to_owned(), version.to_owned(), plural.to_owned()))
            .cloned()
    }

    pub(crate) fn find_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.in_version(group, version)
            .find(|r| r.kind == kind)
            .cloned()
    }

    /// Some served version of what is kept under `storage`, the preferred one if it is served.
    pub(crate) fn find_storage(&self, storage: &str) -> Option<Arc<Resource>> {
        let (plural, group) = storage.split_once('.').unwrap_or((storage, ""));
        self.versions
            .get(group)?
            .iter()
            .find_map(|version| self.find(group, version, plural))
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.versions.iter()
    }

    pub(crate) fn versions(&self, group: &str) -> Option<&Vec<String>> {
        self.versions.get(group)
    }

    pub(crate) fn in_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Resource>> + 'a {
        self.resources
            .iter()
            .filter(move |((g, v, _), _)| g == group && v == version)
            .map(|(_, r)| r)
    }
}
