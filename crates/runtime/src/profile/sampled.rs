//! Samples of processor time.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::StatusCode;
use pprof::{Frames, ProfilerGuardBuilder, Report};

use super::NoProfile;

/// For each second of processor time; no divisor of usual periods, so that nothing periodic hides.
const FREQUENCY: i32 = 99;

/// Stacks seen while the time passes, and how often.
pub(super) async fn folded(seconds: u64) -> Result<String, NoProfile> {
    let guard = ProfilerGuardBuilder::default()
        .frequency(FREQUENCY)
        // Unwinding from inside these can deadlock.
        .blocklist(&["libc", "libgcc", "pthread", "vdso"])
        .build()
        .map_err(|error| refused(&error))?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    // Finding the names of all frames takes a while.
    let folded =
        tokio::task::spawn_blocking(move || guard.report().build().map(|report| fold(&report)));
    let folded = folded.await.map_err(|error| refused(&error))?;
    folded.map_err(|error| refused(&error))
}

/// Usually because another one is being taken.
fn refused(error: &dyn std::error::Error) -> NoProfile {
    NoProfile {
        status: StatusCode::CONFLICT,
        message: format!("a profile cannot be taken now: {error}"),
    }
}

fn fold(report: &Report) -> String {
    let mut stacks: BTreeMap<String, isize> = BTreeMap::new();
    for (frames, count) in &report.data {
        *stacks.entry(stack(frames)).or_default() += count;
    }
    let lines = stacks
        .iter()
        .map(|(stack, count)| format!("{stack} {count}\n"));
    lines.collect()
}

/// Outermost first; a semicolon in a name would look like two frames.
fn stack(frames: &Frames) -> String {
    let names = frames.frames.iter().rev();
    let names = names.flat_map(|inlined| inlined.iter().rev());
    let names = names.map(|symbol| symbol.name().replace(';', ":"));
    let thread = frames.thread_name_or_id().replace(';', ":");
    std::iter::once(thread)
        .chain(names)
        .collect::<Vec<_>>()
        .join(";")
}
