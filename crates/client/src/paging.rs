//! A whole list, page after page.

use std::collections::HashSet;

use futures::Stream;
use futures::stream::try_unfold;
use hyperfleet_core::list::PageRequest;

use crate::client::Client;
use crate::error::CallError;
use crate::remote::RemoteResource;
use crate::typed::ListQuery;

/// Where a walk through the pages stands.
struct Walk {
    client: Client,
    plural: String,
    query: ListQuery,
    next: u32,
    size: u32,
    given: u64,
    seen: HashSet<String>,
    done: bool,
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
        let walk = Walk {
            client: self.clone(),
            plural: plural.to_owned(),
            next: 1,
            size: query.size.unwrap_or(PageRequest::MAX_SIZE),
            given: 0,
            query: ListQuery {
                order: query.order.or_else(|| Some("created_time asc".to_owned())),
                ..query
            },
            seen: HashSet::new(),
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
        self.query.page = Some(self.next);
        self.query.size = Some(self.size);
        let page = self.client.list(&self.plural, &self.query).await?;
        // Counted by what came, not by what was asked for: a server may give fewer than that.
        self.given += page.items.len() as u64;
        self.done = page.items.is_empty() || self.given >= page.total;
        self.next += 1;
        let mut items = page.items;
        items.retain(|resource| resource.id.is_empty() || self.seen.insert(resource.id.clone()));
        Ok(items)
    }
}
