//! The environment variables: those of the Go library (`BROKER_RABBITMQ_URL`) and the shorter ones
//! of the documents (`BROKER_HOST`).

mod cloud;

use std::collections::BTreeMap;
use std::str::FromStr;

use super::{AmqpUrl, BrokerConfig, BrokerType, ConfigError, ExchangeType, RabbitMqConfig};

impl BrokerConfig {
    /// Lets the variables win over what is configured already. An empty variable counts as unset.
    pub fn apply_env(
        &mut self,
        env: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        let env = Variables(
            env.into_iter()
                .filter(|(_, value)| !value.is_empty())
                .collect(),
        );
        if let Some(kind) = env.get("BROKER_TYPE") {
            self.kind = kind.parse()?;
        }
        if let Some(parallelism) = env.parse("SUBSCRIBER_PARALLELISM", "a number")? {
            self.subscriber.parallelism = parallelism;
        }
        if let Some(log_config) = env.parse_bool("LOG_CONFIG")? {
            self.log_config = log_config;
        }
        if let Some(url) = env.amqp_url()? {
            match &mut self.rabbitmq {
                Some(settings) => settings.url = url,
                settings => *settings = Some(RabbitMqConfig::new(url)),
            }
        }
        if let Some(settings) = &mut self.rabbitmq {
            env.apply_rabbitmq(settings)?;
        }
        if self.kind == BrokerType::PubSub || self.pubsub.is_some() {
            env.apply_pubsub(self.pubsub.get_or_insert_default())?;
        }
        if self.kind == BrokerType::Sqs || self.sqs.is_some() {
            env.apply_sqs(self.sqs.get_or_insert_default())?;
        }
        Ok(())
    }
}

struct Variables(BTreeMap<String, String>);

impl Variables {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn parse<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, ConfigError> {
        match self.get(name).map(str::parse) {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(_)) => Err(ConfigError::invalid(name, format!("is not {expected}"))),
        }
    }

    fn parse_bool(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.get(name).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true" | "1" | "t") => Ok(Some(true)),
            Some("false" | "0" | "f") => Ok(Some(false)),
            Some(_) => Err(ConfigError::invalid(name, "is neither true nor false")),
        }
    }

    /// The whole URL wins over its parts.
    fn amqp_url(&self) -> Result<Option<AmqpUrl>, ConfigError> {
        if let Some(url) = self.get("BROKER_RABBITMQ_URL") {
            return AmqpUrl::parse(url).map(Some);
        }
        let Some(host) = self.get("BROKER_HOST") else {
            return Ok(None);
        };
        let port = self.parse("BROKER_PORT", "a port number")?.unwrap_or(5672);
        let user = self.get("BROKER_USERNAME").unwrap_or("guest");
        let password = self.get("BROKER_PASSWORD").unwrap_or("guest");
        let vhost = self.get("BROKER_VHOST").unwrap_or("/");
        Ok(Some(AmqpUrl::from_parts(
            (user, password),
            (host, port),
            vhost,
        )))
    }

    fn apply_rabbitmq(&self, settings: &mut RabbitMqConfig) -> Result<(), ConfigError> {
        let text = |names: [&str; 2]| names.into_iter().find_map(|name| self.get(name));
        if let Some(exchange) = text(["BROKER_RABBITMQ_EXCHANGE", "BROKER_EXCHANGE"]) {
            settings.exchange = Some(exchange.to_owned());
        }
        if let Some(ty) = text(["BROKER_RABBITMQ_EXCHANGE_TYPE", "BROKER_EXCHANGE_TYPE"]) {
            settings.exchange_type = exchange_type(ty)?;
        }
        if let Some(queue) = self.get("BROKER_RABBITMQ_QUEUE") {
            settings.queue = Some(queue.to_owned());
        }
        if let Some(name) = self.get("BROKER_QUEUE_NAME") {
            settings.queue_name = Some(name.to_owned());
        }
        if let Some(key) = self.get("BROKER_RABBITMQ_ROUTING_KEY") {
            settings.routing_key = key.to_owned();
        }
        if let Some(count) = self.parse("BROKER_RABBITMQ_PREFETCH_COUNT", "a number up to 65535")? {
            settings.prefetch_count = count;
        }
        if let Some(tag) = self.get("BROKER_RABBITMQ_CONSUMER_TAG") {
            settings.consumer_tag = Some(tag.to_owned());
        }
        if let Some(confirm) = self.parse_bool("BROKER_RABBITMQ_PUBLISHER_CONFIRM")? {
            settings.publisher_confirm = confirm;
        }
        Ok(())
    }
}

fn exchange_type(text: &str) -> Result<ExchangeType, ConfigError> {
    match text.to_ascii_lowercase().as_str() {
        "fanout" => Ok(ExchangeType::Fanout),
        "topic" => Ok(ExchangeType::Topic),
        "direct" => Ok(ExchangeType::Direct),
        "headers" => Ok(ExchangeType::Headers),
        _ => Err(ConfigError::invalid(
            "broker.rabbitmq.exchange_type",
            format!("`{text}` is none of fanout, topic, direct, headers"),
        )),
    }
}
