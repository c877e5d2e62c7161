//! What is wanted.
//!
//! | call | round trips | cost |
//! |---|---|---|
//! | `create` | 1 | one row; a child also looks its owner up by key |
//! | `resource` | 1 | by key |
//! | `list` | 2 | a page by index; the count grows with the kind |

use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::list::{Page, PageRequest};
use hyperfleet_core::resource::Resource;
use sqlx::Row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::Store;
use crate::error::StoreError;
use crate::row::{self, resource_columns};

/// A resource that is not stored yet. The caller has checked it; the store checks only what needs the table.
#[derive(Debug, Clone)]
pub struct NewResource {
    pub resource: Resource,
}

/// Restricts a look-up to the children of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Any,
    Is(ResourceId),
}

impl Owner {
    fn id(self) -> Option<Uuid> {
        match self {
            Owner::Any => None,
            Owner::Is(id) => Some(id.0),
        }
    }
}

/// Which resources a list is about. `kind: None` is all kinds.
#[derive(Debug, Clone, Copy)]
pub struct ResourceQuery<'a> {
    pub kind: Option<&'a str>,
    pub owner: Owner,
    pub page: PageRequest,
}

impl Store {
    /// Stores a new resource. A child is stored only while its owner exists and is not being deleted.
    pub async fn create(&self, new: &NewResource) -> Result<(), StoreError> {
        let resource = &new.resource;
        let owner = resource.owner_references.as_ref();
        let stored = sqlx::query(
            "WITH owner AS (
                 SELECT id FROM resources WHERE id = $5 AND deleted_time IS NULL FOR SHARE
             )
             INSERT INTO resources (id, kind, name, href, owner_id, owner_kind, owner_href, spec, labels, tenancy,
                                    generation, status, created_time, updated_time, created_by, updated_by, refs)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17
             WHERE $5::uuid IS NULL OR EXISTS (SELECT 1 FROM owner)",
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
        .execute(&self.pool)
        .await;
        match stored {
            Ok(done) if done.rows_affected() == 1 => Ok(()),
            Ok(_) => Err(StoreError::OwnerGone {
                kind: resource.kind.clone(),
            }),
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                Err(StoreError::NameTaken {
                    kind: resource.kind.clone(),
                    name: resource.name.clone(),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The resource with this id, if it is of this kind and has this owner.
    pub async fn resource(
        &self,
        kind: Option<&str>,
        owner: Owner,
        id: ResourceId,
    ) -> Result<Option<Resource>, StoreError> {
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
    }

    /// One page, newest first.
    pub async fn list(&self, query: &ResourceQuery<'_>) -> Result<Page<Resource>, StoreError> {
        let rows = sqlx::query(concat!(
            "SELECT ",
            resource_columns!(),
            " FROM resources r
              WHERE ($1::text IS NULL OR r.kind = $1) AND ($2::uuid IS NULL OR r.owner_id = $2)
              ORDER BY r.created_time DESC, r.id DESC LIMIT $3 OFFSET $4"
        ))
        .bind(query.kind)
        .bind(query.owner.id())
        .bind(i64::from(query.page.size))
        .bind(query.page.offset())
        .fetch_all(&self.pool)
        .await?;
        let total: i64 = sqlx::query(
            "SELECT count(*) AS total FROM resources r
             WHERE ($1::text IS NULL OR r.kind = $1) AND ($2::uuid IS NULL OR r.owner_id = $2)",
        )
        .bind(query.kind)
        .bind(query.owner.id())
        .fetch_one(&self.pool)
        .await?
        .try_get("total")?;
        let items = rows
            .iter()
            .map(row::resource)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Page {
            page: query.page.page,
            size: u32::try_from(items.len()).unwrap_or(u32::MAX),
            total: u64::try_from(total).unwrap_or(0),
            items,
        })
    }
}
