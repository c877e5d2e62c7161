//! Watches: a stream of changes from a revision on.
//!
//! A watcher holds a position, not a buffer. It reads the history in batches as the client takes them; one that falls
//! behind the history gets a 410 event and is cut off.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::watch::Receiver;
use tokio::time::Instant;

use super::Front;
use super::negotiate::Form;
use super::table;
use super::verbs::Exchange;
use crate::catalog::Resource;
use crate::cluster::list;
use crate::events;
use crate::failure::{Cause, Failure};
use crate::selector::{FieldSelector, LabelSelector};
use crate::store::{Change, Verb};

/// Changes read at once while holding the lock.
const BATCH: usize = 256;
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// Without `timeoutSeconds` the real server picks a time between 30 and 60 minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(45 * 60);

struct Watcher {
    front: Arc<Front>,
    resource: Arc<Resource>,
    shown: Arc<Resource>,
    namespace: String,
    labels: LabelSelector,
    fields: FieldSelector,
    form: Form,
    bookmarks: bool,
    position: u64,
    tick: Receiver<u64>,
    pending: VecDeque<Bytes>,
    ends: Instant,
    next_bookmark: Instant,
    finished: bool,
    table_sent: bool,
}

pub(super) fn serve(exchange: &Exchange<'_>) -> Result<Response, Failure> {
    let query = exchange.query;
    let call = exchange.call();
    let labels = LabelSelector::parse(&query.label_selector)?;
    let fields = FieldSelector::parse(&query.field_selector, exchange.resource)?;
    check(exchange)?;
    let storage = exchange.resource.storage();
    let now = Instant::now();
    let mut state = exchange.front.cluster.lock();
    let current = state.store.revision();
    let asked = match query.resource_version.as_deref() {
        None | Some("0") => None,
        Some(text) => Some(
            text.parse::<u64>()
                .map_err(|_| Failure::bad_version(text))?,
        ),
    };

    let initial = match query.send_initial_events {
        Some(send) => send,
        None => asked.is_none(),
    };
    let mut watcher = Watcher {
        front: Arc::clone(exchange.front),
        resource: Arc::clone(exchange.resource),
        shown: Arc::clone(exchange.shown),
        namespace: call.namespace.to_owned(),
        labels,
        fields,
        form: exchange.form,
        bookmarks: query.allow_bookmarks,
        position: if initial {
            current
        } else {
            asked.unwrap_or(current)
        },
        tick: state.store.subscribe(&storage),
        pending: VecDeque::new(),
        ends: now
            + query
                .timeout_seconds
                .map_or(DEFAULT_TIMEOUT, Duration::from_secs),
        next_bookmark: now + BOOKMARK_EVERY,
        finished: false,
        table_sent: false,
    };
    if initial {
        let everything = crate::query::Query {
            label_selector: query.label_selector.clone(),
            field_selector: query.field_selector.clone(),
            ..crate::query::Query::default()
        };
        let page = list(
            &state,
            &crate::cluster::Call {
                query: &everything,
                ..call.clone()
            },
        )?;
        drop(state);
        for object in &page.items {
            watcher.push("ADDED", object);
        }
        if query.send_initial_events == Some(true) {
            let line = watcher.bookmark(Some(json!({ "k8s.io/initial-events-end": "true" })));
            watcher.pending.push_back(line);
        }
    } else {
        // Answered before the stream starts: a version that is gone is a plain 410.
        let held = state.store.changes_after(&storage, watcher.position, 1);
        drop(state);
        if held.is_err() {
            let failure = too_old(watcher.position, current);
            watcher.pending.push_back(line("ERROR", &failure.body()));
            watcher.finished = true;
        }
    }
    let body = stream::unfold(watcher, |mut watcher| async move {
        let bytes = watcher.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), watcher))
    });
    let mut response = Response::new(Body::from_stream(body));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    Ok(response)
}

fn check(exchange: &Exchange<'_>) -> Result<(), Failure> {
    let query = exchange.query;
    let refuse = |field: &str, why: &str| {
        Err(Failure::invalid_options(
            "ListOptions",
            Cause::forbidden(field, why),
        ))
    };
    match (
        query.send_initial_events,
        query.resource_version_match.as_deref(),
    ) {
        (Some(_), Some("NotOlderThan")) | (None, None) => {}
        (Some(_), _) => {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            return refuse("resourceVersionMatch", why);
        }
        (None, Some(_)) => {
            let why =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            return refuse("resourceVersionMatch", why);
        }
    }
    if query.send_initial_events == Some(true) && !query.allow_bookmarks {
        return refuse(
            "sendInitialEvents",
            "sendInitialEvents requires allowWatchBookmarks",
        );
    }
    Ok(())
}

fn too_old(asked: u64, current: u64) -> Failure {
    Failure::expired(format!("too old resource version: {asked} ({current})"))
}

fn line(kind: &str, object: &Value) -> Bytes {
    // Written by hand so that the object is serialised without a copy.
    Bytes::from(format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"))
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.pending.pop_front() {
                return Some(bytes);
            }
            if self.finished {
                return None;
            }
            self.tick.mark_unchanged();
            self.read();
            if !self.pending.is_empty() || self.finished {
                continue;
            }
            let front = Arc::clone(&self.front);
            tokio::select! {
                biased;
                () = front.cancel.cancelled() => return None,
                changed = self.tick.changed() => { changed.ok()?; }
                () = tokio::time::sleep_until(self.ends) => return None,
                () = tokio::time::sleep_until(self.next_bookmark), if self.bookmarks => {
                    self.next_bookmark = Instant::now() + BOOKMARK_EVERY;
                    return Some(self.bookmark(None));
                }
            }
        }
    }

    /// Takes the next batch out of the history.
    fn read(&mut self) {
        let storage = self.resource.storage();
        let state = self.front.cluster.lock();
        let (changes, current) = (
            state.store.changes_after(&storage, self.position, BATCH),
            state.store.revision(),
        );
        drop(state);
        match changes {
            Ok(changes) => {
                let full = changes.len() == BATCH;
                for change in &changes {
                    self.position = change.revision;
                    self.deliver(change);
                }
                if full {
                    // More is waiting; look again before sleeping.
                    self.tick.mark_changed();
                } else {
                    self.position = self.position.max(current);
                }
            }
            Err(_) => {
                self.pending
                    .push_back(line("ERROR", &too_old(self.position, current).body()));
                self.finished = true;
            }
        }
    }

    /// An object that enters or leaves the selection appears and disappears, whatever happened to it.
    fn deliver(&mut self, change: &Change) {
        let object = &change.object;
        if !self.namespace.is_empty() && crate::meta::namespace(object) != self.namespace {
            return;
        }
        let selects = |object: &Value| self.labels.matches(object) && self.fields.matches(object);
        let before = change.previous.as_deref().is_some_and(selects);
        let now = change.verb != Verb::Deleted && selects(object);
        match (before, now) {
            (false, true) => self.push("ADDED", object),
            (true, true) => self.push("MODIFIED", object),
            (true, false) if change.verb == Verb::Deleted => self.push("DELETED", object),
            (true, false) => {
                // The last state that was selected, at the revision it stopped being so.
                let mut last = change.previous.as_deref().cloned().unwrap_or_default();
                last["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
                self.push("DELETED", &Arc::new(last));
            }
            (false, false) => {}
        }
    }

    fn push(&mut self, kind: &str, object: &Arc<Value>) {
        let shown = match self.form {
            Form::Object => events::outgoing(&self.shown, object),
            Form::Metadata => table::metadata_only(object),
            Form::Table => {
                let metadata = json!({ "resourceVersion": object["metadata"]["resourceVersion"] });
                let mut shown =
                    table::of_list(&self.resource, std::slice::from_ref(object), metadata);
                if self.table_sent {
                    shown["columnDefinitions"] = Value::Null;
                }
                self.table_sent = true;
                shown
            }
        };
        self.pending.push_back(line(kind, &shown));
    }

    fn bookmark(&self, annotations: Option<Value>) -> Bytes {
        let mut metadata =
            json!({ "resourceVersion": self.position.to_string(), "creationTimestamp": null });
        if let Some(annotations) = annotations {
            metadata["annotations"] = annotations;
        }
        let object = json!({
            "kind": self.shown.kind, "apiVersion": self.shown.api_version(), "metadata": metadata,
        });
        line("BOOKMARK", &object)
    }
}
