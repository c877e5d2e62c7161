//! Every rule for a set of kinds.

use std::collections::HashMap;

use super::super::{Kind, OnTargetDelete, ReferenceRule, Strength};
use super::{Mistake, RegistryError};

/// Path segments of the API's own routes: a kind of that name would hide them or be hidden.
const RESERVED: [&str; 7] = [
    "resources",
    "openapi",
    "audit",
    "sentinels",
    "statuses",
    "history",
    "force-delete",
];

/// What a resource of whatever kind is called in messages and in the OpenAPI document.
const ANY_KIND: &str = "Resource";

/// Longest kind and plural; both end up in paths, metrics and column values.
const MAX_NAME: usize = 100;

pub(super) fn errors(kinds: &[Kind]) -> Vec<RegistryError> {
    let mut checks = Checks {
        kinds,
        by_name: HashMap::new(),
        errors: Vec::new(),
    };
    for (index, kind) in kinds.iter().enumerate() {
        checks.names(index, kind);
        checks.short_names(index, kind);
    }
    for (index, kind) in kinds.iter().enumerate() {
        checks.parent(index, kind);
        checks.adapters(index, kind);
        checks.references(index, kind);
        if kind.spec_schema.is_some() && kind.spec_schema_file.is_some() {
            let kind = kind.kind.clone();
            checks.add(index, "spec_schema_file", Mistake::TwoSchemas { kind });
        }
    }
    for (index, kind) in kinds.iter().enumerate() {
        checks.needs(index, kind);
    }
    checks.errors
}

struct Checks<'a> {
    kinds: &'a [Kind],
    by_name: HashMap<&'a str, &'a Kind>,
    errors: Vec<RegistryError>,
}

impl<'a> Checks<'a> {
    fn add(&mut self, index: usize, key: &str, mistake: Mistake) {
        let pointer = format!("/{index}/{key}");
        self.errors.push(RegistryError { pointer, mistake });
    }

    fn names(&mut self, index: usize, kind: &'a Kind) {
        let (name, plural) = (&kind.kind, &kind.plural);
        if name.is_empty() {
            self.add(index, "kind", Mistake::Empty { field: "kind" });
        } else if !is_kind(name) {
            self.add(index, "kind", Mistake::NotAKind(name.clone()));
        } else if name == ANY_KIND {
            self.add(index, "kind", Mistake::KindReserved(name.clone()));
        } else if self.by_name.contains_key(name.as_str()) {
            self.add(index, "kind", Mistake::DuplicateKind(name.clone()));
        } else {
            self.by_name.insert(name, kind);
        }
        let earlier = self.kinds[..index].iter();
        let taken_by = earlier.rev().find(|other| other.plural == *plural);
        if plural.is_empty() {
            self.add(index, "plural", Mistake::Empty { field: "plural" });
        } else if !is_plural(plural) {
            self.add(index, "plural", Mistake::NotAPlural(plural.clone()));
        } else if RESERVED.contains(&plural.as_str()) {
            let (kind, plural) = (name.clone(), plural.clone());
            self.add(index, "plural", Mistake::PluralReserved { kind, plural });
        } else if let Some(other) = taken_by {
            let mistake = Mistake::PluralTaken {
                kind: name.clone(),
                plural: plural.clone(),
                taken_by: other.kind.clone(),
            };
            self.add(index, "plural", mistake);
        }
        if kind.longest_name() < kind.name_min_len {
            let mistake = Mistake::NameLength {
                kind: name.clone(),
                min: kind.name_min_len,
                max: kind.longest_name(),
            };
            self.add(index, "name_max_len", mistake);
        }
    }

    /// One word means one kind, whichever way it is written.
    fn short_names(&mut self, index: usize, kind: &Kind) {
        for (position, name) in kind.short_names.iter().enumerate() {
            let key = format!("short_names/{position}");
            if !is_plural(name) {
                self.add(index, &key, Mistake::NotAShortName(name.clone()));
                continue;
            }
            let called = self
                .kinds
                .iter()
                .find(|other| other.plural == *name || other.singular() == *name);
            let earlier = self.kinds[..index]
                .iter()
                .find(|other| other.short_names.contains(name));
            let again = kind.short_names[..position].contains(name);
            let means = called.or(earlier).or(again.then_some(kind));
            if let Some(other) = means {
                let mistake = Mistake::ShortNameTaken {
                    kind: kind.kind.clone(),
                    name: name.clone(),
                    means: other.kind.clone(),
                };
                self.add(index, &key, mistake);
            }
        }
    }

    fn parent(&mut self, index: usize, kind: &Kind) {
        let name = kind.kind.clone();
        let Some(parent) = &kind.parent_kind else {
            if kind.on_parent_delete.is_some() {
                let mistake = Mistake::DeletePolicyWithoutParent { kind: name };
                self.add(index, "on_parent_delete", mistake);
            }
            return;
        };
        if !self.by_name.contains_key(parent.as_str()) {
            let (kind, parent) = (name.clone(), parent.clone());
            let mistake = Mistake::UnknownParent { kind, parent };
            self.add(index, "parent_kind", mistake);
        } else if self.has_itself_above(kind) {
            self.add(index, "parent_kind", Mistake::ParentCycle(name.clone()));
        }
        if kind.on_parent_delete.is_none() {
            let mistake = Mistake::NoDeletePolicy { kind: name };
            self.add(index, "on_parent_delete", mistake);
        }
    }

    fn has_itself_above(&self, kind: &Kind) -> bool {
        let above = |kind: &Kind| self.by_name.get(kind.parent_kind.as_deref()?).copied();
        std::iter::successors(above(kind), |kind| above(kind))
            .take(self.kinds.len())
            .any(|ancestor| ancestor.kind == kind.kind)
    }

    fn adapters(&mut self, index: usize, kind: &Kind) {
        for (position, adapter) in kind.required_adapters.iter().enumerate() {
            // Two names may also collide in the condition that mirrors them on the resource.
            let mirror = adapter.success_condition();
            let mut earlier = kind.required_adapters[..position].iter();
            if earlier.any(|other| other.success_condition() == mirror) {
                let mistake = Mistake::DuplicateAdapter {
                    kind: kind.kind.clone(),
                    adapter: adapter.to_string(),
                };
                self.add(index, &format!("required_adapters/{position}"), mistake);
            }
        }
    }

    fn references(&mut self, index: usize, kind: &Kind) {
        for (position, rule) in kind.references.iter().enumerate() {
            let earlier = &kind.references[..position];
            for (key, mistake) in self.reference_mistakes(kind, rule, earlier) {
                self.add(index, &format!("references/{position}/{key}"), mistake);
            }
        }
    }

    fn reference_mistakes(
        &self,
        kind: &Kind,
        rule: &ReferenceRule,
        earlier: &[ReferenceRule],
    ) -> Vec<(&'static str, Mistake)> {
        let mut found = Vec::new();
        let (kind, ref_type) = (kind.kind.clone(), rule.ref_type.clone());
        if ref_type.is_empty() {
            found.push(("ref_type", Mistake::Empty { field: "ref_type" }));
        } else if earlier.iter().any(|other| other.ref_type == ref_type) {
            let (kind, ref_type) = (kind.clone(), ref_type.clone());
            found.push(("ref_type", Mistake::DuplicateReference { kind, ref_type }));
        }
        if !self.by_name.contains_key(rule.target_kind.as_str()) {
            let mistake = Mistake::UnknownTarget {
                kind: kind.clone(),
                ref_type: ref_type.clone(),
                target: rule.target_kind.clone(),
            };
            found.push(("target_kind", mistake));
        }
        if rule.max != 0 && rule.max < rule.min {
            let mistake = Mistake::ReferenceCount {
                kind: kind.clone(),
                ref_type: ref_type.clone(),
                min: rule.min,
                max: rule.max,
            };
            found.push(("max", mistake));
        }
        if rule.strength == Strength::Strong && rule.on_target_delete == OnTargetDelete::Delete {
            let mistake = Mistake::TargetPolicyOfStrong { kind, ref_type };
            found.push(("on_target_delete", mistake));
        }
        found
    }

    /// A resource needs its parent and its required targets to exist before it. Told for each kind whose required
    /// reference leads back to it; cycles of parents alone are told elsewhere.
    fn needs(&mut self, index: usize, kind: &Kind) {
        for (position, rule) in kind.references.iter().enumerate() {
            if rule.min == 0 {
                continue;
            }
            if let Some(way) = self.way(&rule.target_kind, &kind.kind) {
                let mistake = Mistake::RequiredCycle {
                    kind: kind.kind.clone(),
                    through: std::iter::once(kind.kind.clone()).chain(way).collect(),
                };
                self.add(index, &format!("references/{position}/min"), mistake);
            }
        }
    }

    /// The kinds from one to another along what each needs, both ends included.
    fn way(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut came_from: HashMap<&str, Option<&str>> = HashMap::new();
        let mut ahead = vec![(from, None)];
        while let Some((name, before)) = ahead.pop() {
            let Some(kind) = self.by_name.get(name) else {
                continue;
            };
            let name = kind.kind.as_str();
            if came_from.contains_key(name) {
                continue;
            }
            came_from.insert(name, before);
            if name == to {
                let back = std::iter::successors(Some(name), |name| came_from[name]);
                let mut way: Vec<String> = back.map(str::to_owned).collect();
                way.reverse();
                return Some(way);
            }
            let required = kind.references.iter().filter(|rule| rule.min > 0);
            let targets = required.map(|rule| rule.target_kind.as_str());
            let needed = targets.chain(kind.parent_kind.as_deref());
            ahead.extend(needed.map(|next| (next, Some(name))));
        }
        None
    }
}

fn is_kind(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

fn is_plural(plural: &str) -> bool {
    let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    plural.len() <= MAX_NAME
        && plural.starts_with(edge)
        && plural.ends_with(edge)
        && plural.chars().all(|c| edge(c) || c == '-')
}

#[cfg(test)]
mod tests;
