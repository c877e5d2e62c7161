//! The rules that statuses are computed by, replaced as a whole when their file changes.

use std::sync::Arc;

use arc_swap::ArcSwap;
use hyperfleet_core::aggregation::Rulebook;

/// The rules in force. Cloning shares them.
#[derive(Debug, Clone)]
pub struct RulesInForce(Arc<ArcSwap<Rulebook>>);

impl RulesInForce {
    pub fn new(book: Rulebook) -> RulesInForce {
        RulesInForce(Arc::new(ArcSwap::from_pointee(book)))
    }

    /// What is in force at this moment. Hold it for one decision, not longer.
    pub fn now(&self) -> Arc<Rulebook> {
        self.0.load_full()
    }
}
