//! GET of one resource.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::authz::Verb;
use crate::caller::Caller;
use crate::etag::tagged_as;
use crate::failure::Failure;
use crate::fields;
use crate::params::Pairs;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

pub(crate) async fn read(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    query: Pairs,
) -> Result<Response, Failure> {
    let fields = fields::wanted(&query)?;
    let owner = scope
        .owner(&caller.within_tenant(&state.store), &ids)
        .await?;
    let store = caller.reading(&state.store, Verb::Get, &scope);
    let id = scope.item(&ids)?;
    let kind = scope.kind_name();
    let answer = match fields {
        None => {
            let found = store.written(kind, owner, id).await?;
            found.map(|resource| tagged_as(StatusCode::OK, resource.generation, resource))
        }
        Some(fields) => {
            let found = store.resource(kind, owner, id).await?;
            found.map(|resource| {
                let part = fields.project(&resource);
                tagged_as(StatusCode::OK, resource.generation, part)
            })
        }
    };
    match answer {
        Some(answer) => Ok(answer),
        None => Err(scope.missing(&store, owner, id).await),
    }
}
