use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::json;

use super::*;
use crate::auth::signature;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn key(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

fn publish(path: &std::path::Path, keys: &[(&str, &Ed25519KeyPair)]) {
    let keys: Vec<Value> = keys
        .iter()
        .map(|(id, key)| json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": encode(key.public_key())}))
        .collect();
    std::fs::write(path, json!({ "keys": keys }).to_string()).unwrap();
}

fn token(id: &str, key: &Ed25519KeyPair) -> String {
    let header = json!({"alg": "EdDSA", "kid": id}).to_string();
    let claims = json!({"iss": "https://i", "exp": 1000}).to_string();
    let message = format!("{}.{}", encode(header), encode(claims));
    let signature = encode(key.sign(message.as_bytes()));
    format!("{message}.{signature}")
}

fn issuer(path: &std::path::Path) -> Issuer {
    signature::install();
    let rules = Rules {
        url: "https://i".to_owned(),
        header: HeaderName::from_static("authorization"),
        naming: Naming {
            claim: "sub".to_owned(),
            pattern: None,
            header: None,
        },
        groups_claim: "groups".to_owned(),
        algorithms: vec![SigningAlgorithm::EdDsa],
        audience: None,
        leeway: 30,
    };
    Issuer::new(rules, Source::File(path.to_owned()))
}

#[tokio::test]
async fn a_rotated_key_is_taken_when_it_may_be_asked_for_and_a_withdrawn_one_never_again() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (first, second) = (key(1), key(2));
    publish(file.path(), &[("a", &first)]);
    let issuer = issuer(file.path());
    assert!(issuer.verify(&token("a", &first), 0).await.is_ok());
    let version = issuer.version();

    publish(file.path(), &[("b", &second)]);
    let unknown = issuer.verify(&token("b", &second), 0).await;
    assert_eq!(unknown.unwrap_err(), Refused::Invalid("key not known"));
    let known = issuer.verify(&token("a", &first), 0).await;
    assert!(known.is_ok(), "nobody has looked yet");

    // As if the pause were over.
    *issuer.asked.lock().await = None;
    assert!(issuer.verify(&token("b", &second), 0).await.is_ok());
    assert_eq!(
        issuer.version(),
        version + 1,
        "what was verified is verified again"
    );
    let withdrawn = issuer.verify(&token("a", &first), 0).await;
    assert_eq!(withdrawn.unwrap_err(), Refused::Invalid("key not known"));
}

#[tokio::test]
async fn keys_that_cannot_be_read_leave_the_old_ones_in_force() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let first = key(1);
    publish(file.path(), &[("a", &first)]);
    let issuer = issuer(file.path());
    issuer.refresh().await.unwrap();
    std::fs::write(file.path(), "{}").unwrap();
    assert!(issuer.refresh().await.is_err());
    assert!(issuer.verify(&token("a", &first), 0).await.is_ok());
}

#[tokio::test]
async fn a_token_is_good_until_its_time_and_the_leeway_have_passed() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let first = key(1);
    publish(file.path(), &[("a", &first)]);
    let issuer = issuer(file.path());
    let token = token("a", &first);
    assert_eq!(issuer.verify(&token, 1029).await.unwrap().expires, 1030);
    let late = issuer.verify(&token, 1030).await;
    assert_eq!(late.unwrap_err(), Refused::Expired);
}
