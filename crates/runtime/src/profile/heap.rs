//! Samples of the heap: one for about every 512 KiB that is allocated.

use axum::http::StatusCode;
use jemalloc_pprof::PROF_CTL;

use super::NoProfile;

/// What is allocated from now on is in the profiles.
pub(super) fn begin() {
    let control = PROF_CTL.as_ref().map(|control| control.try_lock());
    if let Some(Ok(mut control)) = control
        && let Err(error) = control.activate()
    {
        tracing::warn!(%error, "the heap cannot be sampled; there will be no profile of it");
    }
}

/// What is held now, by who allocated it, in the format of pprof.
pub(super) async fn profile() -> Result<Vec<u8>, NoProfile> {
    let Some(control) = PROF_CTL.clone() else {
        let message = "the allocator was built without profiles: start the program with _RJEM_MALLOC_CONF=prof:true";
        return Err(NoProfile {
            status: StatusCode::NOT_IMPLEMENTED,
            message: message.to_owned(),
        });
    };
    // Writing it down and finding the names of all frames takes a while.
    let dumping = tokio::task::spawn_blocking(move || control.blocking_lock().dump_pprof());
    let failed = |error: String| NoProfile {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        message: format!("the heap cannot be profiled: {error}"),
    };
    let dumped = dumping.await.map_err(|error| failed(error.to_string()))?;
    dumped.map_err(|error| failed(format!("{error:#}")))
}
