//! What a scenario came to.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::usage::Spent;

/// Longer answers count as this long.
const LONGEST: Duration = Duration::from_secs(60);

/// Answers, as one worker or all of them counted them.
#[derive(Debug)]
pub(crate) struct Tally {
    micros: Histogram<u64>,
    /// By status, or `no answer`.
    outcomes: BTreeMap<String, u64>,
    failed: u64,
}

impl Tally {
    pub(crate) fn new() -> Result<Tally> {
        let longest = u64::try_from(LONGEST.as_micros())?;
        Ok(Tally {
            micros: Histogram::new_with_bounds(1, longest, 3)?,
            outcomes: BTreeMap::new(),
            failed: 0,
        })
    }

    pub(crate) fn answered(&mut self, status: u16, good: bool, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.saturating_record(micros.max(1));
        *self.outcomes.entry(status.to_string()).or_default() += 1;
        self.failed += u64::from(!good);
    }

    pub(crate) fn unanswered(&mut self) {
        *self.outcomes.entry("no answer".to_owned()).or_default() += 1;
        self.failed += 1;
    }

    pub(crate) fn add(&mut self, other: &Tally) -> Result<()> {
        self.micros.add(&other.micros)?;
        for (outcome, count) in &other.outcomes {
            *self.outcomes.entry(outcome.clone()).or_default() += count;
        }
        self.failed += other.failed;
        Ok(())
    }

    /// How many requests ended, well or not.
    pub(crate) fn count(&self) -> u64 {
        self.outcomes.values().sum()
    }

    pub(crate) fn figures(
        &self,
        name: &'static str,
        method: String,
        elapsed: Duration,
        spent: Spent,
    ) -> Figures {
        let millis = |quantile: f64| self.micros.value_at_quantile(quantile) as f64 / 1000.0;
        let good = self.count() - self.failed;
        Figures {
            name,
            method,
            seconds: elapsed.as_secs_f64(),
            requests: self.count(),
            per_second: good as f64 / elapsed.as_secs_f64(),
            p50_ms: millis(0.5),
            p99_ms: millis(0.99),
            p999_ms: millis(0.999),
            max_ms: self.micros.max() as f64 / 1000.0,
            failed: self.failed,
            outcomes: self.outcomes.clone(),
            spent,
        }
    }
}

/// A scenario's line of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) name: &'static str,
    pub(crate) method: String,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    /// Requests that were answered as they should be.
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) max_ms: f64,
    pub(crate) failed: u64,
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) spent: Spent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_add_up_and_failures_are_no_throughput() {
        let mut all = Tally::new().unwrap();
        for worker in 0..4_u64 {
            let mut tally = Tally::new().unwrap();
            for n in 1..=25 {
                tally.answered(200, true, Duration::from_millis(worker * 25 + n));
            }
            tally.answered(503, false, Duration::from_millis(100));
            tally.unanswered();
            all.add(&tally).unwrap();
        }
        let figures = all.figures(
            "get",
            String::new(),
            Duration::from_secs(2),
            Spent::default(),
        );
        assert_eq!((figures.requests, figures.failed), (108, 8));
        assert!((figures.per_second - 50.0).abs() < 1e-9);
        assert!((figures.p50_ms - 52.0).abs() < 1.0, "{}", figures.p50_ms);
        assert!((figures.p999_ms - 100.0).abs() < 1.0);
        assert_eq!(figures.outcomes["no answer"], 4);
    }
}
