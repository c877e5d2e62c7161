//! From configuration to issuers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::HeaderName;
use regex::Regex;
use reqwest::Url;

use super::identity::{NOT_FOR_NAMES, Naming};
use super::issuer::{Issuer, Rules};
use super::proxies::TrustedProxies;
use super::source::{Fetcher, FetcherError, Source, is_safe};
use super::{Authenticator, signature};
use crate::config::{IssuerConfig, JwtConfig};

/// Why nobody can be authenticated as configured.
#[derive(Debug, thiserror::Error)]
pub enum AuthSetupError {
    #[error("server.jwt is enabled and server.jwt.configs is empty: nobody could be let in")]
    NoIssuers,
    #[error("server.jwt.trusted_proxies: '{0}' is neither an address nor a network")]
    Proxy(String),
    #[error("server.jwt.configs[{index}].{key}: {reason}")]
    Issuer {
        index: usize,
        key: &'static str,
        reason: String,
    },
    #[error("server.jwt.configs[{index}]: {source}")]
    Fetcher { index: usize, source: FetcherError },
}

impl Authenticator {
    /// `None` when callers need not say who they are. Relative paths start at `directory`.
    pub(crate) fn new(
        config: &JwtConfig,
        directory: &Path,
    ) -> Result<Option<Authenticator>, AuthSetupError> {
        if !config.is_on() {
            return Ok(None);
        }
        if config.configs.is_empty() {
            return Err(AuthSetupError::NoIssuers);
        }
        signature::install();
        let proxies = TrustedProxies::read(&config.trusted_proxies)
            .map_err(|text| AuthSetupError::Proxy(text.to_owned()))?;
        let leeway = i64::try_from(config.leeway.get().as_secs()).unwrap_or(i64::MAX);
        let mut issuers = Vec::with_capacity(config.configs.len());
        for (index, config) in config.configs.iter().enumerate() {
            let place = Place {
                index,
                config,
                directory,
            };
            let rules = place.rules(leeway)?;
            if rules.naming.header.is_some() && proxies.is_empty() {
                return Err(place.wrong(
                    "identity_header",
                    "nobody is trusted to send it: list the proxies in server.jwt.trusted_proxies",
                ));
            }
            issuers.push(Arc::new(Issuer::new(rules, place.source()?)));
        }
        Ok(Some(Authenticator {
            issuers,
            proxies,
            verified: Default::default(),
        }))
    }
}

/// One issuer's place in the configuration.
struct Place<'a> {
    index: usize,
    config: &'a IssuerConfig,
    directory: &'a Path,
}

impl Place<'_> {
    fn wrong(&self, key: &'static str, reason: impl Into<String>) -> AuthSetupError {
        AuthSetupError::Issuer {
            index: self.index,
            key,
            reason: reason.into(),
        }
    }

    fn rules(&self, leeway: i64) -> Result<Rules, AuthSetupError> {
        let config = self.config;
        self.url("issuer_url", &config.issuer_url)?;
        if config.algorithms.is_empty() {
            return Err(self.wrong("algorithms", "without any, no token can be taken"));
        }
        let pattern = config.identity_claim_pattern.as_ref().map(|pattern| {
            Regex::new(&format!("^(?:{pattern})$"))
                .map_err(|error| self.wrong("identity_claim_pattern", error.to_string()))
        });
        let naming = Naming {
            claim: config.identity_claim.clone(),
            pattern: pattern.transpose()?,
            header: self.identity_header()?,
        };
        Ok(Rules {
            url: config.issuer_url.clone(),
            header: self.header("header", &config.header)?,
            naming,
            groups_claim: config.groups_claim.clone(),
            algorithms: config.algorithms.clone(),
            audience: config.audience.clone(),
            leeway,
        })
    }

    fn identity_header(&self) -> Result<Option<HeaderName>, AuthSetupError> {
        let Some(written) = &self.config.identity_header else {
            return Ok(None);
        };
        let header = self.header("identity_header", written)?;
        if NOT_FOR_NAMES.contains(&header.as_str()) {
            let reason = format!("'{header}' holds secrets, and names are shown to everybody");
            return Err(self.wrong("identity_header", reason));
        }
        Ok(Some(header))
    }

    fn header(&self, key: &'static str, written: &str) -> Result<HeaderName, AuthSetupError> {
        HeaderName::try_from(written)
            .map_err(|_| self.wrong(key, format!("'{written}' is not the name of a header")))
    }

    fn url(&self, key: &'static str, written: &str) -> Result<Url, AuthSetupError> {
        let url: Url = written
            .parse()
            .map_err(|error| self.wrong(key, format!("'{written}' is not a URL: {error}")))?;
        if !is_safe(&url) {
            let reason = format!("'{written}' must be https, or http on this machine");
            return Err(self.wrong(key, reason));
        }
        Ok(url)
    }

    fn path(&self, written: &Option<PathBuf>) -> Option<PathBuf> {
        written.as_ref().map(|path| self.directory.join(path))
    }

    fn source(&self) -> Result<Source, AuthSetupError> {
        let config = self.config;
        let fetcher = || {
            let authorities = self.path(&config.jwk_cert_ca_file);
            let token_file = self.path(&config.jwk_cert_token_file);
            Fetcher::new(authorities, token_file).map_err(|source| AuthSetupError::Fetcher {
                index: self.index,
                source,
            })
        };
        if let Some(url) = &config.jwk_cert_url {
            let instead = self.path(&config.jwk_cert_file);
            let url = self.url("jwk_cert_url", url)?;
            return Ok(Source::Url(url, fetcher()?, instead));
        }
        if let Some(path) = self.path(&config.jwk_cert_file) {
            for (key, written) in [
                ("jwk_cert_ca_file", &config.jwk_cert_ca_file),
                ("jwk_cert_token_file", &config.jwk_cert_token_file),
            ] {
                if written.is_some() {
                    return Err(self.wrong(key, "is for keys that are fetched, not for a file"));
                }
            }
            return Ok(Source::File(path));
        }
        let base = config.issuer_url.trim_end_matches('/');
        let document = format!("{base}/.well-known/openid-configuration");
        Ok(Source::Discovery {
            issuer: config.issuer_url.clone(),
            document: self.url("issuer_url", &document)?,
            fetcher: fetcher()?,
        })
    }
}
