//! Where a running process spends its time and its memory, beside its metrics, if `metrics.profiling` says so.
//!
//! | path | answer |
//! |---|---|
//! | `/debug/pprof/profile?seconds=10` | a CPU profile as folded stacks: `thread;outer;…;inner COUNT`, 99 samples for each second of processor time |
//! | `/debug/pprof/heap` | what is held, by who allocated it, for `go tool pprof` |
//! | `/debug/pprof/memory` | what the kernel says the process holds |
//!
//! A profile of processor time is in builds with the feature `profiling`; it interrupts threads with signals, so it costs
//! while it is taken and nothing otherwise. One of the heap is in builds with the feature `heap-profiling`, which have
//! another allocator (`heap`).

#[cfg_attr(feature = "profiling", path = "profile/sampled.rs")]
#[cfg_attr(not(feature = "profiling"), path = "profile/absent.rs")]
mod sampler;

#[cfg_attr(feature = "heap-profiling", path = "profile/heap.rs")]
#[cfg_attr(not(feature = "heap-profiling"), path = "profile/no_heap.rs")]
mod heap;

use axum::Router;
use axum::extract::{Query, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

/// Seconds, if nothing is said, and at most.
const USUAL: u64 = 10;
const LONGEST: u64 = 300;

/// Why there is no profile.
struct NoProfile {
    status: StatusCode,
    message: String,
}

#[derive(Deserialize)]
struct Asked {
    seconds: Option<u64>,
}

impl IntoResponse for NoProfile {
    fn into_response(self) -> Response {
        (self.status, format!("{}\n", self.message)).into_response()
    }
}

/// Where they are answered.
pub(crate) const PATHS: [&str; 3] = [
    "/debug/pprof/profile",
    "/debug/pprof/heap",
    "/debug/pprof/memory",
];

pub(crate) fn routes() -> Router {
    heap::begin();
    let [of_time, of_heap, of_memory] = PATHS;
    Router::new()
        .route(of_time, get(profile))
        .route(of_heap, get(heap_profile))
        .route(of_memory, get(memory))
}

async fn profile(
    asked: Result<Query<Asked>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let seconds = match asked {
        Ok(Query(asked)) => asked.seconds.unwrap_or(USUAL),
        Err(_) => 0,
    };
    if !(1..=LONGEST).contains(&seconds) {
        let message = format!("seconds must be a whole number from 1 to {LONGEST}\n");
        return (StatusCode::BAD_REQUEST, message).into_response();
    }
    match sampler::folded(seconds).await {
        Ok(folded) => text(folded),
        Err(none) => none.into_response(),
    }
}

async fn heap_profile(_: Request) -> Response {
    match heap::profile().await {
        Ok(profile) => (
            [(header::CONTENT_TYPE, "application/octet-stream")],
            profile,
        )
            .into_response(),
        Err(none) => none.into_response(),
    }
}

async fn memory(_: Request) -> Response {
    let status = std::fs::read_to_string("/proc/self/status");
    match status {
        Ok(status) => text(held(&status)),
        Err(error) => {
            let message = format!("the kernel does not tell: {error}\n");
            (StatusCode::NOT_IMPLEMENTED, message).into_response()
        }
    }
}

/// The lines about memory and threads.
fn held(status: &str) -> String {
    let about = [
        "VmPeak", "VmSize", "VmHWM", "VmRSS", "Rss", "VmData", "VmSwap", "Threads",
    ];
    let lines = status
        .lines()
        .filter(|line| about.iter().any(|word| line.starts_with(word)));
    lines.map(|line| format!("{line}\n")).collect()
}

fn text(body: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_as_the_kernel_tells_it() {
        let status = "Name:\tx\nVmRSS:\t  12 kB\nRssAnon:\t 5 kB\nThreads:\t3\nSigQ:\t0/1\n";
        assert_eq!(
            held(status),
            "VmRSS:\t  12 kB\nRssAnon:\t 5 kB\nThreads:\t3\n"
        );
    }
}
