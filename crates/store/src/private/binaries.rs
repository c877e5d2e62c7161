//! Finds an installed PostgreSQL.

use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::PrivateServerError;

const OLDEST: u32 = 15;
/// Names the one directory to look in, for machines with several versions.
const CHOSEN: &str = "HYPERFLEET_POSTGRES_BIN";
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs of one PostgreSQL version.
#[derive(Debug)]
pub(super) struct Binaries {
    directory: PathBuf,
    pub(super) major: u32,
}

impl Binaries {
    /// The newest one among PATH and Debian's directories, or the one that was chosen.
    pub(super) async fn find() -> Result<Binaries, PrivateServerError> {
        let mut newest: Option<Binaries> = None;
        for directory in candidates() {
            if let Some(major) = version(&directory).await
                && newest.as_ref().is_none_or(|best| best.major < major)
            {
                newest = Some(Binaries { directory, major });
            }
        }
        match newest {
            None => Err(PrivateServerError::NotInstalled),
            Some(old) if old.major < OLDEST => Err(PrivateServerError::TooOld {
                found: old.major,
                path: old.directory,
            }),
            Some(found) => Ok(found),
        }
    }

    pub(super) fn postgres(&self) -> PathBuf {
        self.directory.join("postgres")
    }

    pub(super) fn initdb(&self) -> PathBuf {
        self.directory.join("initdb")
    }
}

fn candidates() -> Vec<PathBuf> {
    if let Some(chosen) = std::env::var_os(CHOSEN) {
        return complete(vec![chosen.into()]);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = std::fs::read_dir(DEBIAN) {
        directories.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    complete(directories)
}

/// Only those that hold both programs.
fn complete(mut directories: Vec<PathBuf>) -> Vec<PathBuf> {
    directories.retain(|directory| {
        directory.join("postgres").is_file() && directory.join("initdb").is_file()
    });
    directories
}

/// `postgres (PostgreSQL) 15.18 (Debian …)` → 15
async fn version(directory: &Path) -> Option<u32> {
    let output = Command::new(directory.join("postgres"))
        .arg("--version")
        .output()
        .await
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    number
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}
