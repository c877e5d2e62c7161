//! An issuer of tokens, with a key of every kind, on a port of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde_json::{Value, json};

pub(crate) enum Key {
    Ed(Ed25519KeyPair),
    Ec(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
}

impl Key {
    pub(crate) fn ed() -> Key {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Key::Ed(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
    }

    pub(crate) fn ec() -> Key {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Key::Ec(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    /// Made for these tests, and worth nothing: ring makes no RSA keys.
    pub(crate) fn rsa() -> Key {
        Key::Rsa(Box::new(
            RsaKeyPair::from_pkcs8(include_bytes!("rsa.pk8")).unwrap(),
        ))
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Key::Ed(_) => "EdDSA",
            Key::Ec(_) => "ES256",
            Key::Rsa(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Key::Ed(key) => key.sign(message).as_ref().to_vec(),
            Key::Ec(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .unwrap();
                signature
            }
        }
    }

    pub(crate) fn jwk(&self, id: &str) -> Value {
        match self {
            Key::Ed(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": encode(key.public_key())})
            }
            Key::Ec(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
                json!({"kty": "EC", "crv": "P-256", "kid": id, "x": x, "y": y})
            }
            Key::Rsa(key) => {
                let parts = PublicKeyComponents::<Vec<u8>>::from(key.public());
                let (n, e) = (encode(&parts.n), encode(&parts.e));
                json!({"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": n, "e": e})
            }
        }
    }

    /// A token with this header and these claims.
    pub(crate) fn token(&self, header: &Value, claims: &Value) -> String {
        let message = format!(
            "{}.{}",
            encode(header.to_string()),
            encode(claims.to_string())
        );
        let signature = encode(self.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn now() -> i64 {
    chrono::Utc::now().timestamp()
}

struct Served {
    url: String,
    keys: Mutex<Value>,
    fetched: AtomicUsize,
}

pub(crate) struct Issuer {
    pub(crate) url: String,
    pub(crate) key: Key,
    served: Arc<Served>,
}

impl Issuer {
    pub(crate) async fn new() -> Issuer {
        Issuer::with(Key::ed()).await
    }

    pub(crate) async fn with(key: Key) -> Issuer {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let served = Arc::new(Served {
            url: url.clone(),
            keys: Mutex::new(json!({"keys": [key.jwk("first")]})),
            fetched: AtomicUsize::new(0),
        });
        let router = Router::new()
            .route("/keys", get(keys))
            .route("/.well-known/openid-configuration", get(discovery))
            .with_state(served.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Issuer { url, key, served }
    }

    /// How a server is told of it.
    pub(crate) fn config(&self) -> Value {
        json!({"issuer_url": self.url, "jwk_cert_url": format!("{}/keys", self.url), "audience": "fleet"})
    }

    /// How often its keys were asked for.
    pub(crate) fn fetched(&self) -> usize {
        self.served.fetched.load(Ordering::SeqCst)
    }

    pub(crate) fn publish(&self, keys: Value) {
        *self.served.keys.lock() = json!({ "keys": keys });
    }

    pub(crate) fn header(&self) -> Value {
        json!({"alg": self.key.algorithm(), "typ": "JWT", "kid": "first"})
    }

    pub(crate) fn claims(&self, who: &str) -> Value {
        json!({"iss": self.url, "aud": "fleet", "email": who, "exp": now() + 600})
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        self.key.token(&self.header(), claims)
    }

    /// The `Authorization` of somebody.
    pub(crate) fn bearer(&self, who: &str) -> String {
        format!("Bearer {}", self.token(&self.claims(who)))
    }
}

async fn keys(State(served): State<Arc<Served>>) -> String {
    served.fetched.fetch_add(1, Ordering::SeqCst);
    served.keys.lock().to_string()
}

async fn discovery(State(served): State<Arc<Served>>) -> String {
    let url = &served.url;
    json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string()
}
