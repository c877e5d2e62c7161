//! What a caller is called.

use axum::http::{HeaderMap, HeaderName};
use regex::Regex;
use serde_json::{Map, Value};

/// The longest name, in bytes.
const MAX_NAME: usize = 256;

/// Headers that hold secrets: a name taken from one would put the secret in every log.
pub(super) const NOT_FOR_NAMES: [&str; 7] = [
    "authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "x-auth-token",
    "x-forwarded-authorization",
    "proxy-authorization",
];

/// Where an issuer's callers have their names from.
#[derive(Debug)]
pub(super) struct Naming {
    pub(super) claim: String,
    pub(super) pattern: Option<Regex>,
    pub(super) header: Option<HeaderName>,
}

impl Naming {
    /// The name in a token, or why there is none.
    pub(super) fn in_claims(&self, claims: &Map<String, Value>) -> Result<String, String> {
        let name = claim(claims, &self.claim)
            .ok_or_else(|| format!("the token has no claim '{}'", self.claim))?;
        self.check(&name)
            .map_err(|why| format!("the claim '{}' {why}", self.claim))
    }

    /// The name a proxy gives the caller; nothing when it gives none.
    pub(super) fn in_headers(&self, headers: &HeaderMap) -> Option<Result<String, String>> {
        let header = self.header.as_ref()?;
        let mut given = headers.get_all(header).iter();
        let value = given.next()?;
        if given.next().is_some() {
            return Some(Err(format!("the header '{header}' is there twice")));
        }
        let Ok(text) = value.to_str() else {
            return Some(Err(format!("the header '{header}' is not visible ASCII")));
        };
        if text.trim().is_empty() {
            return None;
        }
        Some(
            self.check(text)
                .map_err(|why| format!("the header '{header}' {why}")),
        )
    }

    fn check(&self, name: &str) -> Result<String, String> {
        let name = name.trim();
        if name.is_empty() {
            Err("is empty".to_owned())
        } else if name.len() > MAX_NAME {
            Err(format!("is longer than {MAX_NAME} bytes"))
        } else if name.chars().any(char::is_control) {
            Err("holds control characters".to_owned())
        } else if self.pattern.as_ref().is_some_and(|p| !p.is_match(name)) {
            Err("does not match identity_claim_pattern".to_owned())
        } else {
            Ok(name.to_owned())
        }
    }
}

/// A claim, or what issuers have in its place.
fn claim(claims: &Map<String, Value>, name: &str) -> Option<String> {
    let text = |name: &str| {
        let text = claims.get(name)?.as_str()?;
        (!text.trim().is_empty()).then(|| text.to_owned())
    };
    text(name).or_else(|| match name {
        "username" => text("preferred_username"),
        "preferred_username" => text("username"),
        "name" => match (text("given_name"), text("family_name")) {
            (Some(given), Some(family)) => Some(format!("{given} {family}")),
            (given, family) => given.or(family),
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn naming(claim: &str) -> Naming {
        Naming {
            claim: claim.to_owned(),
            pattern: None,
            header: Some(HeaderName::from_static("x-user")),
        }
    }

    fn name(claim: &str, claims: Value) -> Result<String, String> {
        naming(claim).in_claims(claims.as_object().unwrap())
    }

    #[test]
    fn a_name_is_trimmed_short_and_printable() {
        assert_eq!(name("email", json!({"email": " a@b "})).unwrap(), "a@b");
        for bad in ["", "  ", "a\nb", "a\0", &"x".repeat(257)] {
            assert!(name("email", json!({"email": bad})).is_err(), "{bad:?}");
        }
        assert!(name("email", json!({"email": 7})).is_err());
        assert!(name("email", json!({})).is_err());
        assert!(name("email", json!({"email": "x".repeat(256)})).is_ok());
    }

    #[test]
    fn other_claims_stand_in_where_issuers_differ() {
        assert_eq!(
            name("username", json!({"preferred_username": "a"})).unwrap(),
            "a"
        );
        assert_eq!(
            name("preferred_username", json!({"username": "a"})).unwrap(),
            "a"
        );
        let both = json!({"given_name": "Ada", "family_name": "L"});
        assert_eq!(name("name", both).unwrap(), "Ada L");
        assert!(name("email", json!({"username": "a"})).is_err());
    }

    #[test]
    fn a_pattern_must_match_the_whole_name() {
        let naming = Naming {
            pattern: Some(Regex::new("^(?:[a-z]+@example\\.com)$").unwrap()),
            ..naming("email")
        };
        let name = |text: &str| naming.in_claims(json!({"email": text}).as_object().unwrap());
        assert!(name("ada@example.com").is_ok());
        assert!(name("ada@example.com.evil.org").is_err());
    }

    #[test]
    fn a_header_names_the_caller_once_or_not_at_all() {
        let naming = naming("email");
        let mut headers = HeaderMap::new();
        assert!(naming.in_headers(&headers).is_none());
        headers.append("x-user", " ".parse().unwrap());
        assert!(naming.in_headers(&headers).is_none());
        headers.insert("x-user", "ada".parse().unwrap());
        assert_eq!(naming.in_headers(&headers).unwrap().unwrap(), "ada");
        headers.append("x-user", "eve".parse().unwrap());
        assert!(naming.in_headers(&headers).unwrap().is_err());
    }
}
