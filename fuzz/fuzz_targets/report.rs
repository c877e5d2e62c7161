//! Any bytes as the body of a status report: no panic, and no report is taken twice.
#![no_main]

use chrono::{DateTime, TimeDelta};
use hyperfleet_core::generation::Generation;
use hyperfleet_core::report::{Report, Verdict};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = serde_json::from_slice(bytes) else { return };
    let now = DateTime::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000);
    let _ = Report::decode(&body, now);
    for report in Report::decode_all(&body, now).unwrap_or_default() {
        assert!(report.observed_time <= now + TimeDelta::minutes(5));
        let generation: Generation = report.observed_generation;
        if let Ok(Verdict::Accept(stored)) = report.clone().judge(generation, None) {
            let again = report.judge(generation, Some(&stored));
            assert!(!matches!(again, Ok(Verdict::Accept(_))), "the same report was taken twice");
        }
    }
});
