//! Kinds of resources. They come from configuration; Cluster and NodePool are there by default.

mod registry;

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use registry::{Mistake, Registry, RegistryError};

use crate::aggregation::ConditionMapping;
use crate::identity::AdapterName;

/// What happens to the children when their parent is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnParentDelete {
    /// The parent cannot be deleted while active children exist.
    Restrict,
    /// The children are deleted with it.
    Cascade,
    /// The children stay and lose their owner.
    Orphan,
}

/// One kind, as configured under `entities:`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// The name of the kind, for example `Cluster`.
    pub kind: String,
    /// The path segment of its routes, for example `clusters`.
    pub plural: String,
    /// What people may write instead of the plural, for example `np`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<String>,
    /// The kind of its owner. Children live under their parent's path as well as under their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_kind: Option<String>,
    /// What happens to resources of this kind when their parent is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_parent_delete: Option<OnParentDelete>,
    /// The adapters whose reports decide whether a resource is reconciled.
    #[serde(default)]
    pub required_adapters: Vec<AdapterName>,
    /// Shortest name, in characters.
    #[serde(default = "one")]
    pub name_min_len: usize,
    /// Longest name, in characters; 0 means 100.
    #[serde(default = "hundred")]
    pub name_max_len: usize,
    /// What resources of this kind may point at without owning it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<ReferenceRule>,
    /// Conditions of its resources that are computed from what adapters reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionMapping>,
    /// The schema of `spec` under `components.schemas` of the document that `server.openapi_schema_path` names.
    /// With `spec_schema` or `spec_schema_file` it is only what messages call the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_schema_name: Option<String>,
    /// Whether the API refuses to start without a schema for `spec`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub require_spec_schema: bool,
    /// The schema of `spec`, written here: JSON Schema 2020-12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_schema: Option<Arc<Map<String, Value>>>,
    /// A file with the schema of `spec` as YAML or JSON. A relative path starts at the configuration file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_schema_file: Option<PathBuf>,
}

/// One type of reference from resources of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferenceRule {
    /// The key under `references`, for example `wif_config`.
    pub ref_type: String,
    /// The kind pointed at.
    pub target_kind: String,
    /// Fewest targets.
    #[serde(default)]
    pub min: u32,
    /// Most targets; 0 means any number.
    #[serde(default)]
    pub max: u32,
    /// Whether a target can be deleted while something points at it.
    #[serde(default)]
    pub strength: Strength,
    /// What happens to the resource when the target of a weak reference is deleted.
    #[serde(default)]
    pub on_target_delete: OnTargetDelete,
}

/// How firmly a reference holds its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// The target cannot be deleted while an active resource points at it.
    #[default]
    Strong,
    /// The target may go.
    Weak,
}

/// What the deletion of a weak reference's target does to the resource that points at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnTargetDelete {
    /// It stays and is not reconciled until its references are changed.
    #[default]
    Unreconcile,
    /// It is deleted too.
    Delete,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

fn one() -> usize {
    1
}

fn hundred() -> usize {
    100
}

impl Kind {
    /// A kind without parent, adapters, references and schema, with names of 1 to 100 characters.
    pub fn new(kind: impl Into<String>, plural: impl Into<String>) -> Kind {
        Kind {
            kind: kind.into(),
            plural: plural.into(),
            short_names: Vec::new(),
            parent_kind: None,
            on_parent_delete: None,
            required_adapters: Vec::new(),
            name_min_len: one(),
            name_max_len: hundred(),
            references: Vec::new(),
            conditions: Vec::new(),
            spec_schema_name: None,
            require_spec_schema: false,
            spec_schema: None,
            spec_schema_file: None,
        }
    }

    /// The kinds every fleet has: clusters, and the node pools that belong to them.
    pub fn defaults() -> Vec<Kind> {
        vec![
            Kind {
                short_names: vec!["cl".to_owned()],
                name_min_len: 3,
                name_max_len: 53,
                ..Kind::new("Cluster", "clusters")
            },
            Kind {
                short_names: vec!["np".to_owned()],
                parent_kind: Some("Cluster".to_owned()),
                on_parent_delete: Some(OnParentDelete::Cascade),
                name_min_len: 3,
                name_max_len: 15,
                ..Kind::new("NodePool", "nodepools")
            },
        ]
    }

    /// What one of them is called where people write: the kind in lowercase letters.
    pub fn singular(&self) -> String {
        self.kind.to_ascii_lowercase()
    }

    /// The most characters a name may have.
    pub fn longest_name(&self) -> usize {
        match self.name_max_len {
            0 => hundred(),
            most => most,
        }
    }

    /// What is wrong with a name for a resource of this kind, if anything: the rule and the sentence.
    pub fn name_error(&self, name: &str) -> Option<(&'static str, String)> {
        if name.is_empty() {
            return Some(("required", "name is required".to_owned()));
        }
        if name.len() < self.name_min_len {
            let least = self.name_min_len;
            return Some((
                "min_length",
                format!("name must be at least {least} characters"),
            ));
        }
        let most = self.longest_name();
        if name.len() > most {
            return Some((
                "max_length",
                format!("name must be at most {most} characters"),
            ));
        }
        let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let bytes = name.as_bytes();
        let inside = bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
        (!inside || !edge(bytes.first()) || !edge(bytes.last())).then(|| {
            (
                "pattern",
                "name must start and end with lowercase letter or number, and contain only lowercase letters, \
                 numbers, and hyphens"
                    .to_owned(),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_names_are_dns_labels_of_3_to_53_characters() {
        let cluster = &Kind::defaults()[0];
        for good in ["abc", "my-cluster-1", "0ab", &"a".repeat(53)] {
            assert_eq!(cluster.name_error(good), None, "{good}");
        }
        for (bad, rule) in [
            ("", "required"),
            ("ab", "min_length"),
            (&"a".repeat(54) as &str, "max_length"),
            ("-abc", "pattern"),
            ("abc-", "pattern"),
            ("a.bc", "pattern"),
            ("Abc", "pattern"),
            ("a\u{e9}bc", "pattern"),
        ] {
            assert_eq!(
                cluster.name_error(bad).map(|(rule, _)| rule),
                Some(rule),
                "{bad}"
            );
        }
    }
}
