//! The names of a subscription's topic and queues.

use crate::broker::BrokerError;
use crate::config::SqsConfig;

/// Of a queue; topics may have 256.
const LONGEST: usize = 80;

pub(super) struct Names {
    pub(super) topic: String,
    pub(super) subscription: String,
    pub(super) queue: String,
    pub(super) dead: String,
}

impl Names {
    pub(super) fn new(
        config: &SqsConfig,
        topic: &str,
        subscription: &str,
    ) -> Result<Self, BrokerError> {
        let queue = match &config.queue_url {
            Some(url) => url.rsplit('/').next().unwrap_or(url).to_owned(),
            None => aws_name(&format!("{topic}-{subscription}")),
        };
        let dead = format!("{queue}-dead");
        if dead.len() > LONGEST {
            return Err(BrokerError::Refused {
                action: format!("use the queue `{dead}`"),
                reason: format!(
                    "AWS allows {LONGEST} characters; choose a shorter topic or subscription"
                ),
            });
        }
        Ok(Self {
            topic: topic.to_owned(),
            subscription: subscription.to_owned(),
            queue,
            dead,
        })
    }
}

/// As AWS can write it.
pub(super) fn aws_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars()
        .map(|c| if allowed(c) { c } else { '-' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(config: &SqsConfig, topic: &str) -> Result<Names, BrokerError> {
        Names::new(config, topic, "dns")
    }

    #[test]
    fn names_are_written_as_aws_allows() {
        let names = names(&SqsConfig::default(), "hyperfleet.clusters.changed.v1").unwrap();
        assert_eq!(names.queue, "hyperfleet-clusters-changed-v1-dns");
        assert_eq!(names.dead, "hyperfleet-clusters-changed-v1-dns-dead");
    }

    #[test]
    fn a_name_that_is_too_long_is_refused_with_the_limit() {
        let error = names(&SqsConfig::default(), &"x".repeat(72)).err().unwrap();
        assert!(error.to_string().contains("80 characters"), "{error}");
    }

    #[test]
    fn a_plain_queue_keeps_its_name_whatever_the_topic() {
        let config = SqsConfig {
            queue_url: Some("https://sqs.us-east-1.amazonaws.com/1/events".into()),
            ..SqsConfig::default()
        };
        let names = names(&config, "ignored").unwrap();
        assert_eq!(
            (names.queue.as_str(), names.dead.as_str()),
            ("events", "events-dead")
        );
    }
}
