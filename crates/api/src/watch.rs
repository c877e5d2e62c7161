//! `?watch=true`: every change of a list, as Server-Sent Events.
//!
//! ```text
//!   PostgreSQL ◄── one reader per process (hub) ──► ring of changes ──► a task per watcher: filter, write
//!                                                                         │ behind by a whole ring: cut off
//!   since=… ──► read up to where the hub is, then follow it ──────────────┘
//! ```
//!
//! `event:` is `upsert`, `delete` or `bookmark`, `id:` the position to resume from, `data:` the resource. A watcher
//! that is cut off, for whatever reason, resumes from the last `id` it saw and misses nothing.

pub(crate) mod hub;
mod wanted;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, FromRequestParts, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyperfleet_core::problem::Code;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::{Change, FeedError, Position, StoreError};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};

use crate::authz::Verb;
use crate::caller::Caller;
use crate::failure::Failure;
use crate::limits::WatchPermit;
use crate::list;
use crate::params::Pairs;
use crate::query::ListQuery;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;
use hub::News;
use wanted::Wanted;

/// Events that wait for a watcher's connection, besides those in the ring.
const QUEUE: usize = 64;
/// Changes read at once while catching up.
const PAGE: u32 = 500;
/// How long a connection may take nothing before it is cut.
const STALLED: Duration = Duration::from_secs(30);
/// Why a watcher is told that something is gone which is still there.
const OUT_OF_SIGHT: &str = "out_of_sight";

/// A list, or the changes of it when `watch=true` is asked for.
pub(crate) async fn list_or_watch(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    request: Request,
) -> Result<Response, Failure> {
    let (mut parts, _) = request.into_parts();
    let query = Pairs::from_request_parts(&mut parts, &state).await?;
    match query.get("watch") {
        Some("true" | "1") => watch(&state, &scope, &ids, &caller, &query, &parts.headers).await,
        None | Some("false" | "0") => {
            list::list(State(state), Extension(scope), Ids(ids), caller, query).await
        }
        Some(_) => Err(Failure::invalid(
            "watch",
            Some("enum"),
            "watch must be true or false",
        )),
    }
}

async fn watch(
    state: &ApiState,
    scope: &Scope,
    ids: &[String],
    caller: &Caller,
    query: &Pairs,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let asked = ListQuery::read(query, scope, state)?;
    let kind = scope.kind_name().or(asked.kind.as_deref());
    if !caller.access.may(Verb::Watch, kind) {
        return Err(caller.lacks(Verb::Watch, kind.unwrap_or("resources")));
    }
    let wanted = Wanted {
        sight: caller.access.sight(&[Verb::Watch], kind),
        kind: kind.map(str::to_owned),
        owner: scope
            .owner(&caller.within_tenant(&state.store), ids)
            .await?,
        search: asked.search,
        reference: asked.reference,
        fields: asked.fields,
    };
    let since = since(query, headers)?;
    if let Some(since) = &since {
        state.store.check_position(since).await?;
    }
    let permit = state.security.limits.watch(&caller.identity)?;
    let (news, position) = state.hub.subscribe().await?;
    let (sender, receiver) = mpsc::channel(QUEUE);
    let watcher = Watcher {
        state: state.clone(),
        wanted,
        sender,
        _permit: permit,
    };
    tokio::spawn(async move { watcher.run(since, position, news).await });
    let stream = futures::stream::unfold(receiver, |mut receiver| async move {
        let event: Bytes = receiver.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(event), receiver))
    });
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A buffering proxy would turn a change feed into a change archive.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Where to begin: `since`, or what a browser sends when it reconnects.
fn since(query: &Pairs, headers: &HeaderMap) -> Result<Option<Position>, Failure> {
    let header = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .filter(|value| !value.is_empty());
    let Some(text) = query.get("since").or(header) else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        Failure::new(
            Code::BadRequest,
            "since is not a position of the change feed; use the id of an event, or leave it out to begin now",
        )
    })
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Failure {
        match error {
            FeedError::Expired => Failure::new(
                Code::Expired,
                "The position is too old to resume from; list again and watch from the list's position",
            ),
            FeedError::Store(error) => error.into(),
        }
    }
}

/// Why a watcher's task ends.
#[derive(Debug)]
enum End {
    /// It is gone, or takes nothing.
    Gone,
    /// It is behind by more than is kept.
    Behind,
    Store(StoreError),
    Stopping,
}

struct Watcher {
    state: ApiState,
    wanted: Wanted,
    sender: mpsc::Sender<Bytes>,
    /// One of the watches that the caller may have.
    _permit: WatchPermit,
}

impl Watcher {
    async fn run(
        self,
        since: Option<Position>,
        hub: Position,
        news: broadcast::Receiver<Arc<News>>,
    ) {
        let metrics = self.state.hub.metrics();
        metrics.watchers.inc();
        let end = match self.follow(since, hub, news).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        metrics.watchers.dec();
        match end {
            End::Gone | End::Stopping => {}
            End::Behind => {
                metrics.cut_off.inc();
                tracing::info!("a watcher was too slow and is cut off; it can resume where it was");
            }
            End::Store(error) => {
                tracing::warn!(%error, "a watcher is cut off: its changes cannot be read")
            }
        }
    }

    async fn follow(
        &self,
        since: Option<Position>,
        hub: Position,
        mut news: broadcast::Receiver<Arc<News>>,
    ) -> Result<std::convert::Infallible, End> {
        match since {
            Some(since) => self.catch_up(since, &hub).await?,
            None => self.send(bookmark(&hub)).await?,
        }
        let stop = self.state.hub.stopping();
        loop {
            let received = tokio::select! {
                () = stop.cancelled() => return Err(End::Stopping),
                () = self.sender.closed() => return Err(End::Gone),
                received = news.recv() => received,
            };
            match received {
                Ok(news) => {
                    if let Some(event) = self.event(&news) {
                        self.send(event).await?;
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => return Err(End::Behind),
                Err(broadcast::error::RecvError::Closed) => return Err(End::Stopping),
            }
        }
    }

    /// Tells what happened between a position and where the hub was when this watcher joined it.
    async fn catch_up(&self, since: Position, hub: &Position) -> Result<(), End> {
        // Who goes away between two of the events at the end has not been told the second.
        let near = hub.told_since(&since);
        let mut here = since;
        let mut out_of_sight = Vec::new();
        loop {
            let changes = self.state.store.changes(&here, PAGE);
            let found = changes.await.map_err(End::Store)?;
            for mut change in found.changes {
                if hub.covers(&change) {
                    // Who goes away after it has not heard what the hub had not seen, though that came before.
                    change.position = change.position.without(hub);
                    if let Some(event) = self.event(&News::from(change)) {
                        self.send(event).await?;
                    }
                } else if self.is_left_out(&change, hub) {
                    out_of_sight.push(out_of_sight_data(&change.resource));
                }
            }
            if found.complete {
                let last = out_of_sight.pop();
                for data in out_of_sight {
                    self.send(event("delete", &near, &data)).await?;
                }
                if let Some(data) = last {
                    self.send(event("delete", hub, &data)).await?;
                }
                return self.send(bookmark(hub)).await;
            }
            here = found.position;
        }
    }

    /// Whether a change that the hub will tell of took something out of sight before: the hub has seen its labels
    /// change, this watcher has not, and the hub will not speak of them again.
    fn is_left_out(&self, change: &Change, hub: &Position) -> bool {
        let wanted = &self.wanted;
        !wanted.holds(&change.resource) && wanted.held(change) && !wanted.held_after(hub, change)
    }

    fn event(&self, news: &News) -> Option<Bytes> {
        match news {
            News::Bookmark(position) => Some(bookmark(position)),
            News::Change(change) if !self.wanted.holds(&change.resource) => {
                let held = self.wanted.held(change);
                let data = || out_of_sight_data(&change.resource);
                held.then(|| event("delete", &change.position, &data()))
            }
            News::Change(change) if !change.deleted && !self.wanted.finds(&change.resource) => {
                let resource = &change.resource;
                let data = json!({"id": resource.id, "kind": resource.kind, "href": resource.href});
                Some(event("delete", &change.position, &data))
            }
            News::Change(change) => Some(match &self.wanted.fields {
                None => change.whole().clone(),
                Some(fields) => {
                    let part = fields.project(&change.resource);
                    event(change.name(), &change.position, &part)
                }
            }),
        }
    }

    async fn send(&self, event: Bytes) -> Result<(), End> {
        match self.sender.send_timeout(event, STALLED).await {
            Ok(()) => Ok(()),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(End::Behind),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(End::Gone),
        }
    }
}

/// All that is told of something that is out of sight.
fn out_of_sight_data(resource: &Resource) -> Value {
    json!({"id": resource.id, "kind": resource.kind, "href": resource.href, "reason": OUT_OF_SIGHT})
}

fn bookmark(position: &Position) -> Bytes {
    event("bookmark", position, &json!({}))
}

/// One event as it goes over the wire.
fn event(name: &str, position: &Position, data: &impl serde::Serialize) -> Bytes {
    // JSON has no raw line breaks, so one `data` line holds it all.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\nid: {position}\ndata: {data}\n\n").into()
}
