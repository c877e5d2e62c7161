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

/// Rows that are skipped from here on cost more than a statement of two steps does.
const FAR: i64 = 1000;

/// In two steps where the statement is kept prepared or much is skipped, else in one, which is sooner planned.
fn push_page(sql: &mut Sql, query: &PageQuery<'_>, sight: Option<&Sight>) {
    if query.filter.has_few_forms() || query.page.offset() >= FAR {
        push_page_in_two_steps(sql, query, sight);
        return;
    }
    sql.push(" FROM resources r");
    push_filter(sql, &query.filter, sight);
    push_order(sql, "r", query.order.terms());
    sql.push(" LIMIT ")
        .push_bind(i64::from(query.rows(sight)))
        .push(" OFFSET ")
        .push_bind(query.page.offset());
}

/// What the page holds first, by as narrow a scan as an index allows, then the rows themselves: a row that is skipped or
/// only sorted is not read. The rows are looked up one by one, whatever number of them the planner expects.
///
/// The planner is told only roughly how far the page is. Of the very numbers it would find that a plan for them is
/// cheaper than one for any, and so plan anew every time, which takes longer than reading the page.
fn push_page_in_two_steps(sql: &mut Sql, query: &PageQuery<'_>, sight: Option<&Sight>) {
    let (rows, offset) = (i64::from(query.rows(sight)), query.page.offset());
    let terms = query.order.terms();
    sql.push(" FROM (SELECT n.* FROM (SELECT r.id");
    for (column, _) in terms.iter().filter(|(column, _)| *column != Column::Id) {
        sql.push(", r.").push(column.as_str());
    }
    sql.push(" FROM resources r");
    push_filter(sql, &query.filter, sight);
    push_order(sql, "r", terms);
    sql.push(" LIMIT ")
        .push(roughly(offset.saturating_add(rows)));
    sql.push(") n");
    push_order(sql, "n", terms);
    sql.push(" LIMIT (SELECT ")
        .push_bind(rows)
        .push(") OFFSET (SELECT ")
        .push_bind(offset);
    sql.push(")) p CROSS JOIN LATERAL (SELECT * FROM resources o WHERE o.id = p.id OFFSET 0) r");
    push_order(sql, "p", terms);
}

/// At least as many; one of a few numbers, so that the statements are few.
fn roughly(rows: i64) -> i64 {
    let mut roughly = 128_i64;
    while roughly < rows {
        roughly = roughly.saturating_mul(4);
    }
    roughly
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
    push_order(&mut sql, "r", &terms);
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

fn push_order(sql: &mut Sql, table: &'static str, terms: &[(Column, Direction)]) {
    for (index, (column, direction)) in terms.iter().enumerate() {
        sql.push(if index == 0 { " ORDER BY " } else { ", " })
            .push(table)
            .push(".")
            .push(column.as_str())
            .push(" ")
            .push(direction.as_str());
    }
}
