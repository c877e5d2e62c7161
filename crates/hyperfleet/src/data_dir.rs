//! The directory everything on this machine is kept in.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A data directory that is ours for as long as this lives.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory if need be, and takes it: two processes must not share one.
    pub(crate) fn take(path: &Path) -> Result<DataDir> {
        let problem = || {
            format!(
                "cannot use the data directory {}; choose another with --data-dir or HYPERFLEET_HOME",
                path.display()
            )
        };
        std::fs::create_dir_all(path).with_context(problem)?;
        let path = path.canonicalize().with_context(problem)?;
        let lock = File::create(path.join("lock")).with_context(problem)?;
        match lock.try_lock() {
            Ok(()) => Ok(DataDir { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => bail!(
                "the data directory {} is in use by another hyperfleet; stop that one, or choose another with --data-dir",
                path.display()
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(problem),
        }
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
