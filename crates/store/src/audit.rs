//! The audit log: who did what, in the same transaction as what was done.

use hyperfleet_core::history::Action;
use hyperfleet_core::resource::Resource;
use serde_json::{Map, Value};
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use crate::author::Author;
use crate::error::StoreError;

/// One thing done to one resource.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    resource: &'a Resource,
    action: Action,
    reason: Option<&'a str>,
}

impl<'a> Line<'a> {
    pub(crate) fn new(resource: &'a Resource, action: Action, reason: Option<&'a str>) -> Line<'a> {
        Line {
            resource,
            action,
            reason,
        }
    }
}

/// Writes many lines in one statement.
pub(crate) async fn write(
    tx: &mut PgConnection,
    author: Author<'_>,
    lines: &[Line<'_>],
) -> Result<(), StoreError> {
    if lines.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = lines.iter().map(|line| line.resource.id.0).collect();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line.resource.kind.as_str())
        .collect();
    let names: Vec<&str> = lines
        .iter()
        .map(|line| line.resource.name.as_str())
        .collect();
    let tenancies: Vec<_> = lines
        .iter()
        .map(|line| Json(&line.resource.tenancy))
        .collect();
    let generations: Vec<i32> = lines
        .iter()
        .map(|line| line.resource.generation.get())
        .collect();
    let actions: Vec<&str> = lines.iter().map(|line| line.action.as_str()).collect();
    let reasons: Vec<Option<&str>> = lines.iter().map(|line| line.reason).collect();
    sqlx::query(
        "INSERT INTO audit_log (at, actor, request_id, resource_id, kind, name, tenancy, generation, action, reason)
         SELECT $1, $2, $3, n.* FROM unnest($4::uuid[], $5::text[], $6::text[], $7::jsonb[], $8::int[], $9::text[],
                                            $10::text[]) AS n",
    )
    .bind(author.at)
    .bind(author.actor)
    .bind(author.request_id)
    .bind(ids)
    .bind(kinds)
    .bind(names)
    .bind(tenancies)
    .bind(generations)
    .bind(actions)
    .bind(reasons)
    .execute(tx)
    .await?;
    Ok(())
}

/// What a create or a patch set, as history keeps it.
pub(crate) fn created(resource: &Resource) -> Map<String, Value> {
    let mut detail = Map::new();
    detail.insert("spec".to_owned(), Value::Object(resource.spec.clone()));
    if !resource.labels.is_empty() {
        detail.insert("labels".to_owned(), serde_json::json!(resource.labels));
    }
    if !resource.references.is_empty() {
        detail.insert(
            "references".to_owned(),
            serde_json::json!(resource.references),
        );
    }
    detail
}
