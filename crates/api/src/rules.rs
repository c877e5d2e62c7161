//! The rules that statuses are computed by, replaced as a whole when their file changes.
//!
//! ```text
//!  kinds, AggregationConfig file ──► Rulebook ──► RulesInForce ──► every write of a status
//!          │ changed, or SIGHUP          ▲               └──► recheck: what time or new rules change
//!          └── reload ── good? ──────────┘
//!                  └──── bad: the old rules stay; metric, log and /readyz say so
//! ```

mod file;
pub(crate) mod recheck;
pub(crate) mod reload;

use std::sync::Arc;

use arc_swap::ArcSwap;
use hyperfleet_core::aggregation::Rulebook;
use hyperfleet_core::kind::Kind;
use sha2::{Digest, Sha256};

pub(crate) use file::{RulesFile, RulesFileError};

/// The rules in force. Cloning shares them.
#[derive(Debug, Clone)]
pub struct RulesInForce(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    book: ArcSwap<Named>,
    file: Option<RulesFile>,
}

/// Rules, and what tells them from others.
#[derive(Debug)]
struct Named {
    book: Arc<Rulebook>,
    fingerprint: String,
}

impl RulesInForce {
    /// The rules of kinds about which no file says more.
    pub fn of_kinds(book: Rulebook, kinds: &[Kind]) -> RulesInForce {
        RulesInForce::new(book, fingerprint(kinds, ""), None)
    }

    fn new(book: Rulebook, fingerprint: String, file: Option<RulesFile>) -> RulesInForce {
        let named = Named {
            book: Arc::new(book),
            fingerprint,
        };
        RulesInForce(Arc::new(Inner {
            book: ArcSwap::from_pointee(named),
            file,
        }))
    }

    /// What is in force at this moment. Hold it for one decision, not longer.
    pub fn now(&self) -> Arc<Rulebook> {
        self.0.book.load().book.clone()
    }

    /// Differs between rules that may say different things about the same reports.
    pub(crate) fn fingerprint(&self) -> String {
        self.0.book.load().fingerprint.clone()
    }

    /// Puts other rules in force. A fingerprint stands for the same rules wherever it occurs.
    pub fn replace(&self, book: Rulebook, fingerprint: String) {
        self.0.book.store(Arc::new(Named {
            book: Arc::new(book),
            fingerprint,
        }));
    }
}

/// Of everything a status depends on besides the resource and its reports.
fn fingerprint(kinds: &[Kind], file: &str) -> String {
    let mut hash = Sha256::new();
    // Another version may compute the same rules otherwise.
    hash.update(env!("CARGO_PKG_VERSION"));
    for kind in kinds {
        let said = (&kind.kind, &kind.required_adapters, &kind.conditions);
        hash.update(serde_json::to_vec(&said).unwrap_or_default());
    }
    hash.update(file);
    let digest = hash.finalize();
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}
