//! Rows as domain values.

use std::collections::BTreeMap;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::free::FreeObject;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::{AdapterName, ResourceId};
use hyperfleet_core::resource::{
    Document, ObjectReference, References, Resource, ResourceStatus, WrittenResource,
};
use hyperfleet_core::time::Time;
use serde_json::{Map, Value};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::error::StoreError;

/// The columns of a resource, in every SELECT that reads one.
macro_rules! resource_columns {
    () => {
        "r.id, r.kind, r.name, r.href, r.owner_id, r.owner_kind, r.owner_href, r.spec, r.labels, r.tenancy, \
         r.refs, r.generation, r.status, r.created_time, r.updated_time, r.created_by, r.updated_by, r.deleted_time, \
         r.deleted_by, r.revision"
    };
}
pub(crate) use resource_columns;

pub(crate) fn resource(row: &PgRow) -> Result<Resource, StoreError> {
    let id: Uuid = row.try_get("id")?;
    let owner_references = owner(row)?;
    let Json(spec): Json<Map<String, Value>> = row.try_get("spec")?;
    let Json(labels): Json<BTreeMap<String, String>> = row.try_get("labels")?;
    let Json(tenancy): Json<BTreeMap<String, String>> = row.try_get("tenancy")?;
    let Json(references): Json<References> = row.try_get("refs")?;
    let Json(status): Json<ResourceStatus> = row.try_get("status")?;
    Ok(Resource {
        id: ResourceId(id),
        kind: row.try_get("kind")?,
        name: row.try_get("name")?,
        href: row.try_get("href")?,
        spec,
        labels,
        tenancy,
        generation: generation(id, row.try_get("generation")?)?,
        status,
        owner_references,
        references,
        created_time: row.try_get::<Time, _>("created_time")?,
        updated_time: row.try_get::<Time, _>("updated_time")?,
        created_by: row.try_get("created_by")?,
        updated_by: row.try_get("updated_by")?,
        deleted_time: row.try_get("deleted_time")?,
        deleted_by: row.try_get("deleted_by")?,
    })
}

/// The same without a look into its documents.
pub(crate) fn written(row: &PgRow) -> Result<WrittenResource, StoreError> {
    let id: Uuid = row.try_get("id")?;
    let document = |column: &str| -> Result<Document, sqlx::Error> {
        let Json(document): Json<Document> = row.try_get(column)?;
        Ok(document)
    };
    Ok(WrittenResource {
        id: ResourceId(id),
        kind: row.try_get("kind")?,
        name: row.try_get("name")?,
        href: row.try_get("href")?,
        spec: document("spec")?,
        labels: document("labels")?,
        tenancy: document("tenancy")?,
        generation: generation(id, row.try_get("generation")?)?,
        status: document("status")?,
        owner_references: owner(row)?,
        references: document("refs")?,
        created_time: row.try_get::<Time, _>("created_time")?,
        updated_time: row.try_get::<Time, _>("updated_time")?,
        created_by: row.try_get("created_by")?,
        updated_by: row.try_get("updated_by")?,
        deleted_time: row.try_get("deleted_time")?,
        deleted_by: row.try_get("deleted_by")?,
    })
}

pub(crate) fn owner(row: &PgRow) -> Result<Option<ObjectReference>, StoreError> {
    let owner: Option<Uuid> = row.try_get("owner_id")?;
    Ok(match owner {
        None => None,
        Some(owner) => Some(ObjectReference {
            id: ResourceId(owner),
            kind: row.try_get("owner_kind")?,
            href: row.try_get("owner_href")?,
        }),
    })
}

pub(crate) fn adapter_status(
    resource: ResourceId,
    row: &PgRow,
) -> Result<AdapterStatus, StoreError> {
    let adapter = adapter(resource, row.try_get("adapter")?)?;
    let Json(conditions) = row.try_get("conditions")?;
    let Json(data) = row.try_get("data")?;
    let metadata: Option<Json<FreeObject>> = row.try_get("metadata")?;
    Ok(AdapterStatus {
        adapter,
        observed_generation: generation(resource.0, row.try_get("observed_generation")?)?,
        conditions,
        data,
        metadata: metadata.map(|Json(metadata)| metadata),
        created_time: row.try_get("report_created_time")?,
        last_report_time: row.try_get("last_report_time")?,
    })
}

pub(crate) fn adapter(resource: ResourceId, name: String) -> Result<AdapterName, StoreError> {
    AdapterName::try_from(name).map_err(|error| StoreError::Unreadable {
        id: resource.to_string(),
        what: error.to_string(),
    })
}

/// How the table's facets spell a reference.
pub(crate) fn reference_facet(ref_type: &str, target: ResourceId) -> String {
    format!("reference:{ref_type}={target}")
}

pub(crate) fn generation(id: Uuid, number: i32) -> Result<Generation, StoreError> {
    Generation::try_from(i64::from(number)).map_err(|error| StoreError::Unreadable {
        id: id.to_string(),
        what: error.to_string(),
    })
}
