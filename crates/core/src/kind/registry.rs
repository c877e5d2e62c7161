//! All kinds of one API, checked against each other once.

use std::collections::HashMap;

use super::Kind;

/// The kinds an API serves.
#[derive(Debug, Clone)]
pub struct Registry {
    kinds: Vec<Kind>,
    by_name: HashMap<String, usize>,
    by_plural: HashMap<String, usize>,
}

/// Why a set of kinds cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("entities[{index}]: `{field}` must not be empty")]
    Empty { index: usize, field: &'static str },
    #[error("kind `{0}` is configured twice")]
    DuplicateKind(String),
    #[error("plural `{plural}` of kind `{kind}` is taken")]
    PluralTaken { kind: String, plural: String },
    #[error("kind `{kind}` names the parent kind `{parent}`, which is not configured")]
    UnknownParent { kind: String, parent: String },
    #[error("kind `{0}` is its own ancestor")]
    ParentCycle(String),
    #[error("kind `{kind}` has a parent and must say what happens to it with `on_parent_delete`")]
    NoDeletePolicy { kind: String },
    #[error("kind `{kind}`: name_max_len {max} is less than name_min_len {min}")]
    NameLength {
        kind: String,
        min: usize,
        max: usize,
    },
    #[error("kind `{kind}` requires the adapter `{adapter}` twice")]
    DuplicateAdapter { kind: String, adapter: String },
}

/// The plural that addresses all kinds at once.
pub(crate) const ANY_KIND: &str = "resources";

impl Registry {
    /// Checks the kinds against each other; all mistakes are told at once.
    pub fn new(kinds: Vec<Kind>) -> Result<Registry, Vec<RegistryError>> {
        let mut errors = Vec::new();
        let mut by_name = HashMap::new();
        let mut by_plural = HashMap::new();
        for (index, kind) in kinds.iter().enumerate() {
            for (field, text) in [("kind", &kind.kind), ("plural", &kind.plural)] {
                if text.is_empty() {
                    errors.push(RegistryError::Empty { index, field });
                }
            }
            if by_name.insert(kind.kind.clone(), index).is_some() {
                errors.push(RegistryError::DuplicateKind(kind.kind.clone()));
            }
            if kind.plural == ANY_KIND || by_plural.insert(kind.plural.clone(), index).is_some() {
                errors.push(RegistryError::PluralTaken {
                    kind: kind.kind.clone(),
                    plural: kind.plural.clone(),
                });
            }
            if kind.name_max_len < kind.name_min_len {
                errors.push(RegistryError::NameLength {
                    kind: kind.kind.clone(),
                    min: kind.name_min_len,
                    max: kind.name_max_len,
                });
            }
            for (position, adapter) in kind.required_adapters.iter().enumerate() {
                // Two names may also collide in the condition that mirrors them on the resource.
                let mirror = adapter.success_condition();
                if kind.required_adapters[..position]
                    .iter()
                    .any(|earlier| earlier.success_condition() == mirror)
                {
                    errors.push(RegistryError::DuplicateAdapter {
                        kind: kind.kind.clone(),
                        adapter: adapter.to_string(),
                    });
                }
            }
        }
        let registry = Registry {
            kinds,
            by_name,
            by_plural,
        };
        errors.extend(registry.parent_errors());
        if errors.is_empty() {
            Ok(registry)
        } else {
            Err(errors)
        }
    }

    fn parent_errors(&self) -> Vec<RegistryError> {
        let mut errors = Vec::new();
        for kind in &self.kinds {
            let Some(parent) = &kind.parent_kind else {
                continue;
            };
            if self.kind(parent).is_none() {
                errors.push(RegistryError::UnknownParent {
                    kind: kind.kind.clone(),
                    parent: parent.clone(),
                });
            } else if self.ancestors(kind).take(self.kinds.len() + 1).count() > self.kinds.len() {
                errors.push(RegistryError::ParentCycle(kind.kind.clone()));
            }
            if kind.on_parent_delete.is_none() {
                errors.push(RegistryError::NoDeletePolicy {
                    kind: kind.kind.clone(),
                });
            }
        }
        errors
    }

    fn ancestors<'a>(&'a self, kind: &'a Kind) -> impl Iterator<Item = &'a Kind> {
        std::iter::successors(self.parent(kind), |kind| self.parent(kind))
    }

    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.by_name.get(name).map(|index| &self.kinds[*index])
    }

    pub fn plural(&self, plural: &str) -> Option<&Kind> {
        self.by_plural.get(plural).map(|index| &self.kinds[*index])
    }

    pub fn parent(&self, kind: &Kind) -> Option<&Kind> {
        self.kind(kind.parent_kind.as_deref()?)
    }

    /// The kinds whose resources belong to one of this kind.
    pub fn children<'a>(&'a self, parent: &'a str) -> impl Iterator<Item = &'a Kind> {
        self.kinds
            .iter()
            .filter(move |kind| kind.parent_kind.as_deref() == Some(parent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_kinds_fit_together() {
        let registry = Registry::new(Kind::defaults()).unwrap();
        assert_eq!(registry.plural("nodepools").unwrap().kind, "NodePool");
        assert_eq!(registry.children("Cluster").count(), 1);
    }

    #[test]
    fn every_mistake_is_told_at_once() {
        let mut kinds = Kind::defaults();
        kinds[0].parent_kind = Some("NodePool".to_owned());
        kinds[1].plural = "resources".to_owned();
        kinds[1].name_max_len = 1;
        let errors = Registry::new(kinds).unwrap_err();
        let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [
                "plural `resources` of kind `NodePool` is taken",
                "kind `NodePool`: name_max_len 1 is less than name_min_len 3",
                "kind `Cluster` is its own ancestor",
                "kind `Cluster` has a parent and must say what happens to it with `on_parent_delete`",
                "kind `NodePool` is its own ancestor",
            ]
        );
    }
}
