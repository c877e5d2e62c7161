//! GET of one resource.

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::etag::{tagged, tagged_as};
use crate::failure::Failure;
use crate::fields;
use crate::params::Pairs;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

pub(crate) async fn read(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Ids(ids): Ids,
    query: Pairs,
) -> Result<Response, Failure> {
    let fields = fields::wanted(&query)?;
    let owner = scope.owner(&state, &ids).await?;
    let id = scope.item(&ids)?;
    let found = state.store.resource(scope.kind_name(), owner, id).await?;
    match found {
        Some(resource) => Ok(match fields {
            None => tagged(StatusCode::OK, &resource),
            Some(fields) => tagged_as(StatusCode::OK, &resource, fields.project(&resource)),
        }),
        None => Err(scope.missing(&state, owner, id).await),
    }
}
