//! `continue`: where a walk goes on. Opaque to callers, and of use only for the query it was given for.
//!
//! Not a secret and no permission: whatever it says, the filter of the request decides what is listed. The checksum is
//! there so that a token that was cut or mixed up is noticed, not silently obeyed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::list::{Key, KeysetOrder, Mark};
use hyperfleet_core::problem::Code;
use hyperfleet_core::time::Time;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// Stands for a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint(String);

impl Fingerprint {
    pub(super) fn of(parts: &[&str]) -> Fingerprint {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Fingerprint(URL_SAFE_NO_PAD.encode(&hash.finalize()[..12]))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// The last resource of the stretch before.
    pub(super) after: Mark,
    /// Where the change feed was when the walk began.
    pub(super) since: String,
}

/// What is in a token, by short names because it travels in URLs.
#[derive(Serialize, Deserialize)]
struct Content {
    q: String,
    k: WrittenKey,
    i: ResourceId,
    s: String,
}

#[derive(Serialize, Deserialize)]
enum WrittenKey {
    /// Microseconds, as the store keeps time.
    #[serde(rename = "t")]
    CreatedTime(i64),
    #[serde(rename = "n")]
    Name(String),
    #[serde(rename = "i")]
    Id,
}

const CHECKSUM: usize = 8;

fn checksum(content: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&Sha256::digest(content)[..CHECKSUM]);
    sum
}

impl Token {
    pub(super) fn write(&self, query: &Fingerprint) -> String {
        let content = Content {
            q: query.0.clone(),
            k: match &self.after.key {
                Key::CreatedTime(time) => WrittenKey::CreatedTime(time.timestamp_micros()),
                Key::Name(name) => WrittenKey::Name(name.clone()),
                Key::Id => WrittenKey::Id,
            },
            i: self.after.id,
            s: self.since.clone(),
        };
        // Texts and numbers can be written as JSON.
        let mut bytes = serde_json::to_vec(&content).unwrap_or_default();
        let sum = checksum(&bytes);
        bytes.extend(sum);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a token that was given for this query and order.
    pub(super) fn read(
        text: &str,
        query: &Fingerprint,
        order: KeysetOrder,
    ) -> Result<Token, Failure> {
        let content = Token::content(text).ok_or_else(|| {
            Failure::new(
                Code::BadRequest,
                "continue is not a token of this API; leave it out to begin anew",
            )
        })?;
        let (given_for, token) = content;
        if given_for != *query || token.after.key.column() != order.column {
            return Err(Failure::new(
                Code::BadRequest,
                "continue was given for another query; repeat all parameters of the first request, or leave it out to \
                 begin anew",
            ));
        }
        Ok(token)
    }

    fn content(text: &str) -> Option<(Fingerprint, Token)> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (content, sum) = bytes.split_last_chunk::<CHECKSUM>()?;
        if *sum != checksum(content) {
            return None;
        }
        let content: Content = serde_json::from_slice(content).ok()?;
        let after = Mark {
            key: match content.k {
                WrittenKey::CreatedTime(micros) => {
                    Key::CreatedTime(Time::from_timestamp_micros(micros)?)
                }
                WrittenKey::Name(name) if !name.contains('\0') => Key::Name(name),
                WrittenKey::Name(_) => return None,
                WrittenKey::Id => Key::Id,
            },
            id: content.i,
        };
        let token = Token {
            after,
            since: content.s,
        };
        Some((Fingerprint(content.q), token))
    }
}

#[cfg(test)]
mod tests {
    use hyperfleet_core::list::{Direction, KeysetColumn};
    use uuid::Uuid;

    use super::*;

    const BY_NAME: KeysetOrder = KeysetOrder {
        column: KeysetColumn::Name,
        direction: Direction::Ascending,
    };

    fn token() -> Token {
        Token {
            after: Mark {
                key: Key::Name("one".to_owned()),
                id: ResourceId(Uuid::now_v7()),
            },
            since: "1.7..".to_owned(),
        }
    }

    #[test]
    fn a_token_is_read_as_it_was_written() {
        let query = Fingerprint::of(&["Cluster", "a"]);
        let text = token().write(&query);
        assert_eq!(Token::read(&text, &query, BY_NAME).unwrap().since, "1.7..");
    }

    #[test]
    fn a_token_is_of_no_use_for_another_query() {
        let text = token().write(&Fingerprint::of(&["Cluster", "a"]));
        let other = Fingerprint::of(&["Clustera"]);
        let failure = Token::read(&text, &other, BY_NAME).unwrap_err();
        assert!(failure.detail.contains("another query"));
    }

    #[test]
    fn any_changed_character_is_noticed() {
        let query = Fingerprint::of(&[]);
        let text = token().write(&query);
        for at in 0..text.len() {
            for with in ["A", "z", "0", "%", ""] {
                let mut changed = text.clone();
                changed.replace_range(at..=at, with);
                if changed != text {
                    assert!(Token::read(&changed, &query, BY_NAME).is_err(), "{changed}");
                }
            }
        }
        assert!(Token::read("", &query, BY_NAME).is_err());
        assert!(Token::read("1.7..", &query, BY_NAME).is_err());
    }
}
