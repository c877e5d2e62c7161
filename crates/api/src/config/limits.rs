//! How much one caller may ask for: `limits`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Budgets of callers who say who they are, and bounds for everybody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LimitsConfig {
    /// Writes a minute of one identity. 0 is no limit.
    pub writes_per_minute: u32,
    /// The same for identities with the role `adapter`, which report.
    pub adapter_writes_per_minute: u32,
    /// The same for identities with the role `sentinel`, which announce themselves.
    pub sentinel_writes_per_minute: u32,
    /// Reads a minute of one identity. 0 is no limit.
    pub reads_per_minute: u32,
    /// Open watches of one identity. 0 is no limit.
    pub watches_per_identity: u32,
    /// Open watches altogether. 0 is no limit.
    pub watches: u32,
    /// The longest path with its query, in bytes.
    pub url_bytes: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        LimitsConfig {
            writes_per_minute: 100,
            adapter_writes_per_minute: 60_000,
            sentinel_writes_per_minute: 1_000,
            reads_per_minute: 0,
            watches_per_identity: 50,
            watches: 1_000,
            url_bytes: 16 * 1024,
        }
    }
}
