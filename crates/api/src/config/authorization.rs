//! Who may do what: `authorization`.

use std::collections::BTreeMap;

use hyperfleet_core::identity::AdapterName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::authz::Verb;

/// Roles, and who has them. Says nothing while callers need not say who they are.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AuthorizationConfig {
    /// The role of callers whom no binding names. Without it they may do nothing; `admin` lets everybody do everything,
    /// as v1.0 did.
    pub default_role: Option<String>,
    /// Roles beside the built-in ones: `viewer`, `operator`, `admin`, `adapter`, `sentinel`, `sweeper`.
    pub roles: Vec<RoleConfig>,
    /// Who has which role.
    pub bindings: Vec<BindingConfig>,
}

/// A role: everything that one of its rules allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleConfig {
    pub name: String,
    pub rules: Vec<RuleConfig>,
}

/// What a rule allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleConfig {
    /// What may be done.
    pub verbs: Vec<Verb>,
    /// To which kinds. All if nothing is said.
    #[serde(default)]
    pub kinds: Option<Vec<String>>,
    /// Only to resources with all of these labels. What lacks one is, to this rule, not there.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// Gives a role to callers: those with one of the identities, and those in one of the groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BindingConfig {
    pub role: String,
    #[serde(default)]
    pub identities: Vec<String>,
    #[serde(default)]
    pub groups: Vec<String>,
    /// Only callers with a token of this issuer. Two issuers may call two people the same.
    #[serde(default)]
    pub issuer: Option<String>,
    /// Only in the tenant with these dimensions (`org: acme`). Every tenant if nothing is said.
    #[serde(default)]
    pub tenant: BTreeMap<String, String>,
    /// The adapters that may be reported as. The role `adapter` needs at least one; other roles that report may report
    /// as any if nothing is said.
    #[serde(default)]
    pub adapters: Vec<AdapterName>,
}
