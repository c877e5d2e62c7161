//! The statements of lists. Each begins with `prefix`, which is empty or an EXPLAIN.

use hyperfleet_core::column::Column;
use hyperfleet_core::list::{Direction, Key, KeysetColumn};

use super::{PageQuery, ResourceFilter, StretchQuery, columns};
use crate::search::{self, Sql};
use crate::sight::Sight;

pub(super) fn page(prefix: &'static str, query: &PageQuery<'_>, sight: Option<&Sight>) -> Sql {
    let mut sql = Sql::new(prefix);
    sql.push("SELECT ");
    columns::push(&mut sql, query.fields, None);
    push_page(&mut sql, query, sight);
    sql
}

/// The same with the total that is kept by kind in every row.
pub(super) fn counted_page(
    prefix: &'static str,
    query: &PageQuery<'_>,
    sight: Option<&Sight>,
) -> Sql {
    let mut sql = Sql::new(prefix);
    sql.push("SELECT ");
    columns::push(&mut sql, query.fields, None);
    sql.push(", (");
    push_kept_total(&mut sql, query.filter.kind);
    sql.push(") AS total");
    push_page(&mut sql, query, sight);
    sql
}

fn push_page(sql: &mut Sql, query: &PageQuery<'_>, sight: Option<&Sight>) {
    sql.push(" FROM resources r");
    push_filter(sql, &query.filter, sight);
    push_order(sql, query.order.terms());
    sql.push(" LIMIT ")
        .push_bind(i64::from(query.page.size) + 1)
        .push(" OFFSET ")
        .push_bind(query.page.offset());
}

pub(super) fn stretch(
    prefix: &'static str,
    query: &StretchQuery<'_>,
    sight: Option<&Sight>,
) -> Sql {
    let (also, terms) = match query.order.column {
        KeysetColumn::CreatedTime => (Some("created_time"), vec![Column::CreatedTime, Column::Id]),
        KeysetColumn::Name => (Some("name"), vec![Column::Name, Column::Id]),
        KeysetColumn::Id => (None, vec![Column::Id]),
    };
    let mut sql = Sql::new(prefix);
    sql.push("SELECT ");
    columns::push(&mut sql, query.fields, also);
    sql.push(" FROM resources r");
    let mut and = push_filter(&mut sql, &query.filter, sight);
    if let Some(after) = query.after {
        let beyond = match query.order.direction {
            Direction::Ascending => " > ",
            Direction::Descending => " < ",
        };
        sql.push(and.next());
        match &after.key {
            Key::CreatedTime(time) => {
                sql.push("(r.created_time, r.id)")
                    .push(beyond)
                    .push("(")
                    .push_bind(*time);
                sql.push(", ").push_bind(after.id.0).push(")");
            }
            Key::Name(name) => {
                sql.push("(r.name, r.id)")
                    .push(beyond)
                    .push("(")
                    .push_bind(name.clone());
                sql.push(", ").push_bind(after.id.0).push(")");
            }
            Key::Id => {
                sql.push("r.id").push(beyond).push_bind(after.id.0);
            }
        }
    }
    let terms: Vec<_> = terms
        .into_iter()
        .map(|column| (column, query.order.direction))
        .collect();
    push_order(&mut sql, &terms);
    sql.push(" LIMIT ").push_bind(i64::from(query.limit) + 1);
    sql
}

pub(super) fn count(
    prefix: &'static str,
    filter: &ResourceFilter<'_>,
    sight: Option<&Sight>,
) -> Sql {
    let mut sql = Sql::new(prefix);
    sql.push("SELECT count(*) FROM resources r");
    push_filter(&mut sql, filter, sight);
    sql
}

/// The number of resources that is kept by kind.
pub(super) fn kept_total(kind: Option<&str>) -> Sql {
    let mut sql = Sql::new("");
    push_kept_total(&mut sql, kind);
    sql
}

fn push_kept_total(sql: &mut Sql, kind: Option<&str>) {
    sql.push("SELECT coalesce(sum(t.total), 0)::bigint FROM resource_totals t");
    if let Some(kind) = kind {
        sql.push(" WHERE t.kind = ").push_bind(kind.to_owned());
    }
}

/// What joins the next condition to those before it.
struct And {
    any: bool,
}

impl And {
    fn next(&mut self) -> &'static str {
        match std::mem::replace(&mut self.any, true) {
            true => " AND ",
            false => " WHERE ",
        }
    }
}

/// Only conditions that are wanted are there: `$1 IS NULL OR …` would keep the planner from every index.
fn push_filter(sql: &mut Sql, filter: &ResourceFilter<'_>, sight: Option<&Sight>) -> And {
    let mut and = And { any: false };
    if let Some(kind) = filter.kind {
        sql.push(and.next())
            .push("r.kind = ")
            .push_bind(kind.to_owned());
    }
    if let Some(owner) = filter.owner.id() {
        sql.push(and.next()).push("r.owner_id = ").push_bind(owner);
    }
    if let Some(sight) = sight {
        sql.push(and.next());
        sight.push(sql);
    }
    if let Some((ref_type, target)) = filter.reference {
        sql.push(and.next())
            .push("r.facets @> ")
            .push_bind(vec![format!("reference:{ref_type}={target}")]);
    }
    if let Some(search) = filter.search {
        sql.push(and.next());
        search::push(sql, search);
    }
    and
}

fn push_order(sql: &mut Sql, terms: &[(Column, Direction)]) {
    for (index, (column, direction)) in terms.iter().enumerate() {
        sql.push(if index == 0 { " ORDER BY r." } else { ", r." })
            .push(column.as_str())
            .push(" ")
            .push(direction.as_str());
    }
}
