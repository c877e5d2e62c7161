//! Names of objects, and ways to find them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What sort of object it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectKind {
    /// Group and version, `v1` or `batch/v1`.
    pub api_version: String,
    /// The kind, `Job`.
    pub kind: String,
}

/// One object by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// What sort of object it is.
    #[serde(flatten)]
    pub kind: ObjectKind,
    /// Where it lives; `None` for cluster-scoped kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

/// Labels an object must all carry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector {
    /// Equality only: key and value.
    pub labels: BTreeMap<String, String>,
}

/// Why a rendered manifest names no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the manifest has no `{missing}`")]
pub struct InvalidManifest {
    /// The field that is missing, empty or not a string.
    pub missing: &'static str,
}

impl ObjectKind {
    /// `api_version` and `kind` as in a manifest.
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
        }
    }

    /// The kind a manifest says it is of.
    pub fn of(manifest: &Value) -> Result<Self, InvalidManifest> {
        Ok(Self {
            api_version: text(manifest, "/apiVersion", "apiVersion")?,
            kind: text(manifest, "/kind", "kind")?,
        })
    }

    /// An object of this kind.
    pub fn named(&self, namespace: Option<&str>, name: &str) -> ObjectRef {
        ObjectRef {
            kind: self.clone(),
            namespace: namespace
                .filter(|namespace| !namespace.is_empty())
                .map(str::to_owned),
            name: name.to_owned(),
        }
    }
}

impl ObjectRef {
    /// The object a manifest describes.
    pub fn of(manifest: &Value) -> Result<Self, InvalidManifest> {
        let kind = ObjectKind::of(manifest)?;
        let name = text(manifest, "/metadata/name", "metadata.name")?;
        let namespace = manifest
            .pointer("/metadata/namespace")
            .and_then(Value::as_str);
        Ok(kind.named(namespace, &name))
    }
}

fn text(manifest: &Value, pointer: &str, missing: &'static str) -> Result<String, InvalidManifest> {
    match manifest.pointer(pointer).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(InvalidManifest { missing }),
    }
}

impl Selector {
    /// `a=b,c=d`, sorted.
    pub fn query(&self) -> String {
        let pairs: Vec<String> = self
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        pairs.join(",")
    }

    /// Whether the object carries all the labels.
    pub fn matches(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels");
        self.labels.iter().all(|(key, wanted)| {
            labels
                .and_then(|labels| labels.get(key))
                .and_then(Value::as_str)
                == Some(wanted)
        })
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.api_version)
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind.kind, self.name),
            None => write!(f, "{} {}", self.kind.kind, self.name),
        }
    }
}
