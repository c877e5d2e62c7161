//! The columns that wanted members are read from.

use hyperfleet_core::fields::Fields;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::list::Item;
use hyperfleet_core::resource::ObjectReference;
use hyperfleet_core::time::Time;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::error::StoreError;
use crate::row::{self, resource_columns};
use crate::search::Sql;

/// How a member is kept.
#[derive(Clone, Copy)]
enum Kept {
    /// Left out when it is NULL.
    Text,
    Generation,
    /// Left out when it is NULL.
    Time,
    Json,
    /// Left out when it is empty.
    JsonUnlessEmpty,
}

/// Every member but the id, which is always read, and the owner, which is three columns.
const MEMBERS: [(&str, &str, Kept); 15] = [
    ("kind", "r.kind", Kept::Text),
    ("name", "r.name", Kept::Text),
    ("href", "r.href", Kept::Text),
    ("spec", "r.spec", Kept::Json),
    ("labels", "r.labels", Kept::JsonUnlessEmpty),
    ("tenancy", "r.tenancy", Kept::Json),
    ("generation", "r.generation", Kept::Generation),
    ("status", "r.status", Kept::Json),
    ("references", "r.refs", Kept::JsonUnlessEmpty),
    ("created_time", "r.created_time", Kept::Time),
    ("updated_time", "r.updated_time", Kept::Time),
    ("created_by", "r.created_by", Kept::Text),
    ("updated_by", "r.updated_by", Kept::Text),
    ("deleted_time", "r.deleted_time", Kept::Time),
    ("deleted_by", "r.deleted_by", Kept::Text),
];

const OWNER: &str = "owner_references";

/// Appends the columns of the wanted members, and of `also` whether it is wanted or not.
pub(super) fn push(sql: &mut Sql, fields: Option<&Fields>, also: Option<&str>) {
    let Some(fields) = fields else {
        sql.push(resource_columns!());
        return;
    };
    sql.push("r.id");
    for (member, column, _) in MEMBERS {
        if fields.wants(member) || also == Some(member) {
            sql.push(", ").push(column);
        }
    }
    if fields.wants(OWNER) {
        sql.push(", r.owner_id, r.owner_kind, r.owner_href");
    }
}

pub(super) fn item(found: &PgRow, fields: Option<&Fields>) -> Result<Item, StoreError> {
    match fields {
        None => Ok(Item::Whole(Box::new(row::written(found)?))),
        Some(fields) => Ok(Item::Part(members(found, fields)?)),
    }
}

fn members(found: &PgRow, fields: &Fields) -> Result<Map<String, Value>, StoreError> {
    let id: Uuid = found.try_get("id")?;
    let mut members = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            members.insert(name.to_owned(), value);
        }
    };
    put("id", Some(json(id, &ResourceId(id))?));
    for (member, column, kept) in MEMBERS {
        if !fields.wants(member) {
            continue;
        }
        // As the answer names it: without the table.
        let column = column.trim_start_matches("r.");
        let value = match kept {
            Kept::Text => found.try_get::<Option<String>, _>(column)?.map(Value::from),
            Kept::Generation => {
                let number = row::generation(id, found.try_get(column)?)?;
                Some(json::<Generation>(id, &number)?)
            }
            Kept::Time => match found.try_get::<Option<Time>, _>(column)? {
                Some(time) => Some(json(id, &time)?),
                None => None,
            },
            Kept::Json | Kept::JsonUnlessEmpty => {
                let Json(document): Json<&RawValue> = found.try_get(column)?;
                // As PostgreSQL writes it.
                let is_empty = document.get() == "{}";
                match kept {
                    Kept::JsonUnlessEmpty if is_empty => None,
                    _ => fields
                        .read(member, document.get())
                        .map_err(|error| unreadable(id, &error))?,
                }
            }
        };
        put(member, value);
    }
    if fields.wants(OWNER) {
        put(
            OWNER,
            match row::owner(found)? {
                Some(owner) => {
                    let owner = serde_json::to_string::<ObjectReference>(&owner);
                    let part = owner.and_then(|owner| fields.read(OWNER, &owner));
                    part.map_err(|error| unreadable(id, &error))?
                }
                None => None,
            },
        );
    }
    Ok(members)
}

fn json<T: Serialize>(id: Uuid, value: &T) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| unreadable(id, &error))
}

fn unreadable(id: Uuid, error: &serde_json::Error) -> StoreError {
    StoreError::Unreadable {
        id: id.to_string(),
        what: error.to_string(),
    }
}
