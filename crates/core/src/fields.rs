//! `fields=name,status.phase`: the members of a resource that a caller wants to see.

mod reading;
mod shape;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::resource::Resource;

/// A choice of members, checked against what a resource has. The id is always among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    members: BTreeMap<String, Selection>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Selection {
    Whole,
    Members(BTreeMap<String, Selection>),
}

/// Names that no resource has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The following field(s) doesn't exist in `Resource`: {}", .0.join(", "))]
pub struct UnknownFields(pub Vec<String>);

impl Fields {
    /// Reads values of the parameter, each a list separated by commas. `None` when they name nothing, which means
    /// everything.
    pub fn parse<'a>(
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<Option<Fields>, UnknownFields> {
        let mut members = BTreeMap::new();
        let mut unknown = Vec::new();
        let names = values.into_iter().flat_map(|value| value.split(','));
        for name in names.map(str::trim).filter(|name| !name.is_empty()) {
            match shape::resource().path(name) {
                Some(path) => insert(&mut members, &path),
                None if unknown.iter().any(|other| other == name) => {}
                None => unknown.push(name.to_owned()),
            }
        }
        if !unknown.is_empty() {
            return Err(UnknownFields(unknown));
        }
        if members.is_empty() {
            return Ok(None);
        }
        members.insert("id".to_owned(), Selection::Whole);
        Ok(Some(Fields { members }))
    }

    /// Whether anything of this top-level member is wanted.
    pub fn wants(&self, member: &str) -> bool {
        self.members.contains_key(member)
    }

    /// The wanted part of one top-level member, read from its JSON. `None` if nothing of it is wanted or there.
    pub fn read(&self, member: &str, json: &str) -> Result<Option<Value>, serde_json::Error> {
        match self.members.get(member) {
            Some(selection) => reading::part(json, selection),
            None => Ok(None),
        }
    }

    /// The wanted part of a resource. Members that it does not have are left out.
    pub fn project(&self, resource: &Resource) -> Value {
        match serde_json::to_value(resource) {
            Ok(Value::Object(members)) => Value::Object(chosen(members, &self.members)),
            // A resource is an object of texts, numbers and JSON.
            _ => Value::Null,
        }
    }
}

fn insert(members: &mut BTreeMap<String, Selection>, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        members.insert((*first).to_owned(), Selection::Whole);
        return;
    }
    let inner = members
        .entry((*first).to_owned())
        .or_insert_with(|| Selection::Members(BTreeMap::new()));
    // The whole may be wanted already.
    if let Selection::Members(inner) = inner {
        insert(inner, rest);
    }
}

fn chosen(
    mut from: Map<String, Value>,
    members: &BTreeMap<String, Selection>,
) -> Map<String, Value> {
    members
        .iter()
        .filter_map(|(name, selection)| {
            let value = from.remove(name)?;
            Some((name.clone(), part(value, selection)?))
        })
        .collect()
}

/// `None` where members are wanted of something that has none.
fn part(value: Value, selection: &Selection) -> Option<Value> {
    match (selection, value) {
        (Selection::Whole, value) => Some(value),
        (Selection::Members(members), Value::Object(object)) => {
            Some(Value::Object(chosen(object, members)))
        }
        (Selection::Members(_), Value::Array(items)) => Some(Value::Array(
            items
                .into_iter()
                .filter_map(|item| part(item, selection))
                .collect(),
        )),
        (Selection::Members(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource() -> Resource {
        serde_json::from_value(json!({
            "id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b", "kind": "NodePool", "name": "one", "href": "/x",
            "spec": {"region": "us", "net": {"cidr": "10.0.0.0/8", "mtu": 1400}, "list": [{"a": 1, "b": 2}, 3]},
            "labels": {"env": "dev", "hyperfleet.io/shard": "1"}, "generation": 2,
            "status": {
                "phase": "Ready", "phaseDescription": "fine",
                "conditions": [{
                    "type": "Reconciled", "status": "True", "observed_generation": 2,
                    "created_time": "2026-01-01T00:00:00Z", "last_updated_time": "2026-01-01T00:00:00.123456Z",
                    "last_transition_time": "2026-01-01T00:00:00Z",
                }],
                "adapters": [{"name": "dns", "available": "True", "observed_generation": 2}],
                "last_updated_time": "2026-01-01T00:00:00Z", "last_transition_time": "2026-01-01T00:00:00Z",
            },
            "owner_references": {"id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b", "kind": "Cluster", "href": "/y"},
            "created_time": "2026-01-01T00:00:00.123456Z", "updated_time": "2026-01-01T00:00:00Z",
            "created_by": "me", "updated_by": "me",
        }))
        .unwrap()
    }

    fn project(fields: &str) -> Value {
        let mut projected = Fields::parse([fields])
            .unwrap()
            .unwrap()
            .project(&resource());
        let id = projected.as_object_mut().unwrap().remove("id");
        assert!(id.is_some(), "the id is always there");
        projected
    }

    #[test]
    fn members_are_chosen_at_any_depth() {
        assert_eq!(
            project("name,created_time"),
            json!({"name": "one", "created_time": "2026-01-01T00:00:00.123456Z"})
        );
        assert_eq!(
            project("status.phase, status.conditions.type,status.conditions.status"),
            json!({"status": {"phase": "Ready", "conditions": [{"type": "Reconciled", "status": "True"}]}})
        );
        assert_eq!(
            project("spec.region,spec.net.mtu,spec.list.a,spec.region.x,spec.no"),
            json!({"spec": {"region": "us", "net": {"mtu": 1400}, "list": [{"a": 1}]}})
        );
        assert_eq!(
            project("labels.hyperfleet.io/shard"),
            json!({"labels": {"hyperfleet.io/shard": "1"}})
        );
        assert_eq!(
            project("owner_references.kind,status.adapters.name"),
            json!({"owner_references": {"kind": "Cluster"}, "status": {"adapters": [{"name": "dns"}]}})
        );
    }

    #[test]
    fn the_whole_wins_over_its_parts() {
        let whole = serde_json::to_value(resource()).unwrap();
        for fields in [
            "status",
            "status.*",
            "status.phase,status",
            "status,status.phase",
        ] {
            assert_eq!(
                project(fields),
                json!({"status": whole["status"]}),
                "{fields}"
            );
        }
        assert_eq!(
            project("status.conditions.*"),
            json!({"status": {"conditions": whole["status"]["conditions"]}})
        );
        assert_eq!(
            project("owner_references"),
            json!({"owner_references": whole["owner_references"]})
        );
        assert_eq!(project("references,deleted_time"), json!({}), "it has none");
    }

    #[test]
    fn every_member_of_a_resource_can_be_chosen() {
        let mut resource = resource();
        resource.deleted_time = Some(resource.created_time);
        resource.deleted_by = Some("me".to_owned());
        let whole = serde_json::to_value(&resource).unwrap();
        let names: Vec<&str> = whole
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let fields = Fields::parse(names).unwrap().unwrap();
        assert_eq!(fields.project(&resource), whole);
    }

    #[test]
    fn a_part_that_is_read_is_the_part_that_is_projected() {
        let whole = serde_json::to_value(resource()).unwrap();
        for fields in [
            "spec.region,spec.net.mtu,spec.list.a,spec.region.x,spec.no,labels,generation",
            "status.phase,status.conditions.type,status.adapters.name,owner_references.kind",
            "status,status.conditions.type,labels.hyperfleet.io/shard,spec.list,created_time",
        ] {
            let fields = Fields::parse([fields]).unwrap().unwrap();
            let projected = fields.project(&resource());
            for (member, value) in whole.as_object().unwrap() {
                assert_eq!(
                    fields.read(member, &value.to_string()).unwrap().as_ref(),
                    projected.get(member),
                    "{member}"
                );
            }
        }
    }

    #[test]
    fn unknown_names_are_all_told() {
        let error = Fields::parse([
            "nam,name",
            "status.x,spec.,id.x,nam,labels.,*,status.conditions.x",
        ])
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "The following field(s) doesn't exist in `Resource`: \
             nam, status.x, spec., id.x, labels., *, status.conditions.x"
        );
        assert_eq!(Fields::parse(["", " , "]), Ok(None));
    }
}
