//! A set of field paths, in the form `managedFields.fieldsV1` has on the wire.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Path elements are kept as their FieldsV1 text (`f:spec`, `k:{"name":"a"}`, `v:"x"`), which is canonical and ordered.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Set {
    nodes: BTreeMap<String, Node>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Node {
    member: bool,
    /// Stands for itself and everything below: only in sets that are subtracted.
    tree: bool,
    below: Set,
}

impl Set {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn insert<S: AsRef<str>>(&mut self, path: &[S]) {
        if let Some((first, rest)) = path.split_first() {
            let node = self.nodes.entry(first.as_ref().to_owned()).or_default();
            if rest.is_empty() {
                node.member = true;
            } else {
                node.below.insert(rest);
            }
        }
    }

    pub(super) fn insert_tree(&mut self, element: &str) {
        let node = self.nodes.entry(element.to_owned()).or_default();
        node.member = true;
        node.tree = true;
    }

    /// Whether exactly this element is a member.
    pub(super) fn has(&self, element: &str) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// What is below an element, if anything.
    pub(super) fn below(&self, element: &str) -> Option<&Set> {
        self.nodes
            .get(element)
            .map(|node| &node.below)
            .filter(|set| !set.is_empty())
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = (&str, bool, &Set)> {
        self.nodes
            .iter()
            .map(|(element, node)| (element.as_str(), node.member, &node.below))
    }

    pub(super) fn put(&mut self, element: &str, member: bool, below: Set) {
        if member || !below.is_empty() {
            self.nodes.insert(
                element.to_owned(),
                Node {
                    member,
                    tree: false,
                    below,
                },
            );
        }
    }

    pub(super) fn union(&self, other: &Set) -> Set {
        let mut nodes = self.nodes.clone();
        for (element, theirs) in &other.nodes {
            let mine = nodes.entry(element.clone()).or_default();
            mine.member |= theirs.member;
            mine.below = mine.below.union(&theirs.below);
        }
        Set { nodes }
    }

    pub(super) fn difference(&self, other: &Set) -> Set {
        let mut result = Set::default();
        for (element, mine) in &self.nodes {
            match other.nodes.get(element) {
                None => {
                    result.nodes.insert(element.clone(), mine.clone());
                }
                Some(theirs) if theirs.tree => {}
                Some(theirs) => {
                    result.put(
                        element,
                        mine.member && !theirs.member,
                        mine.below.difference(&theirs.below),
                    );
                }
            }
        }
        result
    }

    pub(super) fn intersection(&self, other: &Set) -> Set {
        let mut result = Set::default();
        for (element, mine) in &self.nodes {
            if let Some(theirs) = other.nodes.get(element) {
                result.put(
                    element,
                    mine.member && theirs.member,
                    mine.below.intersection(&theirs.below),
                );
            }
        }
        result
    }

    /// Every member's path, as `.spec.containers[name="a"].image`.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    fn collect(&self, prefix: &str, paths: &mut Vec<String>) {
        for (element, node) in &self.nodes {
            let here = format!("{prefix}{}", print(element));
            if node.member {
                paths.push(here.clone());
            }
            node.below.collect(&here, paths);
        }
    }

    pub(super) fn to_fields(&self) -> Value {
        let mut map = Map::new();
        for (element, node) in &self.nodes {
            let mut fields = node.below.to_fields();
            if node.member && !node.below.is_empty() {
                fields["."] = json!({});
            }
            map.insert(element.clone(), fields);
        }
        Value::Object(map)
    }

    pub(super) fn from_fields(fields: &Value) -> Set {
        let mut set = Set::default();
        for (element, inner) in fields.as_object().into_iter().flatten() {
            if element == "." {
                continue;
            }
            let below = Set::from_fields(inner);
            let member = inner.get(".").is_some() || below.is_empty();
            set.put(&canonical(element), member, below);
        }
        set
    }
}

/// Keys of a `k:` element may arrive in any order.
fn canonical(element: &str) -> String {
    if let Some(Ok(Value::Object(key))) = element.strip_prefix("k:").map(serde_json::from_str) {
        let mut parts: Vec<_> = key.iter().collect();
        parts.sort_by_key(|(name, _)| name.as_str());
        let inner: Vec<String> = parts
            .iter()
            .map(|(k, v)| format!("{}:{v}", json!(k)))
            .collect();
        return format!("k:{{{}}}", inner.join(","));
    }
    element.to_owned()
}

fn print(element: &str) -> String {
    if let Some(field) = element.strip_prefix("f:") {
        return format!(".{field}");
    }
    if let Some(value) = element.strip_prefix("v:") {
        return format!("[={value}]");
    }
    if let Some(Ok(Value::Object(key))) = element.strip_prefix("k:").map(serde_json::from_str) {
        let mut parts: Vec<String> = key.iter().map(|(k, v)| format!("{k}={v}")).collect();
        parts.sort();
        return format!("[{}]", parts.join(","));
    }
    format!("[{}]", element.trim_start_matches("i:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(fields: Value) -> Set {
        Set::from_fields(&fields)
    }

    #[test]
    fn fields_v1_survives_a_round_trip() {
        let wire = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}}}, "f:x": {}}});
        assert_eq!(set(wire.clone()).to_fields(), wire);
    }

    #[test]
    fn a_member_can_be_subtracted_without_its_children() {
        let all = set(json!({"f:labels": {".": {}, "f:app": {}}}));
        let own = set(json!({"f:labels": {}}));
        assert_eq!(
            all.difference(&own).to_fields(),
            json!({"f:labels": {"f:app": {}}})
        );
    }

    #[test]
    fn paths_print_as_kubernetes_prints_them() {
        let wire = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {"f:image": {}}}}, "f:f": {"v:\"x\"": {}}});
        assert_eq!(
            set(wire).paths(),
            [".f[=\"x\"]", ".spec.containers[name=\"a\"].image"]
        );
    }
}
