//! Lists of resources.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `page`, all of a kind | 1 | its own rows, and the entries of an index before them; the total is kept by kind |
//! | `page`, filtered | 1, 2 for a total | the same, or all that the filter finds; a count of that at most once a second |
//! | `stretch` | 1 | its own rows, by index, however far the walk has come |
//!
//! Only the columns of wanted members are read: a list without specs does not touch them.

mod columns;
mod statement;

#[cfg(test)]
mod tests;

use std::time::Instant;

use hyperfleet_core::fields::Fields;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::list::{Item, Key, KeysetColumn, KeysetOrder, Mark, Order, Page, PageRequest};
use hyperfleet_core::search::Search;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::resources::Owner;
use crate::sight::Sight;
use crate::totals::Filter;

/// Which resources a list is about.
#[derive(Debug, Clone, Copy)]
pub struct ResourceFilter<'a> {
    /// `None` is all kinds.
    pub kind: Option<&'a str>,
    pub owner: Owner,
    pub search: Option<&'a Search>,
    /// A type of reference, and the id of its target.
    pub reference: Option<(&'a str, &'a str)>,
}

impl ResourceFilter<'_> {
    /// Whether it is about all of a kind, or all there is: the total of that is kept.
    fn is_open(&self, sight: Option<&Sight>) -> bool {
        let all = self.owner == Owner::Any && self.search.is_none() && self.reference.is_none();
        all && sight.is_none()
    }
}

/// A page of a list.
#[derive(Debug, Clone, Copy)]
pub struct PageQuery<'a> {
    pub filter: ResourceFilter<'a>,
    pub order: &'a Order,
    pub page: PageRequest,
    /// `None` is all members.
    pub fields: Option<&'a Fields>,
}

impl PageQuery<'_> {
    /// How many rows are asked for: one more than wanted, unless the total is kept. Without that one the list ends
    /// here, and nothing has to be counted.
    fn rows(&self, sight: Option<&Sight>) -> u32 {
        self.page.size + u32::from(!self.filter.is_open(sight))
    }
}

/// A stretch of a walk through a list.
#[derive(Debug, Clone, Copy)]
pub struct StretchQuery<'a> {
    pub filter: ResourceFilter<'a>,
    pub order: KeysetOrder,
    /// Where the stretch before ended.
    pub after: Option<&'a Mark>,
    pub limit: u32,
    /// `None` is all members.
    pub fields: Option<&'a Fields>,
}

impl Store {
    /// One page, and how many resources there are on all.
    pub async fn page(&self, query: &PageQuery<'_>) -> Result<Page<Item>, StoreError> {
        self.timed(Operation::Query, "resources", self.read_page(query))
            .await
    }

    async fn read_page(&self, query: &PageQuery<'_>) -> Result<Page<Item>, StoreError> {
        let (filter, began) = (&query.filter, Instant::now());
        let sight = self.sight.as_deref();
        let open = filter.is_open(sight);
        let known = match open {
            true => self.totals.get(&self.counted(filter), began),
            false => None,
        };
        // The total that is kept comes along with the page unless it has just been read.
        let counting = open && known.is_none();
        let writes = self.totals.writes();
        let mut sql = match counting {
            true => statement::counted_page("", query, sight),
            false => statement::page("", query, sight),
        };
        let select = sql.build().persistent(filter.has_few_forms());
        let mut rows = self.fetch_all(select).await?;
        let offset = u64::try_from(query.page.offset()).unwrap_or(0);
        let wanted = query.page.size as usize;
        let fewer = rows.len() < query.rows(sight) as usize;
        let ends_here = fewer && (offset == 0 || !rows.is_empty());
        rows.truncate(wanted);
        let seen = offset + rows.len() as u64;
        let total = match (rows.first(), known) {
            _ if ends_here => seen,
            (_, Some(known)) => known,
            (Some(row), None) if counting => {
                let total = kept_total(row.try_get("total")?);
                self.totals
                    .put(self.counted(filter), total, writes, began, Instant::now());
                total
            }
            _ => self.total(filter).await?,
        };
        let items = read(&rows, query.fields)?;
        Ok(Page {
            page: query.page.page,
            size: u32::try_from(items.len()).unwrap_or(u32::MAX),
            // Counted a moment ago or from now: never fewer than the caller has seen.
            total: if items.is_empty() {
                total
            } else {
                total.max(seen)
            },
            items,
        })
    }

    /// The next resources of a walk, and the mark to go on from if there are more.
    pub async fn stretch(
        &self,
        query: &StretchQuery<'_>,
    ) -> Result<(Vec<Item>, Option<Mark>), StoreError> {
        self.timed(Operation::Query, "resources", self.read_stretch(query))
            .await
    }

    async fn read_stretch(
        &self,
        query: &StretchQuery<'_>,
    ) -> Result<(Vec<Item>, Option<Mark>), StoreError> {
        let mut sql = statement::stretch("", query, self.sight.as_deref());
        let select = sql.build().persistent(query.filter.has_few_forms());
        let mut rows = self.fetch_all(select).await?;
        let wanted = query.limit as usize;
        let more = rows.len() > wanted;
        rows.truncate(wanted);
        let next = match rows.last() {
            Some(last) if more => Some(mark(last, query.order.column)?),
            _ => None,
        };
        Ok((read(&rows, query.fields)?, next))
    }

    /// What a number is remembered under: whoever sees less counts less.
    fn counted(&self, filter: &ResourceFilter<'_>) -> Filter {
        Filter::new(filter, self.sight.clone())
    }

    /// How many resources a filter finds.
    async fn total(&self, filter: &ResourceFilter<'_>) -> Result<u64, StoreError> {
        if filter.is_open(self.sight.as_deref()) {
            let total = statement::kept_total(filter.kind)
                .build_query_scalar::<i64>()
                .fetch_one(&self.pool)
                .await?;
            return Ok(kept_total(total));
        }
        let (key, began) = (self.counted(filter), Instant::now());
        if let Some(total) = self.totals.get(&key, began) {
            return Ok(total);
        }
        let writes = self.totals.writes();
        let mut connection = self.connection().await?;
        let total = statement::count("", filter, self.sight.as_deref())
            .build_query_scalar::<i64>()
            .persistent(filter.has_few_forms())
            .fetch_one(&mut *connection)
            .await?;
        connection.done();
        let total = kept_total(total);
        self.totals.put(key, total, writes, began, Instant::now());
        Ok(total)
    }
}

impl ResourceFilter<'_> {
    /// Whether its statements are few enough, and their plans independent enough of the values, to be kept prepared.
    /// A search has any number of forms, and which index is best for it depends on how common its values are.
    fn has_few_forms(&self) -> bool {
        self.search.is_none() && self.reference.is_none()
    }
}

fn kept_total(total: i64) -> u64 {
    u64::try_from(total).unwrap_or(0)
}

fn read(rows: &[PgRow], fields: Option<&Fields>) -> Result<Vec<Item>, StoreError> {
    rows.iter().map(|row| columns::item(row, fields)).collect()
}

fn mark(row: &PgRow, column: KeysetColumn) -> Result<Mark, StoreError> {
    Ok(Mark {
        key: match column {
            KeysetColumn::CreatedTime => Key::CreatedTime(row.try_get("created_time")?),
            KeysetColumn::Name => Key::Name(row.try_get("name")?),
            KeysetColumn::Id => Key::Id,
        },
        id: ResourceId(row.try_get::<Uuid, _>("id")?),
    })
}
