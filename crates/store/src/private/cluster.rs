//! The files of the private server: where they are, and how they come to be.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use super::account::Account;
use super::binaries::Binaries;
use super::{DATABASE, PrivateServerError};

/// A unix socket's path has room for 107 bytes; PostgreSQL adds `/.s.PGSQL.5432`.
const LONGEST_SOCKET_DIRECTORY: usize = 90;
/// Where root's servers live whose data directory the server's account cannot reach.
const REACHABLE: &str = "/var/lib/hyperfleet";

/// The directory of everything about the server, made if missing.
pub(super) fn home(data_dir: &Path, account: &Account) -> Result<PathBuf, PrivateServerError> {
    let error = |path: &Path| {
        let path = path.to_owned();
        |source| PrivateServerError::Directory { path, source }
    };
    std::fs::create_dir_all(data_dir).map_err(error(data_dir))?;
    let data_dir = data_dir.canonicalize().map_err(error(data_dir))?;
    let home = data_dir.join("postgres");
    let home = if account.can_reach(&home) {
        home
    } else {
        Path::new(REACHABLE)
            .join(format!("{:016x}", hash(&data_dir)))
            .join("postgres")
    };
    std::fs::create_dir_all(&home).map_err(error(&home))?;
    account.own(&home).map_err(error(&home))?;
    Ok(home)
}

/// The initialised database cluster. It is made beside its place and moved there whole, so a kill leaves no half of one.
pub(super) async fn ensure(
    home: &Path,
    binaries: &Binaries,
    account: &Account,
) -> Result<PathBuf, PrivateServerError> {
    let place = home.join("data");
    if let Ok(made_by) = tokio::fs::read_to_string(place.join("PG_VERSION")).await {
        let made_by = made_by.trim().to_owned();
        return if made_by == binaries.major.to_string() {
            Ok(place)
        } else {
            Err(PrivateServerError::OtherVersion {
                path: place,
                made_by,
                installed: binaries.major,
            })
        };
    }
    let fresh = home.join("data.new");
    let error = |source| PrivateServerError::Directory {
        path: fresh.clone(),
        source,
    };
    match tokio::fs::remove_dir_all(&fresh).await {
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {}
        other => other.map_err(error)?,
    }
    let program = binaries.initdb();
    let mut command = Command::new(&program);
    command
        .arg("--pgdata")
        .arg(&fresh)
        .args([
            "--username",
            DATABASE,
            "--encoding",
            "UTF8",
            "--locale",
            "C.UTF-8",
        ])
        // Who reaches the socket (mode 0700) is us; nobody else can connect at all.
        .args([
            "--auth-local",
            "trust",
            "--auth-host",
            "reject",
            "--no-instructions",
        ])
        .current_dir(home);
    account.apply(&mut command);
    let output = command
        .output()
        .await
        .map_err(|source| PrivateServerError::Run {
            program: program.clone(),
            source,
        })?;
    if !output.status.success() {
        return Err(PrivateServerError::Failed {
            program,
            status: output.status,
            output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    tokio::fs::rename(&fresh, &place).await.map_err(error)?;
    Ok(place)
}

/// A directory for the socket that is short enough, private, and the same at every start.
pub(super) fn socket_directory(
    home: &Path,
    account: &Account,
) -> Result<PathBuf, PrivateServerError> {
    let mut directory = home.join("run");
    if directory.as_os_str().len() > LONGEST_SOCKET_DIRECTORY {
        directory = std::env::temp_dir().join(format!("hyperfleet-{:016x}", hash(home)));
    }
    let error = |source| PrivateServerError::Directory {
        path: directory.clone(),
        source,
    };
    match std::fs::create_dir(&directory) {
        Err(exists) if exists.kind() == std::io::ErrorKind::AlreadyExists => {}
        other => other.map_err(error)?,
    }
    account.own(&directory).map_err(error)?;
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).map_err(error)?;
    Ok(directory)
}

fn hash(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}
