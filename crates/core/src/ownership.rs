//! Proof that an object is ours: a signature nobody can make without the key.
//!
//! A label can be put on anything by anybody who may patch it. What deletes by labels alone can be made to delete what
//! it never made, so the sweeper asks for a signature over the labels and the name of the very object.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Label: the adapter that applies the object.
pub const ADAPTER: &str = "hyperfleet.io/adapter";
/// Label: the id of the resource the object belongs to.
pub const RESOURCE_ID: &str = "hyperfleet.io/resource-id";
/// Annotation: the signature.
pub const OWNERSHIP: &str = "hyperfleet.io/ownership";

/// What a signature begins with, so that another way of signing can be told apart.
const VERSION: &str = "v1.";
/// The shortest key that is taken, in bytes.
pub const SHORTEST_KEY: usize = 32;

/// What is signed. The version of the API is not: the same object can be read in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<'a> {
    pub adapter: &'a str,
    pub resource_id: &'a str,
    /// `batch/v1` or `v1`, of which the group counts.
    pub api_version: &'a str,
    pub kind: &'a str,
    /// Empty for what lives in no namespace.
    pub namespace: &'a str,
    pub name: &'a str,
}

impl Claim<'_> {
    /// Fields with their lengths, so that no two claims are the same text.
    fn text(&self) -> String {
        let group = self
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group);
        let fields = [
            self.adapter,
            self.resource_id,
            group,
            self.kind,
            self.namespace,
            self.name,
        ];
        let fields = fields.map(|field| format!("{}:{field}", field.len()));
        format!("hyperfleet-ownership\n{}", fields.join("\n"))
    }
}

/// A key of signatures. Never shown.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// Why something is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a key of signatures has at least {SHORTEST_KEY} bytes, this one has {0}: make one with `openssl rand -base64 48`"
)]
pub struct ShortKey(usize);

impl Key {
    /// The content of a key file, without the white space around it.
    pub fn new(content: &[u8]) -> Result<Key, ShortKey> {
        let content = content.trim_ascii();
        if content.len() < SHORTEST_KEY {
            return Err(ShortKey(content.len()));
        }
        let mac = Hmac::new_from_slice(content).map_err(|_| ShortKey(content.len()))?;
        Ok(Key(mac))
    }

    fn mac(&self, claim: &Claim<'_>) -> Hmac<Sha256> {
        self.0.clone().chain_update(claim.text())
    }
}

/// The keys in use: one signs, and the one before it is still believed while objects are signed anew.
#[derive(Debug, Clone)]
pub struct Keyring {
    pub current: Key,
    pub previous: Option<Key>,
}

impl Keyring {
    /// The value of the annotation [`OWNERSHIP`].
    pub fn sign(&self, claim: &Claim<'_>) -> String {
        let signature = self.current.mac(claim).finalize().into_bytes();
        format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(signature))
    }

    /// Whether a signature is one of ours for this very object. Takes the same time for right and wrong ones.
    pub fn verify(&self, claim: &Claim<'_>, signature: &str) -> bool {
        let Some(encoded) = signature.strip_prefix(VERSION) else {
            return false;
        };
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(encoded) else {
            return false;
        };
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        keys.any(|key| key.mac(claim).verify_slice(&bytes).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: Claim<'static> = Claim {
        adapter: "dns",
        resource_id: "01a1",
        api_version: "batch/v1",
        kind: "Job",
        namespace: "fleet",
        name: "job-1",
    };

    fn key(letter: &str) -> Key {
        Key::new(letter.repeat(40).as_bytes()).unwrap()
    }

    fn ring(current: &str, previous: Option<&str>) -> Keyring {
        Keyring {
            current: key(current),
            previous: previous.map(key),
        }
    }

    #[test]
    fn a_signature_is_good_for_the_object_it_was_made_for_only() {
        let ring = ring("a", None);
        let signature = ring.sign(&CLAIM);
        assert!(ring.verify(&CLAIM, &signature));
        let others = [
            Claim {
                adapter: "other",
                ..CLAIM
            },
            Claim {
                resource_id: "01a2",
                ..CLAIM
            },
            Claim {
                api_version: "apps/v1",
                ..CLAIM
            },
            Claim {
                kind: "Pod",
                ..CLAIM
            },
            Claim {
                namespace: "",
                ..CLAIM
            },
            Claim {
                name: "job-2",
                ..CLAIM
            },
            // The same letters, cut elsewhere.
            Claim {
                namespace: "flee",
                name: "tjob-1",
                ..CLAIM
            },
        ];
        for other in others {
            assert!(!ring.verify(&other, &signature), "{other:?}");
        }
    }

    #[test]
    fn another_version_of_the_api_reads_the_same_object() {
        let ring = ring("a", None);
        let signature = ring.sign(&CLAIM);
        assert!(ring.verify(
            &Claim {
                api_version: "batch/v1beta1",
                ..CLAIM
            },
            &signature
        ));
    }

    #[test]
    fn the_key_before_is_believed_and_no_other() {
        let old = ring("a", None).sign(&CLAIM);
        assert!(ring("b", Some("a")).verify(&CLAIM, &old));
        assert!(!ring("b", None).verify(&CLAIM, &old));
        assert_ne!(ring("b", Some("a")).sign(&CLAIM), old);
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        let ring = ring("a", None);
        let good = ring.sign(&CLAIM);
        for wrong in [
            "",
            "v1.",
            "v1.AAAA",
            "v2.AAAA",
            good.trim_start_matches("v1."),
            &good[..good.len() - 2],
        ] {
            assert!(!ring.verify(&CLAIM, wrong), "{wrong}");
        }
    }

    #[test]
    fn short_keys_are_refused_and_keys_are_never_shown() {
        assert_eq!(Key::new(b" short \n").unwrap_err(), ShortKey(5));
        assert_eq!(format!("{:?}", key("secret")), "Key(hidden)");
    }
}
