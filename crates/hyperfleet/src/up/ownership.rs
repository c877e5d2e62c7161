//! The key that objects on this machine are signed with, made once and kept.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use uuid::Uuid;

use crate::data_dir::DataDir;

/// The key file of a data directory. A new key has 366 random bits: those of three random UUIDs.
pub(crate) fn key_file(data_dir: &DataDir) -> Result<PathBuf> {
    let file = data_dir.join("ownership.key");
    if file.exists() {
        return Ok(file);
    }
    let problem = || format!("cannot write {}", file.display());
    // Moved into its place when it is whole: half a key would be refused at every start.
    let unfinished = data_dir.join("ownership.key.new");
    let mut written = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)
        .with_context(problem)?;
    for _ in 0..3 {
        write!(written, "{}", Uuid::new_v4().simple()).with_context(problem)?;
    }
    written.sync_all().with_context(problem)?;
    std::fs::rename(&unfinished, &file).with_context(problem)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_is_nobody_elses_to_read() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::take(directory.path()).unwrap();
        let file = key_file(&data_dir).unwrap();
        let key = std::fs::read_to_string(&file).unwrap();
        assert_eq!(key.len(), 96);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(key_file(&data_dir).unwrap(), file);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), key);
    }
}
