//! Who is believed: `server.jwt`.

use std::path::PathBuf;

use hyperfleet_runtime::GoDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How callers prove who they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JwtConfig {
    /// Whether every caller must show a token. If nothing is said: yes as soon as an issuer is configured.
    pub enabled: Option<bool>,
    /// The issuers whose tokens are taken, tried in order.
    pub configs: Vec<IssuerConfig>,
    /// How far the clocks of issuer and server may be apart.
    pub leeway: GoDuration,
    /// Addresses (`10.0.0.7`) and networks (`10.0.0.0/8`) of proxies whose identity header is believed. From anybody
    /// else a request with that header is refused.
    pub trusted_proxies: Vec<String>,
}

impl Default for JwtConfig {
    fn default() -> Self {
        JwtConfig {
            enabled: None,
            configs: Vec::new(),
            leeway: GoDuration::from_secs(30),
            trusted_proxies: Vec::new(),
        }
    }
}

impl JwtConfig {
    pub(crate) fn is_on(&self) -> bool {
        self.enabled.unwrap_or(!self.configs.is_empty())
    }
}

/// One issuer of tokens. Its keys come from `jwk_cert_url` (from `jwk_cert_file` while that does not answer), from
/// `jwk_cert_file`, or, without either, from the address that its discovery document
/// (`<issuer_url>/.well-known/openid-configuration`) names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IssuerConfig {
    /// What a token's `iss` must say, to the letter. An `https` URL, or `http` on this machine.
    pub issuer_url: String,
    /// Where its keys (a JWK set) are.
    #[serde(default)]
    pub jwk_cert_url: Option<String>,
    /// A file with its keys. A relative path starts at the configuration file.
    #[serde(default)]
    pub jwk_cert_file: Option<PathBuf>,
    /// Whom to trust when keys are fetched, as PEM; the system's authorities if nothing is said.
    #[serde(default)]
    pub jwk_cert_ca_file: Option<PathBuf>,
    /// A file with a token to show when keys are fetched, as a Kubernetes API server wants one.
    #[serde(default)]
    pub jwk_cert_token_file: Option<PathBuf>,
    /// The header that holds the token, as `Bearer <token>`.
    #[serde(default = "authorization")]
    pub header: String,
    /// What a token's `aud` must name. Not looked at if nothing is said.
    #[serde(default)]
    pub audience: Option<String>,
    /// The claim that names the caller.
    #[serde(default = "email")]
    pub identity_claim: String,
    /// A regular expression that the whole name must match.
    #[serde(default)]
    pub identity_claim_pattern: Option<String>,
    /// A header that names the caller instead, from `server.jwt.trusted_proxies` only.
    #[serde(default)]
    pub identity_header: Option<String>,
    /// The claim that lists the caller's groups, which roles can be bound to.
    #[serde(default = "groups")]
    pub groups_claim: String,
    /// How its tokens may be signed.
    #[serde(default = "SigningAlgorithm::all")]
    pub algorithms: Vec<SigningAlgorithm>,
}

fn authorization() -> String {
    "Authorization".to_owned()
}

fn email() -> String {
    "email".to_owned()
}

fn groups() -> String {
    "groups".to_owned()
}

/// The algorithms there are. All have a public key: a secret that verifies tokens could also make them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SigningAlgorithm {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl SigningAlgorithm {
    fn all() -> Vec<SigningAlgorithm> {
        vec![
            SigningAlgorithm::Rs256,
            SigningAlgorithm::Es256,
            SigningAlgorithm::EdDsa,
        ]
    }
}
