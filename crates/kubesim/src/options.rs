//! How a server is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Settings of one [`Server`](crate::Server).
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// How long a Job's pods run before they finish, unless an annotation says otherwise.
    pub job_duration: Duration,
    /// How long pods of Deployments, StatefulSets and the like take to become ready.
    pub rollout_duration: Duration,
    /// Keeps all objects in this file, so that a server started with it again continues where the last one stopped.
    pub state_file: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            job_duration: Duration::from_millis(500),
            rollout_duration: Duration::from_millis(500),
            state_file: None,
        }
    }
}
