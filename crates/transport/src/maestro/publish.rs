//! Events handed to Maestro, and what its refusals mean.

use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::{Code, Status};
use tonic_prost::ProstCodec;

use super::MaestroTransport;
use super::wire::{CloudEvent, PUBLISH, PublishRequest};
use crate::Failure;
use crate::kubernetes::reason;

impl MaestroTransport {
    /// Returns once Maestro has kept what the event says. Whether an agent acts on it, only a look tells.
    pub(super) async fn publish(&self, event: CloudEvent) -> Result<(), Failure> {
        let request = PublishRequest { event: Some(event) };
        self.patiently(|| self.publish_once(request.clone())).await
    }

    async fn publish_once(&self, request: PublishRequest) -> Result<(), Failure> {
        let silence = self.config.silence;
        let mut grpc = Grpc::new(self.connections.get().grpc.clone());
        let call = async {
            grpc.ready().await.map_err(|error| Failure::Unavailable {
                message: reason(&error),
            })?;
            let codec = ProstCodec::<PublishRequest, ()>::default();
            let path = PathAndQuery::from_static(PUBLISH);
            let answer = grpc.unary(tonic::Request::new(request), path, codec).await;
            answer.map(drop).map_err(|status| failure(&status))
        };
        match tokio::time::timeout(silence, call).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::Unavailable {
                message: format!("no answer to the event in {silence:?}"),
            }),
        }
    }
}

/// Maestro says what went wrong in words, under the code "unknown"; other codes are those of what lies between.
fn failure(status: &Status) -> Failure {
    if std::error::Error::source(status).is_some() {
        return Failure::Unavailable {
            message: reason(status),
        };
    }
    let message = status.message().to_owned();
    let has = |words: &str| message.contains(words);
    match status.code() {
        Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled | Code::Aborted => {
            Failure::Unavailable { message }
        }
        Code::Unauthenticated => Failure::Unauthorized { message },
        Code::PermissionDenied => Failure::Forbidden { message },
        Code::ResourceExhausted if has("larger than max") => invalid(message),
        Code::ResourceExhausted => Failure::TooManyRequests {
            retry_after: None,
            message,
        },
        Code::AlreadyExists => Failure::AlreadyExists { message },
        Code::NotFound => Failure::NotFound { message },
        Code::InvalidArgument => invalid(message),
        _ if has("already exists") => Failure::AlreadyExists { message },
        _ if has("not the latest") || has("under deletion") => Failure::Conflict {
            manager: None,
            fields: Vec::new(),
            message,
        },
        _ if has("unauthorized to publish") => Failure::Forbidden { message },
        _ if has("is invalid") => invalid(message),
        _ if has("not found") => Failure::NotFound { message },
        _ => Failure::Other {
            status: None,
            message,
        },
    }
}

fn invalid(message: String) -> Failure {
    Failure::Invalid {
        causes: Vec::new(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_in_words_becomes_one_that_can_be_acted_on() {
        let of = |words: &str| failure(&Status::unknown(words));
        assert!(matches!(
            of("failed to create resource: maestro-6: This Resource already exists"),
            Failure::AlreadyExists { .. }
        ));
        assert!(matches!(
            of(
                "failed to update resource: maestro-6: the resource version is not the latest, the latest version: 4"
            ),
            Failure::Conflict { .. }
        ));
        assert!(matches!(
            of("failed to create resource: maestro-8: the manifest in the resource is invalid, x"),
            Failure::Invalid { .. }
        ));
        assert!(matches!(
            of("unauthorized to publish the event from source a"),
            Failure::Forbidden { .. }
        ));
        assert!(matches!(of("something else"), Failure::Other { .. }));
        assert!(matches!(
            failure(&Status::unavailable("gone")),
            Failure::Unavailable { .. }
        ));
    }
}
