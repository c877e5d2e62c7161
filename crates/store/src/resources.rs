//! What is wanted.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `create` | 1 | one row, its count and its line in the audit log; owner and targets by key |
//! | `patch` | 2 | one row and its line in the audit log |
//! | `resource`, `resources` | 1 | by key |

use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::attempt::Attempt;
use crate::audit;
use crate::author::{Author, Stored};
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::row::{self, resource_columns};
use crate::stored;

/// A resource to be stored. The caller has checked it; the store checks only what needs the table.
#[derive(Debug)]
pub struct Create<'a> {
    pub resource: &'a Resource,
    pub recheck: Option<Time>,
    /// A key under which the answer is remembered, and the fingerprint of the request.
    pub idempotency: Option<(&'a str, &'a [u8])>,
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

/// What a patch's judge wants stored.
#[derive(Debug)]
pub struct Patched {
    pub resource: Resource,
    pub recheck: Option<Time>,
    /// What history keeps of it.
    pub detail: Map<String, Value>,
    /// Targets that were not referred to before: they must still be there.
    pub targets: Vec<ResourceId>,
}

/// Restricts a look-up to the children of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Any,
    Is(ResourceId),
}

impl Owner {
    pub(crate) fn id(self) -> Option<Uuid> {
        match self {
            Owner::Any => None,
            Owner::Is(id) => Some(id.0),
        }
    }
}

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
        let stored = sqlx::query(
            "WITH owner AS (
                 SELECT id FROM resources WHERE id = $5 AND deleted_time IS NULL FOR SHARE
             ), targets AS (
                 SELECT id FROM resources WHERE id = ANY($18) AND deleted_time IS NULL ORDER BY id FOR SHARE
             ), made AS (
                 INSERT INTO resources (id, kind, name, href, owner_id, owner_kind, owner_href, spec, labels, tenancy,
                                        generation, status, created_time, updated_time, created_by, updated_by, refs,
                                        recheck_time)
                 SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $19
                 WHERE ($5::uuid IS NULL OR EXISTS (SELECT 1 FROM owner))
                   AND (SELECT count(*) FROM targets) = cardinality($18)
                 RETURNING id
             ), remembered AS (
                 INSERT INTO idempotency_keys (actor, key, fingerprint, answer, at)
                 SELECT $15, $20, $21, $22, $13 FROM made WHERE $20 IS NOT NULL
             )
             INSERT INTO audit_log (at, actor, request_id, resource_id, kind, name, tenancy, generation, action, detail)
             SELECT $13, $15, $23, $1, $2, $3, $10, $11, 'create', $24 FROM made",
        )
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
        .bind(&targets)
        .bind(new.recheck)
        .bind(new.idempotency.map(|(key, _)| key))
        .bind(new.idempotency.map(|(_, fingerprint)| fingerprint))
        .bind(new.idempotency.map(|_| Json(resource)))
        .bind(author.request_id)
        .bind(Json(audit::created(resource)))
        .execute(&self.pool)
        .await;
        match stored {
            Ok(done) if done.rows_affected() == 1 => {
                self.changed();
                self.settled(None, resource);
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
                    && let Some(before) = self.remembered(author.actor, key, fingerprint).await?
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

    async fn missing_target(&self, targets: &[Uuid]) -> Result<bool, StoreError> {
        if targets.is_empty() {
            return Ok(false);
        }
        let there: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM resources WHERE id = ANY($1) AND deleted_time IS NULL",
        )
        .bind(targets)
        .fetch_one(&self.pool)
        .await?;
        Ok(usize::try_from(there).ok() != Some(targets.len()))
    }

    /// Lets `decide` work a change out on what is stored now, and stores it if that is still so.
    ///
    /// `decide` answers `Ok(None)` when nothing changes. `None` when there is no such resource. Runs again after a
    /// lost race, so `decide` must be pure.
    pub async fn patch<E>(
        &self,
        (kind, owner, id): (Option<&str>, Owner, ResourceId),
        author: Author<'_>,
        mut decide: impl FnMut(&Stored) -> Result<Option<Patched>, E>,
    ) -> Result<Option<Result<Resource, E>>, StoreError> {
        self.timed(Operation::Update, "resources", async {
            for number in Attempt::numbers() {
                let mut attempt = Attempt::begin(self, number, id).await?;
                let Some((revision, stored)) = stored::read(&mut *attempt, kind, owner, id).await?
                else {
                    return Ok(None);
                };
                let patched = match decide(&stored) {
                    Ok(Some(patched)) => patched,
                    Ok(None) => return Ok(Some(Ok(stored.resource))),
                    Err(refused) => return Ok(Some(Err(refused))),
                };
                let stored_it = store_patched(&mut attempt, revision, &patched, author).await?;
                // Nobody asks for a second connection while holding one.
                if attempt.finish(stored_it).await? {
                    self.changed();
                    self.settled(Some(&stored.resource.status), &patched.resource);
                    return Ok(Some(Ok(patched.resource)));
                }
                let targets: Vec<Uuid> = patched.targets.iter().map(|target| target.0).collect();
                if self.missing_target(&targets).await? {
                    return Err(StoreError::TargetGone {
                        kind: patched.resource.kind,
                    });
                }
            }
            Err(Attempt::contended(id))
        })
        .await
    }

    /// Those of these resources that exist, by key.
    pub async fn resources(&self, ids: &[ResourceId]) -> Result<Vec<Resource>, StoreError> {
        self.timed(Operation::Query, "resources", async {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query(concat!(
                "SELECT ",
                resource_columns!(),
                " FROM resources r WHERE r.id = ANY($1)"
            ))
            .bind(&ids)
            .fetch_all(&self.pool)
            .await?
            .iter()
            .map(row::resource)
            .collect()
        })
        .await
    }

    /// The resource with this id, if it is of this kind and has this owner.
    pub async fn resource(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
    ) -> Result<Option<Resource>, StoreError> {
        self.timed(Operation::Query, "resources", async {
        let found = sqlx::query(concat!(
            "SELECT ",
            resource_columns!(),
            " FROM resources r
              WHERE r.id = $1 AND ($2::text IS NULL OR r.kind = $2) AND ($3::uuid IS NULL OR r.owner_id = $3)"
        ))
        .bind(id.0)
        .bind(kind)
        .bind(owner.id())
        .fetch_optional(&self.pool)
        .await?;
        found.as_ref().map(row::resource).transpose()
        })
        .await
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

/// One statement; false when the resource is not at `revision` any more, or a target is gone.
async fn store_patched(
    connection: &mut PgConnection,
    revision: i64,
    patched: &Patched,
    author: Author<'_>,
) -> Result<bool, StoreError> {
    let resource = &patched.resource;
    let targets: Vec<Uuid> = patched.targets.iter().map(|target| target.0).collect();
    let stored = sqlx::query(
        "WITH targets AS (
             SELECT id FROM resources WHERE id = ANY($11) AND deleted_time IS NULL ORDER BY id FOR SHARE
         ), patched AS (
             UPDATE resources SET spec = $3, labels = $4, refs = $5, generation = $6, status = $7,
                    updated_time = $8, updated_by = $9, recheck_time = $10, revision = revision + 1,
                    changed_xid = pg_current_xact_id()
             WHERE id = $1 AND revision = $2 AND (SELECT count(*) FROM targets) = cardinality($11)
             RETURNING id, kind, name, tenancy, generation
         )
         INSERT INTO audit_log (at, actor, request_id, resource_id, kind, name, tenancy, generation, action, detail)
         SELECT $12, $9, $13, id, kind, name, tenancy, generation, 'patch', $14 FROM patched",
    )
    .bind(resource.id.0)
    .bind(revision)
    .bind(Json(&resource.spec))
    .bind(Json(&resource.labels))
    .bind(Json(&resource.references))
    .bind(resource.generation.get())
    .bind(Json(&resource.status))
    .bind(resource.updated_time)
    .bind(&resource.updated_by)
    .bind(patched.recheck)
    .bind(&targets)
    .bind(author.at)
    .bind(author.request_id)
    .bind(Json(&patched.detail))
    .execute(connection)
    .await?;
    Ok(stored.rows_affected() == 1)
}
