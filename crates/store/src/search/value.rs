//! Members of a row and literals, as SQL values of one type. A member that is not of the type is NULL, never an error.

use hyperfleet_core::search::{ConditionPart, Decimal, Field, Literal};
use hyperfleet_core::time::Time;

use super::Sql;

/// The member, as the type that the literal has.
pub(super) fn push(sql: &mut Sql, field: &Field, literal: &Literal) {
    match field {
        Field::Spec(path) => match literal {
            Literal::Number(_) => spec_number(sql, path),
            Literal::Bool(_) => spec_bool(sql, path),
            _ => spec_text(sql, path),
        },
        field => push_any(sql, field),
    }
}

/// The member, as a value of whichever type that is NULL if and only if the member is not there.
pub(super) fn push_any(sql: &mut Sql, field: &Field) {
    match field {
        Field::Column(column) => {
            // Only ids are not text already where text is wanted.
            let cast = match column.as_str() {
                "id" | "owner_id" => "::text",
                _ => "",
            };
            sql.push("r.").push(column.as_str()).push(cast);
        }
        Field::Phase => {
            sql.push("(r.status ->> 'phase')");
        }
        Field::Label(key) => {
            sql.push("(r.labels ->> ").push_bind(key.clone()).push(")");
        }
        Field::Tenancy(key) => {
            sql.push("(r.tenancy ->> ").push_bind(key.clone()).push(")");
        }
        Field::Spec(path) => {
            sql.push("(r.spec #>> ").push_bind(path.clone()).push(")");
        }
        Field::Condition(kind) => {
            push_condition(sql, kind);
        }
        Field::ConditionPart(kind, part) => {
            sql.push("(");
            push_condition(sql, kind);
            // Written by this server from typed values, so the casts cannot fail.
            sql.push(match part {
                ConditionPart::LastUpdatedTime => " ->> 'last_updated_time')::timestamptz",
                ConditionPart::LastTransitionTime => " ->> 'last_transition_time')::timestamptz",
                ConditionPart::ObservedGeneration => " ->> 'observed_generation')::integer",
            });
        }
    }
}

fn push_condition(sql: &mut Sql, kind: &str) {
    sql.push("jsonb_path_query_first(r.status, '$.conditions[*] ? (@.type == $type)', jsonb_build_object('type', ")
        .push_bind(kind.to_owned())
        .push("::text))");
}

fn spec_text(sql: &mut Sql, path: &[String]) {
    sql.push("(CASE WHEN jsonb_typeof(r.spec #> ")
        .push_bind(path.to_vec())
        .push(") IN ('string', 'number', 'boolean') THEN r.spec #>> ")
        .push_bind(path.to_vec())
        .push(" END)");
}

fn spec_bool(sql: &mut Sql, path: &[String]) {
    sql.push("(CASE WHEN jsonb_typeof(r.spec #> ")
        .push_bind(path.to_vec())
        .push(") = 'boolean' THEN (r.spec #> ")
        .push_bind(path.to_vec())
        .push(")::boolean END)");
}

/// A number, or a text that is one; within bounds, because a cast out of them would fail.
fn spec_number(sql: &mut Sql, path: &[String]) {
    sql.push("(CASE jsonb_typeof(r.spec #> ")
        .push_bind(path.to_vec())
        .push(") WHEN 'number' THEN (r.spec #>> ")
        .push_bind(path.to_vec())
        .push(")::numeric WHEN 'string' THEN CASE WHEN (r.spec #>> ")
        .push_bind(path.to_vec())
        .push(format_args!(
            ") ~ '^-?[0-9]{{1,{}}}([.][0-9]{{1,{}}})?$' THEN (r.spec #>> ",
            Decimal::TEXT_WHOLE,
            Decimal::TEXT_FRACTION
        ))
        .push_bind(path.to_vec())
        .push(")::numeric END END)");
}

/// Texts are ordered by their bytes, whatever the database's own order is.
pub(super) fn push_byte_order(sql: &mut Sql, literal: &Literal) {
    if matches!(literal, Literal::Text(_)) {
        sql.push(" COLLATE \"C\" ");
    }
}

pub(super) fn bind(sql: &mut Sql, literal: &Literal) {
    match literal {
        Literal::Text(text) => sql.push_bind(text.clone()),
        Literal::Number(number) => sql.push_bind(number.to_string()).push("::numeric"),
        Literal::Bool(value) => sql.push_bind(*value),
        Literal::Integer(number) => sql.push_bind(*number),
        Literal::Time(time) => sql.push_bind(*time),
        Literal::Status(status) => sql.push_bind(status.as_str()),
    };
}

/// All of them, which are of one type, as one array.
pub(super) fn bind_all(sql: &mut Sql, literals: &[Literal]) {
    match literals.first() {
        Some(Literal::Integer(_)) => {
            let numbers: Vec<i32> = literals
                .iter()
                .filter_map(|literal| match literal {
                    Literal::Integer(number) => Some(*number),
                    _ => None,
                })
                .collect();
            sql.push_bind(numbers);
        }
        Some(Literal::Bool(_)) => {
            let values: Vec<bool> = literals
                .iter()
                .filter_map(|literal| match literal {
                    Literal::Bool(value) => Some(*value),
                    _ => None,
                })
                .collect();
            sql.push_bind(values);
        }
        Some(Literal::Time(_)) => {
            let times: Vec<Time> = literals
                .iter()
                .filter_map(|literal| match literal {
                    Literal::Time(time) => Some(*time),
                    _ => None,
                })
                .collect();
            sql.push_bind(times);
        }
        first => {
            let texts: Vec<String> = literals
                .iter()
                .filter_map(|literal| match literal {
                    Literal::Text(text) => Some(text.clone()),
                    Literal::Number(number) => Some(number.to_string()),
                    Literal::Status(status) => Some(status.to_string()),
                    _ => None,
                })
                .collect();
            sql.push_bind(texts);
            if matches!(first, Some(Literal::Number(_))) {
                sql.push("::numeric[]");
            }
        }
    }
}
