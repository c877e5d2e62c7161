//! Reaching the server.

use std::sync::Arc;
use std::time::Duration;

use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{Connection, ConnectionProperties, ErrorKind};
use tokio::time::timeout;

use crate::config::{AmqpUrl, ConfigError};

/// For the TCP connection and the handshake together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// For connecting and everything that is asked on a new connection. A server that is only starting takes connections and
/// may never answer.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Seconds between signs of life, unless the URL says otherwise. The server's own default of 60
/// leaves a dead peer unseen for two minutes.
const HEARTBEAT: u16 = 10;

/// Bytes of a frame, unless the URL says otherwise; longer messages go in several. A connection holds room for 64 of
/// the largest: 8 MiB with the server's own limit of 128 KiB, and no message of ours is longer than a few KiB.
const FRAME_MAX: u32 = 16 << 10;

/// Where the server is; cheap to clone.
#[derive(Clone)]
pub(super) struct Server {
    uri: Arc<AMQPUri>,
    shown: AmqpUrl,
}

impl Server {
    pub(super) fn new(url: &AmqpUrl) -> Result<Self, ConfigError> {
        // The parser's own message may repeat parts of the URL, and with them the password.
        let mut uri: AMQPUri = url.secret().parse().map_err(|_| ConfigError::Invalid {
            key: "broker.rabbitmq.url".to_owned(),
            problem: "is not amqp://user:password@host:port/vhost; characters with a meaning in \
                      URLs must be percent-encoded"
                .to_owned(),
        })?;
        if uri.scheme == AMQPScheme::AMQPS && !cfg!(feature = "rabbitmq-tls") {
            return Err(ConfigError::MissingFeature {
                kind: "rabbitmq with amqps://",
                feature: "rabbitmq-tls",
            });
        }
        // `amqp://host/` names the empty virtual host by the letter; Go clients, and everyone who
        // writes it, mean the default one.
        if uri.vhost.is_empty() {
            uri.vhost = "/".to_owned();
        }
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        uri.query.frame_max.get_or_insert(FRAME_MAX);
        Ok(Self {
            uri: Arc::new(uri),
            shown: url.clone(),
        })
    }

    pub(super) async fn connect(&self, name: &str) -> Result<Connection, String> {
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let connecting = Connection::connect_uri(self.uri.as_ref().clone(), properties);
        let failure = match timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {CONNECT_TIMEOUT:?}"),
        };
        Err(format!("cannot connect to {}: {failure}", self.shown))
    }
}

/// Whether the server refused the request itself: it would do so again, on any connection.
pub(super) fn is_refusal(error: &lapin::Error) -> bool {
    matches!(error.kind(), ErrorKind::ProtocolError(_)) && error.is_amqp_soft_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Result<Server, ConfigError> {
        Server::new(&AmqpUrl::parse(url).unwrap())
    }

    #[test]
    fn a_url_that_cannot_be_read_does_not_show_its_password() {
        for url in ["amqp://u:secret@host:port/", "amqp://u:se%zzcret@[::1"] {
            let error = server(url).err().unwrap().to_string();
            assert!(
                !error.contains("secret") && !error.contains("se%"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_url_without_a_virtual_host_means_the_default_one() {
        for url in ["amqp://h", "amqp://h/", "amqp://h/%2f"] {
            assert_eq!(server(url).unwrap().uri.vhost, "/", "{url}");
        }
        assert_eq!(server("amqp://h/dev").unwrap().uri.vhost, "dev");
    }

    #[test]
    fn the_url_may_choose_the_heartbeat_and_the_size_of_frames() {
        let chosen = |url| {
            let query = server(url).unwrap().uri.query.clone();
            (query.heartbeat, query.frame_max)
        };
        let usual = (Some(HEARTBEAT), Some(FRAME_MAX));
        assert_eq!(chosen("amqp://h"), usual);
        assert_eq!(
            chosen("amqp://h/%2f?heartbeat=30&frame_max=4096"),
            (Some(30), Some(4096))
        );
    }

    #[cfg(not(feature = "rabbitmq-tls"))]
    #[test]
    fn tls_without_its_cargo_feature_says_which_one_is_missing() {
        let error = server("amqps://h").err().unwrap().to_string();
        assert!(error.contains("cargo feature `rabbitmq-tls`"), "{error}");
    }
}
