//! The audit log: who did what, in the same transaction as what was done.

use std::collections::BTreeMap;

use hyperfleet_core::audit_note::AuditNote;
use hyperfleet_core::history::{Action, AuditEntry};
use hyperfleet_core::resource::Resource;
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::author::Author;
use crate::database::Store;
use crate::error::StoreError;
use crate::history::audit_entry;
use crate::observe::Operation;

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

/// What became of a note.
#[derive(Debug, Clone, PartialEq)]
pub enum Noted {
    New(AuditEntry),
    /// The same was noted before.
    Before(AuditEntry),
}

impl Store {
    /// Writes down what was done outside the API, once for each object. One round trip; the resource, or the record of
    /// its deletion, is found by key, and an earlier note among the resource's own lines.
    pub async fn note(&self, note: &AuditNote, author: Author<'_>) -> Result<Noted, StoreError> {
        let written = async {
            let detail = serde_json::json!({"object": note.object, "done_time": note.done_time});
            let found = sqlx::query(
                "WITH owner AS (
                     SELECT kind, name, tenancy, generation FROM resources WHERE id = $4
                     UNION ALL
                     SELECT kind, resource ->> 'name', tenancy, (resource ->> 'generation')::int
                     FROM deleted_resources WHERE id = $4
                     LIMIT 1
                 ), before AS (
                     SELECT id, at, actor, action, request_id, resource_id, kind, name, tenancy, generation, reason, detail
                     FROM audit_log
                     WHERE resource_id = $4 AND action = $5 AND detail -> 'object' ->> 'uid' = $8
                     ORDER BY id LIMIT 1
                 ), written AS (
                     INSERT INTO audit_log
                         (at, actor, request_id, resource_id, action, reason, detail, kind, name, tenancy, generation)
                     SELECT $1, $2, $3, $4, $5, $6, $7, owner.kind, owner.name, coalesce(owner.tenancy, '{}'),
                            owner.generation
                     FROM (SELECT) AS one LEFT JOIN owner ON true
                     WHERE NOT EXISTS (SELECT 1 FROM before)
                     RETURNING id, at, actor, action, request_id, resource_id, kind, name, tenancy, generation, reason, detail
                 )
                 SELECT true AS new, * FROM written UNION ALL SELECT false, * FROM before",
            )
            .bind(author.at)
            .bind(author.actor)
            .bind(author.request_id)
            .bind(note.resource_id.0)
            .bind(note.action.as_str())
            .bind(&note.reason)
            .bind(Json(detail))
            .bind(&note.object.uid)
            .fetch_one(&self.pool)
            .await?;
            let entry = audit_entry(&found)?;
            Ok(match found.try_get("new")? {
                true => Noted::New(entry),
                false => Noted::Before(entry),
            })
        };
        self.timed(Operation::Create, "audit_log", written).await
    }
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

/// A request that was refused because of who asked.
#[derive(Debug)]
pub struct Denial<'a> {
    pub author: Author<'a>,
    /// The kind it was about, if the route names one.
    pub kind: Option<&'a str>,
    pub tenancy: &'a BTreeMap<String, String>,
    pub reason: &'a str,
    pub detail: &'a Value,
}

impl Store {
    /// Keeps a refusal: one round trip, one row.
    pub async fn record_denial(&self, denial: &Denial<'_>) -> Result<(), StoreError> {
        let recorded = async {
            sqlx::query(
                "INSERT INTO audit_log (at, actor, request_id, kind, tenancy, action, reason, detail)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(denial.author.at)
            .bind(denial.author.actor)
            .bind(denial.author.request_id)
            .bind(denial.kind)
            .bind(Json(denial.tenancy))
            .bind(Action::Deny.as_str())
            .bind(denial.reason)
            .bind(Json(denial.detail))
            .execute(&self.pool)
            .await?;
            Ok(())
        };
        self.timed(Operation::Create, "audit_log", recorded).await
    }
}
