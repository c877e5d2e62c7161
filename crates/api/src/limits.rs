//! How much one caller may ask for.

mod bucket;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use hyperfleet_core::problem::Code;
use parking_lot::Mutex;

use crate::config::LimitsConfig;
use crate::failure::Failure;
use bucket::Buckets;

/// Whose budget a write is counted against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    User,
    Adapter,
    Sentinel,
}

/// Counts what callers do.
#[derive(Debug)]
pub(crate) struct Limits {
    config: LimitsConfig,
    writes: Buckets,
    reads: Buckets,
    watches: Mutex<Watches>,
}

#[derive(Debug, Default)]
struct Watches {
    all: u32,
    of: HashMap<Arc<str>, u32>,
}

impl Limits {
    pub(crate) fn new(config: &LimitsConfig) -> Limits {
        Limits {
            config: config.clone(),
            writes: Buckets::default(),
            reads: Buckets::default(),
            watches: Mutex::default(),
        }
    }

    pub(crate) fn url_bytes(&self) -> usize {
        self.config.url_bytes
    }

    pub(crate) fn write(
        &self,
        identity: &Arc<str>,
        class: Class,
        now: Instant,
    ) -> Result<(), Failure> {
        let a_minute = match class {
            Class::User => self.config.writes_per_minute,
            Class::Adapter => self.config.adapter_writes_per_minute,
            Class::Sentinel => self.config.sentinel_writes_per_minute,
        };
        take(&self.writes, identity, a_minute, "writes", now)
    }

    pub(crate) fn read(&self, identity: &Arc<str>, now: Instant) -> Result<(), Failure> {
        take(
            &self.reads,
            identity,
            self.config.reads_per_minute,
            "reads",
            now,
        )
    }

    /// A place for a watch, for as long as the permit is kept.
    pub(crate) fn watch(self: &Arc<Self>, identity: &Arc<str>) -> Result<WatchPermit, Failure> {
        let mut watches = self.watches.lock();
        let (most, most_of_one) = (self.config.watches, self.config.watches_per_identity);
        let refused = |detail: String| {
            // Somebody has to leave first; when is anybody's guess.
            Failure::new(Code::TooManyRequests, detail).retry_after(10)
        };
        if most != 0 && watches.all >= most {
            return Err(refused(format!(
                "there are {most} watches already; try again later"
            )));
        }
        let own = watches.of.entry(identity.clone()).or_default();
        if most_of_one != 0 && *own >= most_of_one {
            return Err(refused(format!(
                "{identity} has {most_of_one} watches already; close one first"
            )));
        }
        *own += 1;
        watches.all += 1;
        Ok(WatchPermit {
            limits: self.clone(),
            identity: identity.clone(),
        })
    }
}

fn take(
    buckets: &Buckets,
    identity: &Arc<str>,
    a_minute: u32,
    what: &str,
    now: Instant,
) -> Result<(), Failure> {
    let Err(seconds) = buckets.take(identity, a_minute, now) else {
        return Ok(());
    };
    let detail = format!(
        "{identity} has used up its {a_minute} {what} a minute; wait as long as Retry-After says"
    );
    Err(Failure::new(Code::TooManyRequests, detail).retry_after(seconds))
}

/// How many refusals a minute of one identity are kept in the audit log; all are in the log.
const KEPT_REFUSALS: u32 = 60;

/// Bounds what refused callers can make us write.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Buckets);

impl Refusals {
    pub(crate) fn keep(&self, identity: &Arc<str>) -> bool {
        self.0.take(identity, KEPT_REFUSALS, Instant::now()).is_ok()
    }
}

/// An open watch.
#[derive(Debug)]
pub(crate) struct WatchPermit {
    limits: Arc<Limits>,
    identity: Arc<str>,
}

impl Drop for WatchPermit {
    fn drop(&mut self) {
        let mut watches = self.limits.watches.lock();
        watches.all = watches.all.saturating_sub(1);
        if let Some(own) = watches.of.get_mut(&self.identity) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                watches.of.remove(&self.identity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_ends_makes_room_for_another() {
        let limits = Arc::new(Limits::new(&LimitsConfig {
            watches_per_identity: 1,
            watches: 2,
            ..LimitsConfig::default()
        }));
        let (ada, bob, eve) = ("ada".into(), "bob".into(), "eve".into());
        let first = limits.watch(&ada).unwrap();
        let refused = limits.watch(&ada).unwrap_err();
        assert_eq!(refused.code, Code::TooManyRequests);
        let _second = limits.watch(&bob).unwrap();
        assert!(limits.watch(&eve).is_err());
        drop(first);
        assert!(limits.watch(&eve).is_ok());
        assert!(limits.watches.lock().of.len() <= 2);
    }
}
