//! What objects say about whose they are, and the keys that prove it, from files.

use std::path::{Path, PathBuf};

use hyperfleet_core::ownership::{ADAPTER, Claim, Key, Keyring, RESOURCE_ID, ShortKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How ownership of objects is proven. Without a key nothing is signed, and the sweeper deletes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnershipConfig {
    /// The file with the key that signs; at least 32 bytes.
    pub key_file: Option<PathBuf>,
    /// The file with the key before it, still believed while objects are signed anew.
    pub previous_key_file: Option<PathBuf>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum OwnershipError {
    /// A file cannot be read.
    #[error("ownership.{option}: cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which key.
        option: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file holds no key.
    #[error("ownership.{option}: {}: {source}", path.display())]
    NoKey {
        /// Which key.
        option: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: ShortKey,
    },
    /// There is an old key but no new one.
    #[error("ownership.previous_key_file is given, but no ownership.key_file to sign with")]
    OnlyPrevious,
}

impl OwnershipConfig {
    /// The keys, if there are any.
    pub fn load(&self) -> Result<Option<Keyring>, OwnershipError> {
        let previous = self.previous_key_file.as_deref();
        let previous = previous
            .map(|path| read("previous_key_file", path))
            .transpose()?;
        match (self.key_file.as_deref(), previous) {
            (Some(path), previous) => Ok(Some(Keyring {
                current: read("key_file", path)?,
                previous,
            })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(OwnershipError::OnlyPrevious),
        }
    }
}

/// What an object says about whose it is; `None` when it says nothing.
pub fn claim(object: &Value) -> Option<Claim<'_>> {
    let metadata = &object["metadata"];
    Some(Claim {
        adapter: metadata["labels"][ADAPTER].as_str()?,
        resource_id: metadata["labels"][RESOURCE_ID].as_str()?,
        api_version: object["apiVersion"].as_str()?,
        kind: object["kind"].as_str()?,
        namespace: metadata["namespace"].as_str().unwrap_or_default(),
        name: metadata["name"].as_str()?,
    })
}

fn read(option: &'static str, path: &Path) -> Result<Key, OwnershipError> {
    let content = std::fs::read(path).map_err(|source| OwnershipError::Unreadable {
        option,
        path: path.to_owned(),
        source,
    })?;
    Key::new(&content).map_err(|source| OwnershipError::NoKey {
        option,
        path: path.to_owned(),
        source,
    })
}
