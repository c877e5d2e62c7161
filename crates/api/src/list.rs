//! GET of many resources.

use axum::Json;
use axum::extract::{Extension, Path, State};
use hyperfleet_core::list::Page;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::ResourceQuery;

use crate::failure::Failure;
use crate::query::ListQuery;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

pub(crate) async fn list(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Path(ids): Path<Ids>,
    query: ListQuery,
) -> Result<Json<Page<Resource>>, Failure> {
    let owner = scope.owner(&state, &ids).await?;
    let page = state
        .store
        .list(&ResourceQuery {
            kind: scope.kind_name(),
            owner,
            page: query.page,
        })
        .await?;
    Ok(Json(page))
}
