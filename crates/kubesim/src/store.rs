//! All objects, the one revision counter, and a bounded history of changes per resource.
//!
//! Objects are shared (`Arc`), so a list copies pointers. Watchers keep no buffer of their own: each has a position in
//! its resource's history and is refused once the history has moved past it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;

use crate::meta;

/// Changes kept per resource: what a watcher may be behind before it has to list again.
const HISTORY: usize = 4096;

/// Namespace (empty for cluster-scoped) and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub namespace: String,
    pub name: String,
}

impl Key {
    pub(crate) fn of(object: &Value) -> Key {
        Key {
            namespace: meta::namespace(object).to_owned(),
            name: meta::name(object).to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Added,
    Modified,
    Deleted,
}

/// One committed write.
#[derive(Debug)]
pub(crate) struct Change {
    pub revision: u64,
    pub verb: Verb,
    pub storage: String,
    pub object: Arc<Value>,
    pub previous: Option<Arc<Value>>,
}

#[derive(Debug)]
struct Feed {
    changes: VecDeque<Arc<Change>>,
    /// Changes up to here may be gone.
    forgotten: u64,
    tick: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    revision: u64,
    /// Revision the process started with: nothing before it is in any history.
    floor: u64,
    objects: HashMap<String, BTreeMap<Key, Arc<Value>>>,
    feeds: HashMap<String, Feed>,
    by_uid: HashMap<String, (String, Key)>,
    dependents: HashMap<String, BTreeSet<(String, Key)>>,
    /// Changes the controllers have not looked at yet.
    unseen: VecDeque<Arc<Change>>,
}

impl Store {
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Continues counting where a saved world stopped.
    pub(crate) fn restore(&mut self, revision: u64, objects: Vec<(String, Value)>) {
        self.revision = revision.max(1);
        self.floor = self.revision;
        for (storage, object) in objects {
            let object = Arc::new(object);
            let key = Key::of(&object);
            self.index(&storage, &key, None, Some(&object));
            self.unseen.push_back(Arc::new(Change {
                revision: self.revision,
                verb: Verb::Added,
                storage: storage.clone(),
                object: Arc::clone(&object),
                previous: None,
            }));
            self.objects.entry(storage).or_default().insert(key, object);
        }
    }

    pub(crate) fn get(&self, storage: &str, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        self.objects.get(storage)?.get(&Key {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }

    pub(crate) fn by_key(&self, storage: &str, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(storage)?.get(key)
    }

    pub(crate) fn by_uid(&self, uid: &str) -> Option<(&str, &Arc<Value>)> {
        let (storage, key) = self.by_uid.get(uid)?;
        Some((storage, self.by_key(storage, key)?))
    }

    /// Objects of a resource in key order, in one namespace or (empty) all, after a key.
    pub(crate) fn range<'a>(
        &'a self,
        storage: &str,
        namespace: &'a str,
        after: Option<&Key>,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> + use<'a> {
        let start = match after {
            Some(key) => Bound::Excluded(key.clone()),
            None => Bound::Included(Key {
                namespace: namespace.to_owned(),
                name: String::new(),
            }),
        };
        self.objects
            .get(storage)
            .into_iter()
            .flat_map(move |map| map.range((start.clone(), Bound::Unbounded)))
            .take_while(move |(key, _)| namespace.is_empty() || key.namespace == namespace)
    }

    pub(crate) fn count(&self, storage: &str) -> usize {
        self.objects.get(storage).map_or(0, BTreeMap::len)
    }

    pub(crate) fn storages(&self) -> impl Iterator<Item = &String> {
        self.objects.keys()
    }

    /// Objects that name this uid among their owners.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<(String, Arc<Value>)> {
        self.dependents
            .get(uid)
            .into_iter()
            .flatten()
            .filter_map(|(storage, key)| {
                Some((storage.clone(), Arc::clone(self.by_key(storage, key)?)))
            })
            .collect()
    }

    /// Stores a new state under the next revision.
    pub(crate) fn put(&mut self, storage: &str, mut object: Value) -> Arc<Value> {
        self.revision += 1;
        meta::metadata_mut(&mut object)
            .insert("resourceVersion".into(), self.revision.to_string().into());
        let object = Arc::new(object);
        let key = Key::of(&object);
        let previous = self
            .objects
            .entry(storage.to_owned())
            .or_default()
            .insert(key.clone(), Arc::clone(&object));
        self.index(storage, &key, previous.as_deref(), Some(&object));
        let verb = if previous.is_some() {
            Verb::Modified
        } else {
            Verb::Added
        };
        self.record(verb, storage, Arc::clone(&object), previous);
        object
    }

    /// Removes an object; the returned last state carries the revision of its removal.
    pub(crate) fn remove(&mut self, storage: &str, key: &Key) -> Option<Arc<Value>> {
        let previous = self.objects.get_mut(storage)?.remove(key)?;
        self.revision += 1;
        self.index(storage, key, Some(&previous), None);
        let mut last = (*previous).clone();
        meta::metadata_mut(&mut last)
            .insert("resourceVersion".into(), self.revision.to_string().into());
        let last = Arc::new(last);
        self.record(Verb::Deleted, storage, Arc::clone(&last), Some(previous));
        Some(last)
    }

    fn index(&mut self, storage: &str, key: &Key, before: Option<&Value>, after: Option<&Value>) {
        if let Some(before) = before {
            self.by_uid.remove(meta::uid(before));
            for owner in meta::owners(before) {
                let uid = meta::text(owner, "/uid");
                if let Some(set) = self.dependents.get_mut(uid) {
                    set.remove(&(storage.to_owned(), key.clone()));
                    if set.is_empty() {
                        self.dependents.remove(uid);
                    }
                }
            }
        }
        if let Some(after) = after {
            self.by_uid.insert(
                meta::uid(after).to_owned(),
                (storage.to_owned(), key.clone()),
            );
            for owner in meta::owners(after) {
                let uid = meta::text(owner, "/uid").to_owned();
                self.dependents
                    .entry(uid)
                    .or_default()
                    .insert((storage.to_owned(), key.clone()));
            }
        }
    }

    fn record(
        &mut self,
        verb: Verb,
        storage: &str,
        object: Arc<Value>,
        previous: Option<Arc<Value>>,
    ) {
        let revision = self.revision;
        let change = Arc::new(Change {
            revision,
            verb,
            storage: storage.to_owned(),
            object,
            previous,
        });
        self.unseen.push_back(Arc::clone(&change));
        let feed = self.feed(storage);
        if feed.changes.len() == HISTORY
            && let Some(oldest) = feed.changes.pop_front()
        {
            feed.forgotten = oldest.revision;
        }
        feed.changes.push_back(change);
        feed.tick.send_replace(revision);
    }

    fn feed(&mut self, storage: &str) -> &mut Feed {
        let floor = self.floor;
        self.feeds
            .entry(storage.to_owned())
            .or_insert_with(|| Feed {
                changes: VecDeque::new(),
                forgotten: floor,
                tick: watch::Sender::new(0),
            })
    }

    /// A signal that changes whenever the resource does.
    pub(crate) fn subscribe(&mut self, storage: &str) -> watch::Receiver<u64> {
        self.feed(storage).tick.subscribe()
    }

    /// Up to `limit` changes after a revision; `Err` with the oldest usable revision when some are gone.
    pub(crate) fn changes_after(
        &self,
        storage: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Change>>, u64> {
        let Some(feed) = self.feeds.get(storage) else {
            return if after < self.floor {
                Err(self.floor)
            } else {
                Ok(Vec::new())
            };
        };
        if after < feed.forgotten {
            return Err(feed.forgotten);
        }
        let start = feed
            .changes
            .partition_point(|change| change.revision <= after);
        Ok(feed
            .changes
            .iter()
            .skip(start)
            .take(limit)
            .cloned()
            .collect())
    }

    pub(crate) fn next_unseen(&mut self) -> Option<Arc<Change>> {
        self.unseen.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str) -> Value {
        json!({ "metadata": { "namespace": "n", "name": name, "uid": format!("uid-{name}") } })
    }

    #[test]
    fn a_watcher_that_fell_behind_the_history_is_told_so() {
        let mut store = Store::default();
        store.restore(1, Vec::new());
        for _ in 0..=HISTORY {
            store.put("things", object("a"));
        }
        assert_eq!(store.changes_after("things", 1, 1).map(|_| ()), Err(2));
        assert_eq!(
            store
                .changes_after("things", 2, usize::MAX)
                .map(|c| c.len()),
            Ok(HISTORY)
        );
    }

    #[test]
    fn other_resources_do_not_use_up_a_history() {
        let mut store = Store::default();
        store.restore(1, Vec::new());
        store.put("quiet", object("q"));
        for _ in 0..=HISTORY {
            store.put("busy", object("b"));
        }
        assert_eq!(
            store.changes_after("quiet", 1, usize::MAX).map(|c| c.len()),
            Ok(1)
        );
    }

    #[test]
    fn a_namespace_is_a_range_of_keys() {
        let mut store = Store::default();
        for (namespace, name) in [("a", "x"), ("b", "x"), ("b", "y"), ("bb", "x")] {
            store.put(
                "things",
                json!({ "metadata": { "namespace": namespace, "name": name } }),
            );
        }
        let names: Vec<&str> = store
            .range("things", "b", None)
            .map(|(key, _)| key.name.as_str())
            .collect();
        assert_eq!(names, ["x", "y"]);
        assert_eq!(store.range("things", "", None).count(), 4);
    }
}
