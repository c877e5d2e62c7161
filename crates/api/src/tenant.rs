//! For which tenant a request is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName};
use hyperfleet_core::problem::Code;

use crate::config::TenantConfig;
use crate::failure::Failure;

/// The tenant of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tenant {
    /// There are none.
    Off,
    /// A component of HyperFleet, for all of them.
    System,
    Of(Arc<BTreeMap<String, String>>),
}

impl Tenant {
    /// What a resource is marked with when it is created for this tenant.
    pub(crate) fn stamp(&self) -> BTreeMap<String, String> {
        match self {
            Tenant::Off | Tenant::System => BTreeMap::new(),
            Tenant::Of(tenancy) => (**tenancy).clone(),
        }
    }
}

/// How tenants are told apart.
#[derive(Debug)]
pub(crate) struct Tenants {
    system_header: Option<HeaderName>,
    dimensions: Vec<Dimension>,
}

#[derive(Debug)]
struct Dimension {
    header: HeaderName,
    key: String,
    required: bool,
}

/// Why tenants cannot be told apart as configured.
#[derive(Debug, thiserror::Error)]
#[error("server.tenant.{key}: {reason}")]
pub struct TenantError {
    key: String,
    reason: String,
}

/// The longest value of a dimension.
const MAX_VALUE: usize = 63;

impl Tenants {
    /// `None` when there are no tenants.
    pub(crate) fn new(config: &TenantConfig) -> Result<Option<Tenants>, TenantError> {
        if !config.enabled {
            return Ok(None);
        }
        let wrong = |key: String, reason: &str| TenantError {
            key,
            reason: reason.to_owned(),
        };
        let header = |key: String, written: &str| {
            let reason = format!("'{written}' is not the name of a header");
            HeaderName::try_from(written).map_err(|_| wrong(key, &reason))
        };
        if config.dimensions.is_empty() {
            return Err(wrong("dimensions".to_owned(), "at least one is needed"));
        }
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (index, written) in config.dimensions.iter().enumerate() {
            let at = |key: &str| format!("dimensions[{index}].{key}");
            let found = Dimension {
                header: header(at("header"), &written.header)?,
                key: written.key.clone(),
                required: written.required,
            };
            if found.key.is_empty() || dimensions.iter().any(|other| other.key == found.key) {
                return Err(wrong(at("key"), "is empty or there twice"));
            }
            dimensions.push(found);
        }
        let system_header = config.system_header.as_deref();
        Ok(Some(Tenants {
            system_header: system_header
                .map(|written| header("system_header".to_owned(), written))
                .transpose()?,
            dimensions,
        }))
    }

    /// The tenant that the headers of a request name.
    pub(crate) fn resolve(&self, headers: &HeaderMap) -> Result<Tenant, Failure> {
        if let Some(header) = &self.system_header
            && let Some(value) = once(headers, header)?
            && value.eq_ignore_ascii_case("true")
        {
            return Ok(Tenant::System);
        }
        let mut tenancy = BTreeMap::new();
        for dimension in &self.dimensions {
            let header = &dimension.header;
            match once(headers, header)? {
                None if dimension.required => {
                    return Err(refused(format!("the header '{header}' is required")));
                }
                None => {}
                Some(value) if is_value(value) => {
                    tenancy.insert(dimension.key.clone(), value.to_owned());
                }
                Some(_) => {
                    let detail = format!(
                        "the header '{header}' must be 1 to {MAX_VALUE} of A-Z a-z 0-9 . _ -"
                    );
                    return Err(refused(detail));
                }
            }
        }
        if tenancy.is_empty() {
            return Err(refused("the request names no tenant".to_owned()));
        }
        Ok(Tenant::Of(Arc::new(tenancy)))
    }
}

/// The value of a header that must not be there twice: a proxy and its backend might each take another one.
fn once<'a>(headers: &'a HeaderMap, header: &HeaderName) -> Result<Option<&'a str>, Failure> {
    let mut given = headers.get_all(header).iter();
    let Some(value) = given.next() else {
        return Ok(None);
    };
    if given.next().is_some() {
        return Err(refused(format!("the header '{header}' is there twice")));
    }
    // What is not ASCII is no value either.
    Ok(Some(value.to_str().unwrap_or("")))
}

fn refused(detail: String) -> Failure {
    Failure::new(Code::Forbidden, detail)
}

fn is_value(text: &str) -> bool {
    (1..=MAX_VALUE).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DimensionConfig;

    fn tenants() -> Tenants {
        let dimension = |header: &str, key: &str, required| DimensionConfig {
            header: header.to_owned(),
            key: key.to_owned(),
            required,
        };
        let config = TenantConfig {
            enabled: true,
            system_header: Some("X-System".to_owned()),
            dimensions: vec![
                dimension("X-Org", "org", true),
                dimension("X-Project", "project", false),
            ],
        };
        Tenants::new(&config).unwrap().unwrap()
    }

    fn resolve(headers: &[(&str, &str)]) -> Result<Tenant, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        tenants().resolve(&map).map_err(|failure| failure.detail)
    }

    #[test]
    fn a_tenant_is_made_of_its_dimensions() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            Ok(Tenant::Of(Arc::new(pairs.collect())))
        };
        assert_eq!(resolve(&[("x-org", "acme")]), of(&[("org", "acme")]));
        assert_eq!(
            resolve(&[("x-org", "acme"), ("x-project", "p.1")]),
            of(&[("org", "acme"), ("project", "p.1")])
        );
    }

    #[test]
    fn a_request_without_a_proper_tenant_is_refused() {
        let long = "x".repeat(64);
        for headers in [
            &[][..],
            &[("x-project", "p")],
            &[("x-org", "")],
            &[("x-org", "a b")],
            &[("x-org", "acme'--")],
            &[("x-org", &long)],
            &[("x-org", "acme"), ("x-org", "other")],
            &[("x-org", "acme"), ("x-project", "*")],
        ] {
            assert!(resolve(headers).is_err(), "{headers:?}");
        }
    }

    #[test]
    fn only_true_makes_a_system_caller() {
        assert_eq!(resolve(&[("x-system", "TRUE")]), Ok(Tenant::System));
        assert!(resolve(&[("x-system", "yes")]).is_err());
        assert!(resolve(&[("x-system", "true"), ("x-system", "true")]).is_err());
        let ordinary = resolve(&[("x-system", "yes"), ("x-org", "acme")]).unwrap();
        assert!(matches!(ordinary, Tenant::Of(_)));
    }
}
