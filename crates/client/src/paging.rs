//! A whole list, page after page.
//!
//! A server finds a page by skipping all that come before it, so a list read by page numbers alone costs the square of
//! its length. The walk therefore begins anew from where it is, every [`STRIDE`] pages:
//!
//! ```text
//! page=1 … 100                                             everything, oldest first
//! page=1 … 100  search=created_time >= that of the last    what was not read yet, and the last again
//! ```

use std::collections::HashSet;
use std::mem;

use chrono::SecondsFormat;
use futures::Stream;
use futures::stream::try_unfold;
use hyperfleet_core::list::{Page, PageRequest};
use hyperfleet_core::time::Time;
use reqwest::StatusCode;

use crate::client::Client;
use crate::error::CallError;
use crate::remote::RemoteResource;
use crate::typed::ListQuery;

/// Pages read by their number from one place. Few enough that skipping is cheap, many enough that a server that counts
/// what is left does not count often.
const STRIDE: u32 = 100;

/// The order in which a walk can begin anew.
const OLDEST_FIRST: &str = "created_time asc";

/// Where a walk through the pages stands.
struct Walk {
    client: Client,
    plural: String,
    query: ListQuery,
    /// Where page 1 is; `None` is the beginning of the list.
    from: Option<Time>,
    next: u32,
    /// How many came since `from`.
    given: u64,
    /// What came since `from`, and in the stretch before it.
    seen: HashSet<String>,
    seen_before: HashSet<String>,
    anew: Anew,
    done: bool,
}

/// Whether the walk can begin anew in the middle of the list.
#[derive(Clone, Copy)]
enum Anew {
    /// Nobody has asked this server yet.
    Untried,
    /// The next page tells. If it cannot, the walk goes on from here.
    Tried {
        next: u32,
        given: u64,
    },
    Works,
    /// The order is another one, or the server does not understand.
    Never,
}

impl Client {
    /// Every resource of a kind, as pages come in; `page` of the query is ignored.
    ///
    /// While pages are read others write, and rows move: a resource that shows up on two pages is
    /// given once. One that slipped between two pages is missed, which only an order that writes do
    /// not disturb (`created_time asc`, the default here) makes rare: then only a removal can do it.
    ///
    /// The page after a failed one is not asked for: a stream that ends with an error is not the whole list.
    pub fn list_all(
        &self,
        plural: &str,
        query: ListQuery,
    ) -> impl Stream<Item = Result<Vec<RemoteResource>, CallError>> + Send + use<> {
        let order = query.order.unwrap_or_else(|| OLDEST_FIRST.to_owned());
        let walk = Walk {
            client: self.clone(),
            plural: plural.to_owned(),
            from: None,
            next: 1,
            given: 0,
            seen: HashSet::new(),
            seen_before: HashSet::new(),
            anew: match order.as_str() {
                OLDEST_FIRST => Anew::Untried,
                _ => Anew::Never,
            },
            query: ListQuery {
                size: query.size.or(Some(PageRequest::MAX_SIZE)),
                order: Some(order),
                ..query
            },
            done: false,
        };
        try_unfold(walk, |mut walk| async move {
            if walk.done {
                return Ok(None);
            }
            let items = walk.page().await?;
            Ok(Some((items, walk)))
        })
    }
}

impl Walk {
    async fn page(&mut self) -> Result<Vec<RemoteResource>, CallError> {
        let page = self.ask().await?;
        // Counted by what came, not by what was asked for: a server may give fewer than that.
        self.given += page.items.len() as u64;
        self.done = page.items.is_empty() || self.given >= page.total;
        self.next += 1;
        let last = page.items.last().and_then(|last| last.created_time);
        let mut items = page.items;
        items.retain(|resource| resource.id.is_empty() || self.is_new(&resource.id));
        if self.next > STRIDE {
            self.begin_anew(last);
        }
        Ok(items)
    }

    async fn ask(&mut self) -> Result<Page<RemoteResource>, CallError> {
        let answer = self.client.list(&self.plural, &self.wanted()).await;
        let Anew::Tried { next, given } = self.anew else {
            return answer;
        };
        let understood = match &answer {
            Ok(page) => page.items.iter().all(|item| item.created_time >= self.from),
            Err(error) => error.status() != Some(StatusCode::BAD_REQUEST),
        };
        if understood {
            self.anew = Anew::Works;
            return answer;
        }
        self.anew = Anew::Never;
        (self.from, self.next, self.given) = (None, next, given);
        mem::swap(&mut self.seen, &mut self.seen_before);
        self.client.list(&self.plural, &self.wanted()).await
    }

    /// The next page, as the server is asked for it.
    fn wanted(&self) -> ListQuery {
        let mut wanted = self.query.clone();
        wanted.page = Some(self.next);
        if let Some(from) = self.from {
            let from = from.to_rfc3339_opts(SecondsFormat::AutoSi, true);
            let onwards = format!("created_time >= '{from}'");
            wanted.search = Some(match wanted.search {
                Some(search) => format!("({search}) and {onwards}"),
                None => onwards,
            });
        }
        wanted
    }

    /// Lets the next page be the first from here, unless all since the last such place were created at one time.
    fn begin_anew(&mut self, last: Option<Time>) {
        if last <= self.from {
            return;
        }
        self.anew = match self.anew {
            Anew::Never => return,
            Anew::Untried => Anew::Tried {
                next: self.next,
                given: self.given,
            },
            known => known,
        };
        (self.from, self.next, self.given) = (last, 1, 0);
        self.seen_before = mem::take(&mut self.seen);
    }

    fn is_new(&mut self, id: &str) -> bool {
        !self.seen_before.contains(id) && self.seen.insert(id.to_owned())
    }
}
