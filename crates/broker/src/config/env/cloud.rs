//! The variables of the cloud brokers.

use hyperfleet_runtime::GoDuration;

use super::Variables;
use crate::config::pubsub::long_duration;
use crate::config::{ConfigError, PubSubConfig, SqsConfig};

impl Variables {
    /// Sets what the first of the variables that is there says.
    fn text(&self, names: &[&str], target: &mut Option<String>) {
        if let Some(text) = names.iter().find_map(|name| self.get(name)) {
            *target = Some(text.to_owned());
        }
    }

    fn number(&self, name: &str, target: &mut u32) -> Result<(), ConfigError> {
        *target = self.parse(name, "a number")?.unwrap_or(*target);
        Ok(())
    }

    fn flag(&self, name: &str, target: &mut bool) -> Result<(), ConfigError> {
        *target = self.parse_bool(name)?.unwrap_or(*target);
        Ok(())
    }

    fn duration(&self, name: &str, target: &mut Option<GoDuration>) -> Result<(), ConfigError> {
        let given = self.get(name).map(long_duration).transpose();
        let given = given.map_err(|problem| ConfigError::invalid(name, problem))?;
        *target = given.or(*target);
        Ok(())
    }

    pub(super) fn apply_pubsub(&self, settings: &mut PubSubConfig) -> Result<(), ConfigError> {
        let mut project = None;
        let names = ["BROKER_GOOGLEPUBSUB_PROJECT_ID", "BROKER_PROJECT_ID"];
        self.text(&names, &mut project);
        settings.project_id = project.unwrap_or_else(|| std::mem::take(&mut settings.project_id));
        self.text(&["PUBSUB_EMULATOR_HOST"], &mut settings.emulator_host);
        let name = |key: &str| format!("BROKER_GOOGLEPUBSUB_{key}");
        self.flag(
            &name("CREATE_TOPIC_IF_MISSING"),
            &mut settings.create_topic_if_missing,
        )?;
        self.flag(
            &name("CREATE_SUBSCRIPTION_IF_MISSING"),
            &mut settings.create_subscription_if_missing,
        )?;
        for (key, target) in [
            ("ACK_DEADLINE_SECONDS", &mut settings.ack_deadline_seconds),
            (
                "DEAD_LETTER_MAX_ATTEMPTS",
                &mut settings.dead_letter_max_attempts,
            ),
        ] {
            *target = self.parse(&name(key), "a number")?.or(*target);
        }
        for (key, target) in [
            (
                "MESSAGE_RETENTION_DURATION",
                &mut settings.message_retention_duration,
            ),
            ("EXPIRATION_TTL", &mut settings.expiration_ttl),
            ("RETRY_MIN_BACKOFF", &mut settings.retry_min_backoff),
            ("RETRY_MAX_BACKOFF", &mut settings.retry_max_backoff),
        ] {
            self.duration(&name(key), target)?;
        }
        self.number(
            &name("MAX_OUTSTANDING_MESSAGES"),
            &mut settings.max_outstanding_messages,
        )?;
        self.number(
            &name("MAX_OUTSTANDING_BYTES"),
            &mut settings.max_outstanding_bytes,
        )
    }

    pub(super) fn apply_sqs(&self, settings: &mut SqsConfig) -> Result<(), ConfigError> {
        self.text(
            &["BROKER_SQS_REGION", "BROKER_REGION"],
            &mut settings.region,
        );
        self.text(&["BROKER_SQS_ENDPOINT_URL"], &mut settings.endpoint_url);
        self.text(
            &["BROKER_SQS_TOPIC_ARN", "BROKER_TOPIC_ARN"],
            &mut settings.topic_arn,
        );
        self.text(
            &["BROKER_SQS_QUEUE_URL", "BROKER_QUEUE_URL"],
            &mut settings.queue_url,
        );
        self.flag(
            "BROKER_SQS_CREATE_IF_MISSING",
            &mut settings.create_if_missing,
        )?;
        self.number(
            "BROKER_SQS_VISIBILITY_TIMEOUT_SECONDS",
            &mut settings.visibility_timeout_seconds,
        )?;
        self.number(
            "BROKER_SQS_WAIT_TIME_SECONDS",
            &mut settings.wait_time_seconds,
        )?;
        self.number(
            "BROKER_SQS_MAX_RECEIVE_COUNT",
            &mut settings.max_receive_count,
        )
    }
}
