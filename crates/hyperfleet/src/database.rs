//! The database of a process: the one that is configured, else one of our own.

use std::path::Path;

use anyhow::Result;
use hyperfleet_api::DatabaseConfig;
use hyperfleet_store::{PrivateServer, Store};

/// A connected store, and the private server behind it if it is ours.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) store: Store,
    private: Option<PrivateServer>,
}

impl Database {
    pub(crate) async fn open(config: &DatabaseConfig, data_dir: &Path) -> Result<Database> {
        let options = config.options();
        if let Some(target) = config.target()? {
            let store = Store::connect(&target, &options).await?;
            return Ok(Database {
                store,
                private: None,
            });
        }
        let server = PrivateServer::start(data_dir).await?;
        match Store::connect(&server.target(), &options).await {
            Ok(store) => Ok(Database {
                store,
                private: Some(server),
            }),
            Err(error) => {
                server.stop().await;
                Err(error.into())
            }
        }
    }

    /// What to tell people about it.
    pub(crate) fn describe(&self) -> String {
        match &self.private {
            Some(server) => format!("private, psql '{}'", server.url()),
            None => self.store.server().to_owned(),
        }
    }

    /// Closes every connection, then stops the server if it is ours.
    pub(crate) async fn close(self) {
        self.store.close().await;
        if let Some(server) = self.private {
            server.stop().await;
        }
    }
}
