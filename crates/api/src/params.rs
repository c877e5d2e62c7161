//! Query parameters as they come: pairs, of which a handler takes those it knows.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use hyperfleet_core::problem::Code;

use crate::failure::Failure;

/// Parameters that have one value. Taking either of two would be a guess.
const ONCE: [&str; 17] = [
    "action",
    "actor",
    "continue",
    "dry_run",
    "generation",
    "id",
    "kind",
    "limit",
    "page",
    "ref_target_id",
    "ref_type",
    "resource_id",
    "search",
    "since",
    "size",
    "verb",
    "watch",
];

/// The decoded query string. Parameters nobody asks for are ignored, as the contract has it.
#[derive(Debug)]
pub(crate) struct Pairs(pub(crate) Vec<(String, String)>);

impl Pairs {
    /// The value of a parameter, trimmed; nothing when it is absent or blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// Every value of a parameter that may be repeated, as given.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Pairs {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        match query {
            Ok(axum::extract::Query(pairs)) if pairs.iter().any(holds_nul) => Err(Failure::new(
                Code::BadRequest,
                "Invalid query string: it holds a NUL character",
            )),
            Ok(axum::extract::Query(pairs)) => match repeated(&pairs) {
                None => Ok(Pairs(pairs)),
                Some(name) => Err(Failure::invalid(
                    name,
                    Some("unique"),
                    format!("{name} is given more than once"),
                )),
            },
            Err(error) => Err(Failure::new(
                Code::BadRequest,
                format!("Invalid query string: {error}"),
            )),
        }
    }
}

fn repeated(pairs: &[(String, String)]) -> Option<&'static str> {
    ONCE.into_iter()
        .find(|name| pairs.iter().filter(|(key, _)| key == name).count() > 1)
}

fn holds_nul((key, value): &(String, String)) -> bool {
    key.contains('\0') || value.contains('\0')
}
