//! Storing something new.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `create` | 1 | one row, its count and its line in the audit log; owner and targets by key |

use hyperfleet_core::effect::Effect;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use sqlx::postgres::{PgArguments, PgQueryResult};
use sqlx::query::Query;
use sqlx::types::Json;
use sqlx::{Postgres, Row};
use uuid::Uuid;

use crate::audit;
use crate::author::Author;
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;

/// A resource to be stored. The caller has checked it; the store checks only what needs the table.
#[derive(Debug)]
pub struct Create<'a> {
    pub resource: &'a Resource,
    pub recheck: Option<Time>,
    /// A key under which the answer is remembered, and the fingerprint of the request.
    pub idempotency: Option<(&'a str, &'a [u8])>,
    pub effect: Effect,
}

/// What became of a create.
#[derive(Debug, Clone, PartialEq)]
pub enum Created {
    New,
    /// The same request was answered before: with this.
    Before(Box<Resource>),
    /// The key was used for another request.
    KeyTaken,
}

macro_rules! insert {
    ($first:literal, $source:literal, $then:literal) => {
        concat!(
            "WITH ",
            $first,
            "made AS (
                 INSERT INTO resources (id, kind, name, href, owner_id, owner_kind, owner_href, spec, labels, tenancy,
                                        generation, status, created_time, updated_time, created_by, updated_by, refs,
                                        recheck_time)
                 SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18 ",
            $source,
            " RETURNING id
             )",
            $then,
            " INSERT INTO audit_log (at, actor, request_id, resource_id, kind, name, tenancy, generation, action, detail)
             SELECT $13, $15, $19, $1, $2, $3, $10, $11, 'create', $20 FROM made"
        )
    };
}

// A text for each common shape: `= ANY` of a list that is not known yet would make PostgreSQL plan every create anew.
const INSERT_ROOT: &str = insert!("", "", "");
const INSERT_CHILD: &str = insert!(
    "owner AS (
         SELECT id FROM resources WHERE id = $5 AND deleted_time IS NULL FOR SHARE
     ), ",
    "FROM owner",
    ""
);
const INSERT: &str = insert!(
    "owner AS (
         SELECT id FROM resources WHERE id = $5 AND deleted_time IS NULL FOR SHARE
     ), targets AS (
         SELECT id FROM resources WHERE id = ANY($21) AND deleted_time IS NULL ORDER BY id FOR SHARE
     ), ",
    "WHERE ($5::uuid IS NULL OR EXISTS (SELECT 1 FROM owner))
       AND (SELECT count(*) FROM targets) = cardinality($21)",
    ", remembered AS (
         INSERT INTO idempotency_keys (actor, key, fingerprint, answer, at)
         SELECT $15, $22, $23, $24, $13 FROM made WHERE $22 IS NOT NULL
     )"
);

impl Store {
    /// Stores a new resource. A child is stored only while its owner exists and is not being deleted, and a
    /// reference only while its target does and is not.
    pub async fn create(
        &self,
        new: &Create<'_>,
        author: Author<'_>,
    ) -> Result<Created, StoreError> {
        self.timed(Operation::Create, "resources", async {
            let resource = new.resource;
            let owner = resource.owner_references.as_ref();
            let targets: Vec<Uuid> = target_ids(resource);
            let full = !targets.is_empty() || new.idempotency.is_some();
            let insert = sqlx::query(match owner {
                _ if full => INSERT,
                Some(_) => INSERT_CHILD,
                None => INSERT_ROOT,
            })
            .bind(resource.id.0)
            .bind(&resource.kind)
            .bind(&resource.name)
            .bind(&resource.href)
            .bind(owner.map(|owner| owner.id.0))
            .bind(owner.map(|owner| owner.kind.as_str()))
            .bind(owner.map(|owner| owner.href.as_str()))
            .bind(Json(&resource.spec))
            .bind(Json(&resource.labels))
            .bind(Json(&resource.tenancy))
            .bind(resource.generation.get())
            .bind(Json(&resource.status))
            .bind(resource.created_time)
            .bind(resource.updated_time)
            .bind(&resource.created_by)
            .bind(&resource.updated_by)
            .bind(Json(&resource.references))
            .bind(new.recheck)
            .bind(author.request_id)
            .bind(Json(audit::created(resource)));
            let insert = if full {
                insert
                    .bind(&targets)
                    .bind(new.idempotency.map(|(key, _)| key))
                    .bind(new.idempotency.map(|(_, fingerprint)| fingerprint))
                    .bind(new.idempotency.map(|_| Json(resource)))
            } else {
                insert
            };
            let done = match new.effect {
                Effect::Lasting => self.execute(insert).await,
                Effect::Rehearsed => self.rehearse(insert).await,
            };
            match done {
                Ok(done) if done.rows_affected() == 1 => {
                    if new.effect.is_lasting() {
                        self.changed();
                        self.settled(None, resource);
                    }
                    Ok(Created::New)
                }
                Ok(_) if self.missing_target(&targets).await? => Err(StoreError::TargetGone {
                    kind: resource.kind.clone(),
                }),
                Ok(_) => Err(StoreError::OwnerGone {
                    kind: resource.kind.clone(),
                }),
                // A repeated create meets its own name before its own key, so the key is asked for in both cases.
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                    if let Some((key, fingerprint)) = new.idempotency
                        && let Some(before) =
                            self.remembered(author.actor, key, fingerprint).await?
                    {
                        return Ok(before);
                    }
                    Err(StoreError::NameTaken {
                        kind: resource.kind.clone(),
                        name: resource.name.clone(),
                    })
                }
                Err(error) => Err(error.into()),
            }
        })
        .await
    }

    /// Executes a statement and takes it back.
    async fn rehearse(
        &self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Result<PgQueryResult, sqlx::Error> {
        let mut transaction = self.begin().await?;
        let done = query.execute(&mut *transaction).await;
        // Before anything else is asked: nobody asks for a second connection while holding one.
        transaction.rollback().await?;
        done
    }

    /// What a create with this key was answered with.
    async fn remembered(
        &self,
        actor: &str,
        key: &str,
        fingerprint: &[u8],
    ) -> Result<Option<Created>, StoreError> {
        let found = sqlx::query(
            "SELECT fingerprint, answer FROM idempotency_keys WHERE actor = $1 AND key = $2",
        )
        .bind(actor)
        .bind(key)
        .fetch_optional(&self.pool)
        .await?;
        let Some(found) = found else { return Ok(None) };
        if found.try_get::<&[u8], _>("fingerprint")? != fingerprint {
            return Ok(Some(Created::KeyTaken));
        }
        let Json(resource): Json<Resource> = found.try_get("answer")?;
        Ok(Some(Created::Before(Box::new(resource))))
    }
}

/// Everything a resource points at, once each.
fn target_ids(resource: &Resource) -> Vec<Uuid> {
    let mut ids: Vec<Uuid> = resource
        .references
        .values()
        .flatten()
        .map(|reference| reference.target.id.0)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
