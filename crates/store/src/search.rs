//! A search as SQL.
//!
//! No text of a caller ever becomes text of a statement: names, paths and values are all bound. Labels, conditions and
//! phases are looked up in `facets`, which has an index; the rest is computed for each row that is left.
//!
//! NOT is pushed down to the single tests, which each have an opposite. What remains is ANDs and ORs of tests, where a
//! test that is NULL may as well be false: that is what allows `facets`, which knows no NULL, to stand for a label.

mod value;

#[cfg(test)]
mod tests;

use hyperfleet_core::column::Column;
use hyperfleet_core::condition::ConditionStatus;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::search::{Check, Comparison, Expr, Field, LetterCase, Literal, Search, Test};
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

pub(crate) type Sql = QueryBuilder<Postgres>;

/// Whether a test or its opposite is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Positive,
    Negative,
}

impl Sense {
    fn flipped(self) -> Sense {
        match self {
            Sense::Positive => Sense::Negative,
            Sense::Negative => Sense::Positive,
        }
    }

    fn pick<T>(self, positive: T, negative: T) -> T {
        match self {
            Sense::Positive => positive,
            Sense::Negative => negative,
        }
    }
}

/// Appends the condition that rows of `resources r` fulfil if they are found.
pub(crate) fn push(sql: &mut Sql, search: &Search) {
    expr(sql, search.expr(), Sense::Positive);
}

fn expr(sql: &mut Sql, tree: &Expr, sense: Sense) {
    match tree {
        Expr::And(terms) => join(sql, terms, sense.pick(" AND ", " OR "), sense),
        Expr::Or(terms) => join(sql, terms, sense.pick(" OR ", " AND "), sense),
        Expr::Not(term) => expr(sql, term, sense.flipped()),
        Expr::Test(asked) => test(sql, asked, sense),
    }
}

fn join(sql: &mut Sql, terms: &[Expr], word: &'static str, sense: Sense) {
    sql.push("(");
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            sql.push(word);
        }
        expr(sql, term, sense);
    }
    sql.push(")");
}

fn test(sql: &mut Sql, test: &Test, sense: Sense) {
    if let Check::In(literals) = &test.check
        && literals.is_empty()
    {
        // Of nothing at all not even an absent value is one.
        sql.push(sense.pick("false", "true"));
        return;
    }
    match &test.field {
        Field::Condition(kind) => condition(sql, kind, &test.check, sense),
        Field::Column(column @ (Column::Id | Column::OwnerId)) => {
            if !id(sql, *column, &test.check, sense) {
                compared(sql, test, sense);
            }
        }
        field => match facets(field, &test.check, sense) {
            Some(wanted) => any_facet(sql, wanted),
            None => compared(sql, test, sense),
        },
    }
}

fn any_facet(sql: &mut Sql, wanted: Vec<String>) {
    // `@>` has better statistics than `&&`.
    let operator = match wanted.len() {
        1 => "r.facets @> ",
        _ => "r.facets && ",
    };
    sql.push(operator).push_bind(wanted);
}

/// The facets one of which a row must have, if the test can be put so.
fn facets(field: &Field, check: &Check, sense: Sense) -> Option<Vec<String>> {
    let prefix = match field {
        // `=` ends the key of a facet. No label has one in its key, so nothing is lost.
        Field::Label(key) if !key.contains('=') => format!("label:{key}="),
        Field::Phase => "phase:".to_owned(),
        _ => return None,
    };
    let facet = |literal: &Literal| match literal {
        Literal::Text(text) => Some(format!("{prefix}{text}")),
        _ => None,
    };
    match (check, sense) {
        (Check::Compare(Comparison::Equal, literal), Sense::Positive)
        | (Check::Compare(Comparison::NotEqual, literal), Sense::Negative) => {
            facet(literal).map(|facet| vec![facet])
        }
        (Check::In(literals), Sense::Positive) => literals.iter().map(facet).collect(),
        _ => None,
    }
}

/// A condition is one of three, so every test of it is a choice among their facets.
fn condition(sql: &mut Sql, kind: &str, check: &Check, sense: Sense) {
    let facet = |status: ConditionStatus| format!("condition:{kind}={status}");
    let among = |literals: &[Literal], status| literals.contains(&Literal::Status(status));
    let chosen = |status: &ConditionStatus| match check {
        Check::Compare(comparison, literal) => {
            among(std::slice::from_ref(literal), *status) == (*comparison == Comparison::Equal)
        }
        Check::In(literals) => among(literals, *status),
        Check::Between(..) | Check::Like { .. } | Check::IsNull => false,
    };
    if *check == Check::IsNull {
        sql.push(sense.pick("NOT ", ""));
        any_facet(sql, ConditionStatus::ALL.map(facet).to_vec());
        return;
    }
    let wanted = ConditionStatus::ALL
        .into_iter()
        .filter(|status| chosen(status) == (sense == Sense::Positive))
        .map(facet);
    any_facet(sql, wanted.collect());
}

/// Ids are kept as UUIDs, and what is none is no id of anything. False if the test needs their text.
fn id(sql: &mut Sql, column: Column, check: &Check, sense: Sense) -> bool {
    let (literals, sense) = match check {
        Check::Compare(Comparison::Equal, literal) => (std::slice::from_ref(literal), sense),
        Check::Compare(Comparison::NotEqual, literal) => {
            (std::slice::from_ref(literal), sense.flipped())
        }
        Check::In(literals) => (literals.as_slice(), sense),
        _ => return false,
    };
    let ids: Vec<Uuid> = literals
        .iter()
        .filter_map(|literal| match literal {
            Literal::Text(text) => ResourceId::parse(text).map(|id| id.0),
            _ => None,
        })
        .collect();
    sql.push("r.").push(column.as_str());
    if ids.is_empty() && sense == Sense::Negative {
        // Different from what is no id, if it is there at all.
        sql.push(" IS NOT NULL");
    } else {
        sql.push(sense.pick(" = ANY(", " <> ALL("))
            .push_bind(ids)
            .push(")");
    }
    true
}

fn compared(sql: &mut Sql, test: &Test, sense: Sense) {
    let field = &test.field;
    match &test.check {
        Check::Compare(comparison, literal) => {
            let comparison = sense.pick(*comparison, comparison.negated());
            value::push(sql, field, literal);
            if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
                value::push_byte_order(sql, literal);
            }
            sql.push(match comparison {
                Comparison::NotEqual => " <> ",
                other => other.as_str(),
            });
            value::bind(sql, literal);
        }
        Check::In(literals) => {
            if let Some(first) = literals.first() {
                value::push(sql, field, first);
            }
            sql.push(sense.pick(" = ANY(", " <> ALL("));
            value::bind_all(sql, literals);
            sql.push(")");
        }
        Check::Between(low, high) => {
            value::push(sql, field, low);
            value::push_byte_order(sql, low);
            sql.push(sense.pick(" BETWEEN ", " NOT BETWEEN "));
            value::bind(sql, low);
            sql.push(" AND ");
            value::bind(sql, high);
        }
        Check::Like { pattern, case } => {
            let literal = Literal::Text(pattern.clone());
            value::push(sql, field, &literal);
            value::push_byte_order(sql, &literal);
            sql.push(sense.pick("", " NOT")).push(match case {
                LetterCase::Exact => " LIKE ",
                LetterCase::Ignored => " ILIKE ",
            });
            value::bind(sql, &literal);
        }
        Check::IsNull => {
            value::push_any(sql, field);
            sql.push(sense.pick(" IS NULL", " IS NOT NULL"));
        }
    }
}
