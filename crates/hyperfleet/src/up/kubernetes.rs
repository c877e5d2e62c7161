//! Where `up` applies things: a simulated Kubernetes, or a real one that it is given.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::data_dir::DataDir;

/// A Kubernetes API that is reachable through a kubeconfig.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    pub(crate) kubeconfig: PathBuf,
    simulated: Option<kubesim::Server>,
}

impl Kubernetes {
    pub(crate) async fn open(given: Option<&Path>, data_dir: &DataDir) -> Result<Kubernetes> {
        if let Some(kubeconfig) = given {
            return Ok(Kubernetes {
                kubeconfig: kubeconfig.to_owned(),
                simulated: None,
            });
        }
        let options = kubesim::Options {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            job_duration: Duration::from_millis(300),
            rollout_duration: Duration::from_millis(300),
            state_file: Some(data_dir.join("kubesim.json")),
        };
        let server = kubesim::Server::start(options).await?;
        let kubeconfig = data_dir.join("kubeconfig");
        tokio::fs::write(&kubeconfig, server.kubeconfig())
            .await
            .with_context(|| format!("cannot write {}", kubeconfig.display()))?;
        Ok(Kubernetes {
            kubeconfig,
            simulated: Some(server),
        })
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    pub(crate) fn describe(&self) -> String {
        let kubeconfig = self.kubeconfig.display();
        match &self.simulated {
            Some(server) => format!(
                "simulated at {}, kubectl --kubeconfig {kubeconfig}",
                server.url()
            ),
            None => format!("kubeconfig {kubeconfig}"),
        }
    }

    pub(crate) async fn close(self) {
        if let Some(server) = self.simulated {
            server.shutdown().await;
        }
    }
}
