//! Whose resources are whose: `server.tenant`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tenants, told apart by headers. Off by default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TenantConfig {
    pub enabled: bool,
    /// A header that says, with the value `true`, that a component of HyperFleet asks for all tenants. Such a caller
    /// reads everything and reports statuses, and cannot create, change or delete.
    pub system_header: Option<String>,
    /// What a tenant is made of. At least one.
    pub dimensions: Vec<DimensionConfig>,
}

/// One dimension of a tenant, for example the organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DimensionConfig {
    /// The header that holds its value: 1 to 63 of `A-Z a-z 0-9 . _ -`.
    pub header: String,
    /// What it is called in a resource's `tenancy`.
    pub key: String,
    /// Whether a request without it is refused.
    #[serde(default)]
    pub required: bool,
}
