//! An AMQP URL that never shows its password.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// `amqp://user:password@host:port/vhost`, printed, logged and serialised with the password
/// replaced by `***`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AmqpUrl(String);

impl AmqpUrl {
    /// Takes `amqp://` and `amqps://`.
    pub fn parse(url: &str) -> Result<Self, ConfigError> {
        let problem = match url.split_once("://") {
            Some(("amqp" | "amqps", rest)) if !rest.is_empty() => {
                return Ok(Self(url.to_owned()));
            }
            Some(("amqp" | "amqps", _)) => "the host is missing",
            _ => "must start with amqp:// or amqps://",
        };
        Err(ConfigError::invalid("broker.rabbitmq.url", problem))
    }

    /// From its parts, which may hold any character.
    pub(super) fn from_parts(
        (user, password): (&str, &str),
        (host, port): (&str, u16),
        vhost: &str,
    ) -> Self {
        let (user, password, vhost) = (escape(user), escape(password), escape(vhost));
        Self(format!("amqp://{user}:{password}@{host}:{port}/{vhost}"))
    }

    /// The URL with its password, for the connection alone.
    #[cfg_attr(
        not(feature = "rabbitmq"),
        expect(dead_code, reason = "only RabbitMQ connects by it")
    )]
    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AmqpUrl {
    /// Hides everything from the first colon to the last at sign: a password may hold both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("amqp", &self.0));
        let Some((credentials, address)) = rest.rsplit_once('@') else {
            return f.write_str(&self.0);
        };
        match credentials.split_once(':') {
            Some((user, _)) => write!(f, "{scheme}://{user}:***@{address}"),
            None => write!(f, "{scheme}://{credentials}@{address}"),
        }
    }
}

impl fmt::Debug for AmqpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl From<AmqpUrl> for String {
    fn from(url: AmqpUrl) -> Self {
        url.to_string()
    }
}

impl TryFrom<String> for AmqpUrl {
    type Error = ConfigError;

    fn try_from(url: String) -> Result<Self, Self::Error> {
        Self::parse(&url)
    }
}

impl JsonSchema for AmqpUrl {
    fn schema_name() -> Cow<'static, str> {
        "AmqpUrl".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "uri", "pattern": "^amqps?://"})
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
