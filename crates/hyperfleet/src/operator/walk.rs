//! Through a whole list, stretch by stretch.

use hyperfleet_client::{Follow, ListQuery, RemoteResource};

use super::failure::Failure;
use super::fleet::Fleet;

/// Rows of the first stretch, so that something is there at once, and of the others.
const FIRST: u32 = 100;
const NEXT: u32 = 500;
/// The most a page may hold where there are only pages.
const PAGE: u32 = 100;

/// Where a walk through a list stands.
pub(crate) struct Walk<'f> {
    fleet: &'f Fleet,
    follow: &'f Follow,
    next: Next,
    /// Where to watch from afterwards; `None` before the first stretch, and where there is no change feed.
    pub(crate) since: Option<String>,
}

enum Next {
    First,
    From(String),
    /// Of a server that knows only pages: rows that move between two of them may be missed or met twice.
    Page(u32),
    End,
}

impl<'f> Walk<'f> {
    pub(crate) fn new(fleet: &'f Fleet, follow: &'f Follow) -> Walk<'f> {
        Walk {
            fleet,
            follow,
            next: Next::First,
            since: None,
        }
    }

    /// The next stretch, until there is none.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<RemoteResource>>, Failure> {
        let client = &self.fleet.client;
        let stretch = match &self.next {
            Next::End => return Ok(None),
            Next::Page(page) => return self.page(*page).await,
            Next::First => client.first_page(self.follow, FIRST).await,
            Next::From(next) => client.next_page(self.follow, NEXT, next).await.map(Some),
        };
        let Some(stretch) = stretch.map_err(|error| self.fleet.told(error))? else {
            return self.page(1).await;
        };
        let items = stretch.items().map_err(|error| self.fleet.told(error))?;
        self.next = stretch.next.map_or(Next::End, Next::From);
        self.since.get_or_insert(stretch.since);
        Ok(Some(items))
    }

    async fn page(&mut self, page: u32) -> Result<Option<Vec<RemoteResource>>, Failure> {
        let query = ListQuery {
            page: Some(page),
            size: Some(PAGE),
            search: self.follow.search.clone(),
            fields: self.follow.fields.clone(),
            // One that writes do not disturb.
            order: Some(
                self.follow
                    .order
                    .clone()
                    .unwrap_or("created_time desc".to_owned()),
            ),
        };
        let listed = self.fleet.client.list(&self.follow.plural, &query).await;
        let listed = listed.map_err(|error| self.fleet.told(error))?;
        let seen = u64::from(page) * u64::from(PAGE);
        self.next = match listed.items.is_empty() || seen >= listed.total {
            true => Next::End,
            false => Next::Page(page + 1),
        };
        Ok(Some(listed.items))
    }
}
