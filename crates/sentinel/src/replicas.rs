//! Where Sentinels find each other: replicas to share the work with, and strangers that watch the same.

use std::time::Duration;

use async_trait::async_trait;
use hyperfleet_client::{Client, StatusCode};
use hyperfleet_core::presence::{Announcement, Standing};
use uuid::Uuid;

/// Knows which Sentinels are there, and gives every shard to one of them at most.
#[async_trait]
pub trait Registrar: Send + Sync {
    /// Says that one is there, for as long as the announcement says, and what it wants to keep.
    async fn announce(&self, id: Uuid, said: &Announcement) -> Result<Standing, RegistrarError>;

    /// Says that one is gone: what it held is free.
    async fn withdraw(&self, id: Uuid) -> Result<(), RegistrarError>;
}

/// Why a registrar does not answer.
#[derive(Debug, thiserror::Error)]
pub enum RegistrarError {
    /// There is none, and asking again will not change that.
    #[error("this API keeps no list of Sentinels")]
    Absent,
    #[error("{0}")]
    Failed(String),
}

/// The API keeps the list, in its database and by its database's clock.
#[derive(Debug)]
pub(crate) struct ApiRegistrar {
    pub(crate) client: Client,
    pub(crate) timeout: Duration,
}

#[async_trait]
impl Registrar for ApiRegistrar {
    async fn announce(&self, id: Uuid, said: &Announcement) -> Result<Standing, RegistrarError> {
        let announced = self
            .client
            .announce_sentinel(&id.to_string(), said, self.timeout)
            .await;
        announced.map_err(|error| match error.status() {
            Some(StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => RegistrarError::Absent,
            _ => RegistrarError::Failed(error.to_string()),
        })
    }

    async fn withdraw(&self, id: Uuid) -> Result<(), RegistrarError> {
        let withdrawn = self
            .client
            .withdraw_sentinel(&id.to_string(), self.timeout)
            .await;
        withdrawn.map_err(|error| RegistrarError::Failed(error.to_string()))
    }
}
