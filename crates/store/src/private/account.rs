//! Whom PostgreSQL runs as: it refuses to be root.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use tokio::process::Command;

use super::PrivateServerError;

const WHEN_ROOT: [&str; 2] = ["postgres", "nobody"];

/// The account of the server's processes and files.
#[derive(Debug)]
pub(super) enum Account {
    /// We are an ordinary user: the server runs as us.
    Ours,
    /// We are root: the server runs as somebody harmless.
    Other { uid: u32, gid: u32 },
}

impl Account {
    pub(super) async fn choose() -> Result<Account, PrivateServerError> {
        if !is_root() {
            return Ok(Account::Ours);
        }
        let passwd = tokio::fs::read_to_string("/etc/passwd")
            .await
            .unwrap_or_default();
        WHEN_ROOT
            .iter()
            .find_map(|name| lookup(&passwd, name))
            .map(|(uid, gid)| Account::Other { uid, gid })
            .ok_or(PrivateServerError::NoAccount)
    }

    /// Makes a command run as this account.
    pub(super) fn apply(&self, command: &mut Command) {
        if let Account::Other { uid, gid } = self {
            command.uid(*uid).gid(*gid);
        }
    }

    /// Gives a file or directory to this account.
    pub(super) fn own(&self, path: &Path) -> std::io::Result<()> {
        match self {
            Account::Ours => Ok(()),
            Account::Other { uid, gid } => chown(path, Some(*uid), Some(*gid)),
        }
    }

    /// Whether this account may walk down to a directory. Root's home, for one, is closed to others.
    pub(super) fn can_reach(&self, path: &Path) -> bool {
        let Account::Other { uid, gid } = self else {
            return true;
        };
        path.ancestors()
            .skip(1)
            .filter(|ancestor| !ancestor.as_os_str().is_empty())
            .all(|ancestor| {
                std::fs::metadata(ancestor).is_ok_and(|directory| {
                    let mode = directory.mode();
                    (directory.uid() == *uid && mode & 0o100 != 0)
                        || (directory.gid() == *gid && mode & 0o010 != 0)
                        || mode & 0o001 != 0
                })
            })
    }
}

fn is_root() -> bool {
    // The owner of our own process entry is our effective user.
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn lookup(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let line = passwd
        .lines()
        .find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\npostgres2:x:9:9::/:\npostgres:x:104:113:PostgreSQL:/var/lib/postgresql:/bin/bash\n";
        assert_eq!(lookup(passwd, "postgres"), Some((104, 113)));
        assert_eq!(lookup(passwd, "nobody"), None);
    }
}
