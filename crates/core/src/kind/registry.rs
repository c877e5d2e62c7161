//! All kinds of one API, checked against each other once.

mod checks;
mod mistake;

use std::collections::HashMap;

pub use mistake::{Mistake, RegistryError};

use super::Kind;

/// The kinds an API serves.
#[derive(Debug, Clone)]
pub struct Registry {
    kinds: Vec<Kind>,
    by_name: HashMap<String, usize>,
    by_plural: HashMap<String, usize>,
}

impl Registry {
    /// Checks the kinds against each other; all mistakes are told at once.
    pub fn new(kinds: Vec<Kind>) -> Result<Registry, Vec<RegistryError>> {
        let errors = checks::errors(&kinds);
        if !errors.is_empty() {
            return Err(errors);
        }
        let index = |name: fn(&Kind) -> &String| {
            let named = kinds.iter().enumerate();
            named
                .map(|(index, kind)| (name(kind).clone(), index))
                .collect()
        };
        Ok(Registry {
            by_name: index(|kind| &kind.kind),
            by_plural: index(|kind| &kind.plural),
            kinds,
        })
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
