//! In builds whose allocator cannot be asked.

use axum::http::StatusCode;

use super::NoProfile;

pub(super) fn begin() {}

pub(super) async fn profile() -> Result<Vec<u8>, NoProfile> {
    let message = "this program was built without profiles of the heap: build it with `--features heap-profiling`";
    Err(NoProfile {
        status: StatusCode::NOT_IMPLEMENTED,
        message: message.to_owned(),
    })
}
