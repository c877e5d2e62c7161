//! Finding topics and queues by their names, and creating them where that is asked for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use aws_sdk_sqs::types::QueueAttributeName as Attribute;
use serde_json::{Value, json};

use super::client::{Aws, Trouble};
use super::names::{Names, aws_name};
use crate::config::SqsConfig;

/// Fourteen days, the most SQS keeps a message.
const RETENTION_SECONDS: &str = "1209600";

/// The queues of one subscription, by URL.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    pub(super) main: String,
    pub(super) dead: String,
}

pub(super) struct Places {
    pub(super) aws: Aws,
    config: SqsConfig,
    topics: Mutex<HashMap<String, String>>,
}

impl Places {
    pub(super) fn new(aws: Aws, config: SqsConfig) -> Self {
        Self {
            aws,
            config,
            topics: Mutex::default(),
        }
    }

    pub(super) fn config(&self) -> &SqsConfig {
        &self.config
    }

    /// The ARN of a topic.
    pub(super) async fn topic(&self, topic: &str) -> Result<String, Trouble> {
        if let Some(arn) = &self.config.topic_arn {
            return Ok(arn.clone());
        }
        if topic.is_empty() {
            return Err(Trouble::refused("the topic is empty"));
        }
        let known = |topics: &Mutex<HashMap<String, String>>| {
            let topics = topics.lock().unwrap_or_else(PoisonError::into_inner);
            topics.get(topic).cloned()
        };
        if let Some(arn) = known(&self.topics) {
            return Ok(arn);
        }
        let arn = match self.config.create_if_missing {
            true => self.create_topic(topic).await?,
            false => self.find_topic(topic).await?,
        };
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        topics.insert(topic.to_owned(), arn.clone());
        Ok(arn)
    }

    /// Creating a topic that exists finds it.
    async fn create_topic(&self, topic: &str) -> Result<String, Trouble> {
        let created = self.aws.sns.create_topic().name(aws_name(topic)).send();
        let arn = created.await?.topic_arn;
        arn.ok_or_else(|| Trouble::refused("SNS created a topic without an ARN"))
    }

    /// SNS cannot be asked for a name, only for all there are; once per topic and process.
    async fn find_topic(&self, topic: &str) -> Result<String, Trouble> {
        let ending = format!(":{}", aws_name(topic));
        let mut pages = self.aws.sns.list_topics().into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = page?;
            let mut arns = page.topics().iter().filter_map(|topic| topic.topic_arn());
            if let Some(arn) = arns.find(|arn| arn.ends_with(&ending)) {
                return Ok(arn.to_owned());
            }
        }
        Err(Trouble::refused(format!(
            "there is no SNS topic `{}`: create it, name it by `broker.sqs.topic_arn`, or set \
             `broker.sqs.create_if_missing`",
            aws_name(topic)
        )))
    }

    /// A subscription's queues, created where they may be; `None` when there is no such queue.
    pub(super) async fn find(&self, names: &Names) -> Result<Option<Queues>, Trouble> {
        let main = match &self.config.queue_url {
            Some(url) => Some(url.clone()),
            None => self.queue(&names.queue).await?,
        };
        let Some(main) = main else { return Ok(None) };
        // Of an existing queue the redrive policy says where its dead letters go.
        let dead = match self.redrive_target(&main).await? {
            Some(name) => self.queue(&name).await?,
            None => self.queue(&names.dead).await?,
        };
        let dead = dead.ok_or_else(|| {
            Trouble::refused(format!(
                "queue `{}` has no queue for dead letters: create `{}`, or give it a redrive policy",
                names.queue, names.dead
            ))
        })?;
        Ok(Some(Queues { main, dead }))
    }

    pub(super) async fn find_or_create(&self, names: &Names) -> Result<Queues, Trouble> {
        if !self.config.create_if_missing {
            let missing = || {
                Trouble::refused(format!(
                    "there is no queue `{}`: create it and subscribe it to the topic with raw message \
                     delivery, or set `broker.sqs.create_if_missing`",
                    names.queue
                ))
            };
            return self.find(names).await?.ok_or_else(missing);
        }
        let dead = self.create(&names.dead, HashMap::new()).await?;
        let main = match &self.config.queue_url {
            Some(url) => url.clone(),
            None => self.create_main(names, &dead).await?,
        };
        Ok(Queues { main, dead })
    }

    async fn create_main(&self, names: &Names, dead: &str) -> Result<String, Trouble> {
        let redrive = json!({
            "deadLetterTargetArn": self.arn(dead).await?,
            "maxReceiveCount": self.config.max_receive_count.to_string(),
        });
        let timeout = self.config.visibility_timeout_seconds.to_string();
        let attributes = [
            (Attribute::RedrivePolicy, redrive.to_string()),
            (Attribute::VisibilityTimeout, timeout),
        ];
        let main = self.create(&names.queue, attributes.into()).await?;
        let (queue, topic) = (self.arn(&main).await?, self.topic(&names.topic).await?);
        let policy = json!({
            "Version": "2012-10-17",
            "Statement": [{
                "Effect": "Allow",
                "Principal": {"Service": "sns.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": queue,
                "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
            }],
        });
        let allowing = self.aws.sqs.set_queue_attributes().queue_url(&main);
        let allowing = allowing.attributes(Attribute::Policy, policy.to_string());
        allowing.send().await?;
        let subscribing = self.aws.sns.subscribe().topic_arn(topic).protocol("sqs");
        let subscribing = subscribing
            .endpoint(queue)
            .attributes("RawMessageDelivery", "true");
        subscribing.send().await?;
        Ok(main)
    }

    /// One that exists is taken as it is.
    async fn create(
        &self,
        name: &str,
        attributes: HashMap<Attribute, String>,
    ) -> Result<String, Trouble> {
        if let Some(url) = self.queue(name).await? {
            return Ok(url);
        }
        let creating = self.aws.sqs.create_queue().queue_name(name);
        let creating = creating
            .set_attributes(Some(attributes))
            .attributes(Attribute::MessageRetentionPeriod, RETENTION_SECONDS);
        let url = creating.send().await?.queue_url;
        url.ok_or_else(|| Trouble::refused("SQS created a queue without a URL"))
    }

    async fn queue(&self, name: &str) -> Result<Option<String>, Trouble> {
        match self.aws.sqs.get_queue_url().queue_name(name).send().await {
            Ok(found) => Ok(found.queue_url),
            Err(error) => match Trouble::from(error) {
                trouble if trouble.is_missing() => Ok(None),
                trouble => Err(trouble),
            },
        }
    }

    async fn attribute(&self, url: &str, name: Attribute) -> Result<Option<String>, Trouble> {
        let asking = self.aws.sqs.get_queue_attributes().queue_url(url);
        let answer = asking.attribute_names(name.clone()).send().await?;
        Ok(answer.attributes.and_then(|mut all| all.remove(&name)))
    }

    async fn arn(&self, url: &str) -> Result<String, Trouble> {
        let arn = self.attribute(url, Attribute::QueueArn).await?;
        arn.ok_or_else(|| Trouble::refused(format!("SQS does not tell the ARN of {url}")))
    }

    /// The name of the queue that the redrive policy points to.
    async fn redrive_target(&self, url: &str) -> Result<Option<String>, Trouble> {
        let Some(policy) = self.attribute(url, Attribute::RedrivePolicy).await? else {
            return Ok(None);
        };
        let policy: Value = serde_json::from_str(&policy).unwrap_or_default();
        let arn = policy["deadLetterTargetArn"].as_str();
        Ok(arn
            .and_then(|arn| arn.rsplit(':').next())
            .map(str::to_owned))
    }
}
