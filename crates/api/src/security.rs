//! Everything that decides who gets in, made from the configuration as a whole.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use hyperfleet_core::kind::Registry;

use crate::auth::{AuthSetupError, Authenticator};
use crate::authz::{Policy, PolicyError};
use crate::config::{ApiConfig, LimitsConfig};
use crate::limits::{Limits, Refusals};
use crate::loopback::is_loopback;
use crate::tenant::{TenantError, Tenants};

/// Who gets in, and how far.
#[derive(Debug)]
pub struct Security {
    pub(crate) authenticator: Option<Authenticator>,
    /// There whenever callers say who they are.
    pub(crate) policy: Option<Policy>,
    pub(crate) tenants: Option<Tenants>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) denials: Refusals,
    allow_unauthenticated: bool,
}

/// Why the API cannot be protected as configured.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    #[error(transparent)]
    Authentication(#[from] AuthSetupError),
    #[error(transparent)]
    Authorization(#[from] PolicyError),
    #[error(transparent)]
    Tenants(#[from] TenantError),
    #[error(
        "the API would listen on {0}, where others can reach it, and let everybody do everything: configure \
         server.jwt, listen on localhost (server.host), or set server.allow_unauthenticated if something else \
         guards that address"
    )]
    Open(SocketAddr),
}

impl Security {
    /// As configured. Relative paths start at `directory`.
    pub fn new(
        config: &ApiConfig,
        kinds: &Registry,
        directory: &Path,
    ) -> Result<Security, SecurityError> {
        let server = &config.server;
        let authenticator = Authenticator::new(&server.jwt, directory)?;
        let policy = match &authenticator {
            None => None,
            Some(_) => Some(Policy::new(&config.authorization, kinds, &server.tenant)?),
        };
        Ok(Security {
            authenticator,
            policy,
            tenants: Tenants::new(&server.tenant)?,
            limits: Arc::new(Limits::new(&config.limits)),
            denials: Refusals::default(),
            allow_unauthenticated: server.allow_unauthenticated,
        })
    }

    /// Nobody is asked anything.
    pub fn off() -> Security {
        Security {
            authenticator: None,
            policy: None,
            tenants: None,
            limits: Arc::new(Limits::new(&LimitsConfig::default())),
            denials: Refusals::default(),
            allow_unauthenticated: false,
        }
    }

    /// Whether anything about a caller has to be checked.
    pub(crate) fn is_on(&self) -> bool {
        self.authenticator.is_some() || self.tenants.is_some()
    }

    /// The issuers whose tokens cannot be verified for want of keys.
    pub(crate) fn without_keys(&self) -> Vec<&str> {
        let authenticator = self.authenticator.as_ref();
        authenticator.map_or_else(Vec::new, Authenticator::without_keys)
    }

    /// Refuses an address that others can reach while nobody is asked who they are.
    pub(crate) fn check_address(&self, address: SocketAddr) -> Result<(), SecurityError> {
        if self.authenticator.is_some() || is_loopback(address) {
            return Ok(());
        }
        if !self.allow_unauthenticated {
            return Err(SecurityError::Open(address));
        }
        tracing::warn!(
            %address,
            "AUTHENTICATION IS OFF and others can reach this address: everybody may do everything"
        );
        Ok(())
    }
}
