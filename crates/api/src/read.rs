//! GET of one resource.

use axum::Json;
use axum::extract::{Extension, Path, State};
use hyperfleet_core::resource::Resource;

use crate::failure::Failure;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

pub(crate) async fn read(
    State(state): State<ApiState>,
    Extension(scope): Extension<Scope>,
    Path(ids): Path<Ids>,
) -> Result<Json<Resource>, Failure> {
    let owner = scope.owner(&state, &ids).await?;
    let id = scope.item(&ids)?;
    let found = state.store.resource(scope.kind_name(), owner, id).await?;
    found
        .map(Json)
        .ok_or_else(|| Failure::not_found(scope.noun(), &id.to_string()))
}
