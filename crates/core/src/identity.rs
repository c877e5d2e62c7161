//! Names and ids that other systems know things by.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Who does everything while nobody has to say who they are.
pub const ANONYMOUS: &str = "system@hyperfleet.local";

/// The id of a resource: a UUIDv7 that the API gave it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ResourceId(pub Uuid);

impl ResourceId {
    /// `None` for anything that cannot be an id of ours. Path segments are opaque to callers: such an id is simply not found.
    pub fn parse(text: &str) -> Option<ResourceId> {
        // Only the canonical form: `Uuid` also reads braces and URNs, which would give one object several addresses.
        (text.len() == 36)
            .then(|| Uuid::parse_str(text).ok())
            .flatten()
            .filter(|_| !text.bytes().any(|b| b.is_ascii_uppercase()))
            .map(ResourceId)
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name an adapter reports under.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = 255))]
pub struct AdapterName(String);

/// Why a text is not an adapter name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnAdapterName {
    #[error("adapter is required")]
    Empty,
    #[error("adapter must be at most {max} characters", max = AdapterName::MAX_LEN)]
    TooLong,
    #[error("adapter must not contain control characters")]
    ControlCharacter,
}

impl AdapterName {
    pub const MAX_LEN: usize = 255;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `cl-namespace` → `ClNamespaceSuccessful`: the type of the condition that mirrors this adapter on the resource.
    pub fn success_condition(&self) -> String {
        let mut condition = String::with_capacity(self.0.len() + 10);
        for part in self.0.split('-') {
            let mut letters = part.chars();
            if let Some(first) = letters.next() {
                condition.extend(first.to_uppercase());
                condition.push_str(letters.as_str());
            }
        }
        condition.push_str("Successful");
        condition
    }
}

impl TryFrom<String> for AdapterName {
    type Error = NotAnAdapterName;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        if name.is_empty() {
            Err(NotAnAdapterName::Empty)
        } else if name.chars().count() > Self::MAX_LEN {
            Err(NotAnAdapterName::TooLong)
        } else if name.chars().any(char::is_control) {
            Err(NotAnAdapterName::ControlCharacter)
        } else {
            Ok(AdapterName(name))
        }
    }
}

impl TryFrom<&str> for AdapterName {
    type Error = NotAnAdapterName;

    fn try_from(name: &str) -> Result<Self, Self::Error> {
        name.to_owned().try_into()
    }
}

impl From<AdapterName> for String {
    fn from(name: AdapterName) -> String {
        name.0
    }
}

impl fmt::Display for AdapterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_spelling_of_a_uuid_is_an_id() {
        let id = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
        assert_eq!(ResourceId::parse(id).unwrap().to_string(), id);
        assert_eq!(ResourceId::parse(&id.to_uppercase()), None);
        assert_eq!(ResourceId::parse(&id.replace('-', "")), None);
        assert_eq!(ResourceId::parse("urn:uuid:0192e4f0-7b1c-7d3a"), None);
        assert_eq!(ResourceId::parse("cluster-1"), None);
    }

    #[test]
    fn the_success_condition_is_the_pascal_case_of_the_adapter() {
        let of = |name: &str| AdapterName::try_from(name).unwrap().success_condition();
        assert_eq!(of("my-adapter"), "MyAdapterSuccessful");
        assert_eq!(of("dns"), "DnsSuccessful");
        assert_eq!(of("a--b"), "ABSuccessful");
    }
}
