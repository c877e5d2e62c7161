//! What is wanted.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `patch` | 2 | one row and its line in the audit log |
//! | `resource`, `written`, `resources` | 1 | by key |

use hyperfleet_core::effect::Effect;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::resource::{Resource, WrittenResource};
use hyperfleet_core::time::Time;
use serde_json::{Map, Value};
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::attempt::Attempt;
use crate::author::{Author, Stored};
use crate::database::Store;
use crate::error::StoreError;
use crate::observe::Operation;
use crate::row::{self, resource_columns};
use crate::sight::seen;
use crate::stored;

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

    /// Whether it is the owner of a resource, if it has to be.
    pub fn owns(self, resource: &Resource) -> bool {
        match self {
            Owner::Any => true,
            Owner::Is(id) => resource
                .owner_references
                .as_ref()
                .is_some_and(|owner| owner.id == id),
        }
    }
}

impl Store {
    pub(crate) async fn missing_target(&self, targets: &[Uuid]) -> Result<bool, StoreError> {
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
        effect: Effect,
        mut decide: impl FnMut(&Stored) -> Result<Option<Patched>, E>,
    ) -> Result<Option<Result<Resource, E>>, StoreError> {
        self.timed(Operation::Update, "resources", async {
            for number in Attempt::numbers() {
                let mut attempt = match effect {
                    Effect::Lasting => Attempt::begin(self, number, id).await?,
                    Effect::Rehearsed => Attempt::locked(self, id).await?,
                };
                let Some((revision, stored)) =
                    stored::read(&mut *attempt, kind, owner, id, self.sight()).await?
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
                if attempt.finish(stored_it && effect.is_lasting()).await? {
                    self.changed();
                    self.settled(Some(&stored.resource.status), &patched.resource);
                }
                if stored_it {
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
                " FROM resources r WHERE r.id = ANY($1)",
                seen!("$2")
            ))
            .bind(&ids)
            .bind(self.sight())
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
        let found = self.found(kind, owner, id).await?;
        found.as_ref().map(row::resource).transpose()
    }

    /// The same for a caller who only passes it on.
    pub async fn written(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
    ) -> Result<Option<WrittenResource>, StoreError> {
        let found = self.found(kind, owner, id).await?;
        found.as_ref().map(row::written).transpose()
    }

    async fn found(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
    ) -> Result<Option<PgRow>, StoreError> {
        let select = sqlx::query(concat!(
            "SELECT ",
            resource_columns!(),
            " FROM resources r
              WHERE r.id = $1 AND ($2::text IS NULL OR r.kind = $2) AND ($3::uuid IS NULL OR r.owner_id = $3)",
            seen!("$4")
        ))
        .bind(id.0)
        .bind(kind)
        .bind(owner.id())
        .bind(self.sight());
        let found = async { Ok(self.fetch_optional(select).await?) };
        self.timed(Operation::Query, "resources", found).await
    }
}

macro_rules! update {
    ($first:literal, $condition:literal) => {
        concat!(
            "WITH ",
            $first,
            "patched AS (
                 UPDATE resources SET spec = $3, labels = $4, refs = $5, generation = $6, status = $7,
                        relabelled = CASE WHEN labels = $4 THEN relabelled ELSE jsonb_path_query_array(
                            jsonb_build_object('xid', pg_current_xact_id()::text, 'labels', labels) || relabelled,
                            '$[0 to 7]') END,
                        updated_time = $8, updated_by = $9, recheck_time = $10, revision = revision + 1,
                        changed_xid = pg_current_xact_id()
                 WHERE id = $1 AND revision = $2",
            $condition,
            " RETURNING id, kind, name, tenancy, generation
             )
             INSERT INTO audit_log (at, actor, request_id, resource_id, kind, name, tenancy, generation, action, detail)
             SELECT $11, $9, $12, id, kind, name, tenancy, generation, 'patch', $13 FROM patched"
        )
    };
}

// Two texts: `= ANY` of a list that is not known yet would make PostgreSQL plan every patch anew.
const UPDATE: &str = update!("", "");
const UPDATE_WITH_TARGETS: &str = update!(
    "targets AS (
         SELECT id FROM resources WHERE id = ANY($14) AND deleted_time IS NULL ORDER BY id FOR SHARE
     ), ",
    " AND (SELECT count(*) FROM targets) = cardinality($14)"
);

/// One statement; false when the resource is not at `revision` any more, or a target is gone.
async fn store_patched(
    connection: &mut PgConnection,
    revision: i64,
    patched: &Patched,
    author: Author<'_>,
) -> Result<bool, StoreError> {
    let resource = &patched.resource;
    let targets: Vec<Uuid> = patched.targets.iter().map(|target| target.0).collect();
    // One text for each shape: PostgreSQL plans `= ANY` of an unknown list anew for every patch.
    let update = sqlx::query(if targets.is_empty() {
        UPDATE
    } else {
        UPDATE_WITH_TARGETS
    })
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
    .bind(author.at)
    .bind(author.request_id)
    .bind(Json(&patched.detail));
    let update = if targets.is_empty() {
        update
    } else {
        update.bind(&targets)
    };
    let stored = update.execute(connection).await?;
    Ok(stored.rows_affected() == 1)
}
