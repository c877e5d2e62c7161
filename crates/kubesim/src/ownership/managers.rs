//! `metadata.managedFields` as a map from manager to the fields it owns.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::Writer;
use super::fieldset::Set;
use crate::meta;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// What tells two entries apart. An applier is the same whichever version it applies with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub operation: Operation,
    pub manager: String,
    pub subresource: String,
    /// Not part of an applier's identity, but written for it.
    pub api_version: String,
}

impl Id {
    pub(super) fn new(writer: &Writer<'_>, operation: Operation) -> Id {
        Id {
            operation,
            manager: writer.manager.to_owned(),
            subresource: writer.subresource.to_owned(),
            api_version: writer.api_version.to_owned(),
        }
    }

    fn same(&self, other: &Id) -> bool {
        self.operation == other.operation
            && self.manager == other.manager
            && self.subresource == other.subresource
            && (self.operation == Operation::Apply || self.api_version == other.api_version)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub set: Set,
    pub time: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Managers {
    entries: BTreeMap<Id, Entry>,
}

impl Managers {
    pub(super) fn read(object: &Value) -> Managers {
        let mut managers = Managers::default();
        for entry in meta::list(object, "/metadata/managedFields") {
            let operation = if entry["operation"] == "Apply" {
                Operation::Apply
            } else {
                Operation::Update
            };
            let id = Id {
                operation,
                manager: meta::text(entry, "/manager").to_owned(),
                subresource: meta::text(entry, "/subresource").to_owned(),
                api_version: meta::text(entry, "/apiVersion").to_owned(),
            };
            let time = meta::parse_time(meta::text(entry, "/time"));
            managers.entries.insert(
                id,
                Entry {
                    set: Set::from_fields(&entry["fieldsV1"]),
                    time,
                },
            );
        }
        managers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn set(&self, id: &Id) -> Set {
        self.entries
            .iter()
            .find(|(i, _)| i.same(id))
            .map(|(_, e)| e.set.clone())
            .unwrap_or_default()
    }

    pub(super) fn time(&self, id: &Id) -> Option<DateTime<Utc>> {
        self.entries
            .iter()
            .find(|(i, _)| i.same(id))
            .and_then(|(_, e)| e.time)
    }

    pub(super) fn put(&mut self, id: Id, entry: Entry) {
        self.entries.retain(|i, _| !i.same(&id));
        self.entries.insert(id, entry);
    }

    /// Everyone but `except` gives up these fields.
    pub(super) fn lose(&mut self, except: Option<&Id>, fields: &Set) {
        for (id, entry) in &mut self.entries {
            if except.is_none_or(|e| !e.same(id)) {
                entry.set = entry.set.difference(fields);
            }
        }
    }

    pub(super) fn all(&self) -> Set {
        self.entries
            .values()
            .fold(Set::default(), |all, entry| all.union(&entry.set))
    }

    /// Who else owns any of `fields`, and which.
    pub(super) fn conflicts(
        &self,
        applier: &Id,
        fields: &Set,
    ) -> Vec<(Id, Option<DateTime<Utc>>, Set)> {
        self.entries
            .iter()
            .filter(|(id, _)| !id.same(applier))
            .map(|(id, entry)| (id.clone(), entry.time, entry.set.intersection(fields)))
            .filter(|(_, _, set)| !set.is_empty())
            .collect()
    }

    /// Folds the oldest update managers of each version into one, so that the list stays bounded.
    pub(super) fn cap(&mut self, limit: usize) {
        self.entries.retain(|_, entry| !entry.set.is_empty());
        let mut updaters: Vec<(Option<DateTime<Utc>>, Id)> = self
            .entries
            .iter()
            .filter(|(id, _)| id.operation == Operation::Update)
            .map(|(id, entry)| (entry.time, id.clone()))
            .collect();
        if updaters.len() <= limit {
            return;
        }
        updaters.sort();
        let mut count = updaters.len();
        let mut first: BTreeMap<String, Id> = BTreeMap::new();
        for (time, id) in updaters {
            if count <= limit {
                break;
            }
            let version = id.api_version.clone();
            let Some(earliest) = first.get(&version).cloned() else {
                first.insert(version, id);
                continue;
            };
            let bucket = Id {
                operation: Operation::Update,
                manager: "ancient-changes".into(),
                subresource: String::new(),
                api_version: version,
            };
            if !self.entries.contains_key(&bucket)
                && let Some(entry) = self.entries.remove(&earliest)
            {
                self.entries.insert(bucket.clone(), entry);
            }
            if let (Some(moved), Some(target)) =
                (self.entries.remove(&id), self.entries.get_mut(&bucket))
            {
                target.set = target.set.union(&moved.set);
                target.time = time;
                count -= 1;
            }
        }
    }

    pub(super) fn write(&self, object: &mut Value) {
        let mut entries: Vec<(&Id, &Entry)> = self
            .entries
            .iter()
            .filter(|(_, e)| !e.set.is_empty())
            .collect();
        entries.sort_by(|(a, x), (b, y)| {
            (a.operation, x.time, &a.manager).cmp(&(b.operation, y.time, &b.manager))
        });
        let list: Vec<Value> = entries
            .into_iter()
            .map(|(id, entry)| {
                let mut wire = json!({
                    "manager": id.manager,
                    "operation": if id.operation == Operation::Apply { "Apply" } else { "Update" },
                    "apiVersion": id.api_version,
                    "fieldsType": "FieldsV1",
                    "fieldsV1": entry.set.to_fields(),
                });
                if let Some(time) = entry.time {
                    wire["time"] = meta::time(time).into();
                }
                if !id.subresource.is_empty() {
                    wire["subresource"] = id.subresource.as_str().into();
                }
                wire
            })
            .collect();
        let metadata = meta::metadata_mut(object);
        if list.is_empty() {
            metadata.remove("managedFields");
        } else {
            metadata.insert("managedFields".into(), list.into());
        }
    }
}
