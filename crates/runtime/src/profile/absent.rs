//! In builds that cannot take profiles.

use axum::http::StatusCode;

use super::NoProfile;

pub(super) async fn folded(_: u64) -> Result<String, NoProfile> {
    let message = "this program was built without profiles: build it with `--features profiling`";
    Err(NoProfile {
        status: StatusCode::NOT_IMPLEMENTED,
        message: message.to_owned(),
    })
}
