//! From configuration to roles and bindings.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperfleet_core::kind::Registry;
use hyperfleet_source::suggest;

use super::role::{ADAPTER, Role, Rule};
use super::verb::Verb;
use super::{Binding, Grant, Policy};
use crate::config::{AuthorizationConfig, BindingConfig, RoleConfig, TenantConfig};

/// Why roles cannot be given as configured.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("authorization.{place}: {reason}")]
    Wrong { place: String, reason: String },
    #[error(
        "callers must say who they are (server.jwt) and nobody may do anything: add authorization.bindings, or set \
         authorization.default_role (`admin` lets everybody do everything, as v1.0 did)"
    )]
    NobodyMay,
}

fn wrong(place: impl Into<String>, reason: impl Into<String>) -> PolicyError {
    PolicyError::Wrong {
        place: place.into(),
        reason: reason.into(),
    }
}

impl Policy {
    pub(crate) fn new(
        config: &AuthorizationConfig,
        kinds: &Registry,
        tenants: &TenantConfig,
    ) -> Result<Policy, PolicyError> {
        if config.bindings.is_empty() && config.default_role.is_none() {
            return Err(PolicyError::NobodyMay);
        }
        let roles = roles(&config.roles, kinds)?;
        let default_role = match &config.default_role {
            None => None,
            Some(name) if name == ADAPTER => {
                let reason = "an adapter reports under its own name, which only a binding can say";
                return Err(wrong("default_role", reason));
            }
            Some(name) => Some(find(&roles, name).map_err(|why| wrong("default_role", why))?),
        };
        let mut bindings = Vec::with_capacity(config.bindings.len());
        for (index, written) in config.bindings.iter().enumerate() {
            let bound = binding(written, &roles, tenants);
            bindings
                .push(bound.map_err(|(key, why)| wrong(format!("bindings[{index}].{key}"), why))?);
        }
        Ok(Policy {
            bindings,
            default_role,
        })
    }
}

fn find(roles: &BTreeMap<String, Arc<Role>>, name: &str) -> Result<Arc<Role>, String> {
    roles.get(name).cloned().ok_or_else(|| {
        let help = suggest::help(name, roles.keys().map(String::as_str));
        let help = help.map_or_else(String::new, |help| format!("; {help}"));
        format!("there is no role '{name}'{help}")
    })
}

fn roles(
    configured: &[RoleConfig],
    kinds: &Registry,
) -> Result<BTreeMap<String, Arc<Role>>, PolicyError> {
    let built_in = Role::built_in().into_iter();
    let mut roles: BTreeMap<String, Arc<Role>> = built_in
        .map(|role| (role.name.clone(), Arc::new(role)))
        .collect();
    for (index, written) in configured.iter().enumerate() {
        let place = |key: &str| format!("roles[{index}].{key}");
        if written.name.is_empty() || roles.contains_key(&written.name) {
            let reason = format!("'{}' is empty or taken", written.name);
            return Err(wrong(place("name"), reason));
        }
        for (at, rule) in written.rules.iter().enumerate() {
            let place = |key: &str| place(&format!("rules[{at}].{key}"));
            if rule.verbs.is_empty() {
                return Err(wrong(place("verbs"), "without any the rule allows nothing"));
            }
            if let Some(unknown) = rule
                .kinds
                .iter()
                .flatten()
                .find(|name| kinds.kind(name).is_none())
            {
                let known = kinds.kinds().iter().map(|kind| kind.kind.as_str());
                let help = suggest::help(unknown, known);
                let help = help.map_or_else(String::new, |help| format!("; {help}"));
                return Err(wrong(
                    place("kinds"),
                    format!("there is no kind '{unknown}'{help}"),
                ));
            }
            let about_no_kind = [Verb::Audit, Verb::Note, Verb::Announce]
                .into_iter()
                .find(|verb| rule.verbs.contains(verb));
            if let Some(verb) = about_no_kind
                && !rule.labels.is_empty()
            {
                let reason = format!("'{verb}' is about no resource that could have labels");
                return Err(wrong(place("labels"), reason));
            }
        }
        let rules = written.rules.iter().map(|rule| Rule {
            verbs: rule.verbs.clone(),
            kinds: rule.kinds.clone(),
            labels: rule.labels.clone(),
        });
        let role = Role {
            name: written.name.clone(),
            rules: rules.collect(),
        };
        roles.insert(written.name.clone(), Arc::new(role));
    }
    Ok(roles)
}

fn binding(
    written: &BindingConfig,
    roles: &BTreeMap<String, Arc<Role>>,
    tenants: &TenantConfig,
) -> Result<Binding, (&'static str, String)> {
    let role = find(roles, &written.role).map_err(|why| ("role", why))?;
    if written.identities.is_empty() && written.groups.is_empty() {
        return Err(("identities", "the binding names nobody".to_owned()));
    }
    let reports = role
        .rules
        .iter()
        .any(|rule| rule.verbs.contains(&Verb::Report));
    if written.role == ADAPTER && written.adapters.is_empty() {
        let reason = "name the adapters that may be reported as";
        return Err(("adapters", reason.to_owned()));
    }
    if !reports && !written.adapters.is_empty() {
        let reason = format!("the role '{}' reports nothing", written.role);
        return Err(("adapters", reason));
    }
    for key in written.tenant.keys() {
        let known = tenants.enabled
            && tenants
                .dimensions
                .iter()
                .any(|dimension| dimension.key == *key);
        if !known {
            let reason = format!("server.tenant has no dimension '{key}', or is not enabled");
            return Err(("tenant", reason));
        }
    }
    Ok(Binding {
        identities: written.identities.clone(),
        groups: written.groups.clone(),
        issuer: written.issuer.clone(),
        grant: Grant {
            role,
            tenant: written.tenant.clone(),
            adapters: (!written.adapters.is_empty()).then(|| written.adapters.clone()),
        },
    })
}
