//! The public keys of an issuer.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;

use crate::config::SigningAlgorithm;

/// More keys than any issuer has.
const MAX_KEYS: usize = 100;

/// Why a text is no use as a set of keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeySetError {
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it has no list `keys`, so it is no JWK set")]
    NoKeys,
    #[error("none of its {0} keys is a public key for RS256, ES256 or EdDSA")]
    NoneOfUse(usize),
    #[error("it has more than {MAX_KEYS} keys")]
    TooMany,
}

#[derive(Debug)]
pub(super) struct KeySet {
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    id: Option<String>,
    algorithm: SigningAlgorithm,
    key: DecodingKey,
}

impl KeySet {
    /// Reads a JWK set. Keys for other purposes, and kinds of keys from the future, are passed over.
    pub(super) fn read(text: &[u8]) -> Result<KeySet, KeySetError> {
        let document: Value = serde_json::from_slice(text)?;
        let listed = document["keys"].as_array().ok_or(KeySetError::NoKeys)?;
        if listed.len() > MAX_KEYS {
            return Err(KeySetError::TooMany);
        }
        let keys: Vec<Key> = listed.iter().filter_map(Key::read).collect();
        if keys.is_empty() {
            return Err(KeySetError::NoneOfUse(listed.len()));
        }
        Ok(KeySet { keys })
    }

    /// The keys that may have signed a token: the named one, or all of the algorithm if none is named.
    pub(super) fn of(
        &self,
        id: Option<&str>,
        algorithm: SigningAlgorithm,
    ) -> impl Iterator<Item = &DecodingKey> {
        self.keys
            .iter()
            .filter(move |key| key.algorithm == algorithm)
            .filter(move |key| id.is_none() || key.id.as_deref() == id)
            .map(|key| &key.key)
    }
}

impl Key {
    /// What the key is for is said by the key, never by the token that asks for it.
    fn read(listed: &Value) -> Option<Key> {
        let jwk: Jwk = serde_json::from_value(listed.clone()).ok()?;
        let algorithm = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => SigningAlgorithm::Rs256,
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                SigningAlgorithm::Es256
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                SigningAlgorithm::EdDsa
            }
            _ => return None,
        };
        let for_signatures = matches!(
            jwk.common.public_key_use,
            None | Some(PublicKeyUse::Signature)
        );
        let for_this = match jwk.common.key_algorithm {
            None => true,
            Some(KeyAlgorithm::RS256) => algorithm == SigningAlgorithm::Rs256,
            Some(KeyAlgorithm::ES256) => algorithm == SigningAlgorithm::Es256,
            Some(KeyAlgorithm::EdDSA) => algorithm == SigningAlgorithm::EdDsa,
            Some(_) => false,
        };
        (for_signatures && for_this).then_some(())?;
        Some(Key {
            id: jwk.common.key_id.clone(),
            algorithm,
            key: DecodingKey::from_jwk(&jwk).ok()?,
        })
    }
}

impl SigningAlgorithm {
    /// The algorithm that a token's header names, if it is one of ours.
    pub(super) fn named(algorithm: Algorithm) -> Option<SigningAlgorithm> {
        match algorithm {
            Algorithm::RS256 => Some(SigningAlgorithm::Rs256),
            Algorithm::ES256 => Some(SigningAlgorithm::Es256),
            Algorithm::EdDSA => Some(SigningAlgorithm::EdDsa),
            _ => None,
        }
    }

    pub(super) fn of_jwt(self) -> Algorithm {
        match self {
            SigningAlgorithm::Rs256 => Algorithm::RS256,
            SigningAlgorithm::Es256 => Algorithm::ES256,
            SigningAlgorithm::EdDsa => Algorithm::EdDSA,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_for_other_purposes_are_passed_over() {
        let text = br#"{"keys": [
            {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
            {"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty": "OKP", "crv": "Ed25519", "kid": "b", "use": "enc", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty": "OKP", "crv": "Ed25519", "kid": "c", "alg": "RS256", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty": "lattice", "kid": "future"}
        ]}"#;
        let keys = KeySet::read(text).unwrap();
        let found = |id| keys.of(id, SigningAlgorithm::EdDsa).count();
        assert_eq!(found(None), 1);
        assert_eq!(found(Some("a")), 1);
        assert_eq!(found(Some("b")), 0);
        assert_eq!(keys.of(Some("a"), SigningAlgorithm::Rs256).count(), 0);
    }

    #[test]
    fn a_text_without_a_key_of_use_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"keys": []}"#,
            r#"{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}"#,
        ] {
            assert!(KeySet::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
