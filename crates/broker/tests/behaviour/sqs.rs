//! SNS and SQS, on moto, and what only they can be asked.

mod leases;
mod setup;

use std::sync::Arc;

use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_smithy_http_client::Builder;
use hyperfleet_broker::config::{BrokerConfig, BrokerType, SqsConfig};
use hyperfleet_broker::{Broker, Metrics};
use libtest_mimic::Trial;

use crate::bench::{Bench, BoxFuture, Fixture, Promise, promises_or_skip};
use crate::script::Script;

static SERVER: Script = Script::new("moto");

pub(crate) fn trials(common: Vec<Promise>) -> Vec<Trial> {
    let bench: Arc<dyn Bench> = Arc::new(Sqs);
    let mut all = common;
    all.extend(leases::promises());
    all.extend(setup::promises());
    promises_or_skip("sqs", &bench, all, SERVER.unavailable())
}

pub(crate) fn stop() {
    SERVER.stop();
}

fn config(change: impl FnOnce(&mut SqsConfig)) -> BrokerConfig {
    let mut sqs = SqsConfig {
        region: Some("us-east-1".into()),
        endpoint_url: Some(SERVER.address().into()),
        access_key_id: Some("test".into()),
        secret_access_key: Some("test".into()),
        create_if_missing: true,
        wait_time_seconds: 1,
        ..SqsConfig::default()
    };
    change(&mut sqs);
    BrokerConfig {
        kind: BrokerType::Sqs,
        sqs: Some(sqs),
        ..BrokerConfig::default()
    }
}

async fn connect(config: &BrokerConfig) -> Broker {
    let metrics = Metrics::new(Default::default()).unwrap();
    Broker::connect(config, metrics).await.unwrap()
}

/// What a program in another language would use.
fn raw() -> (aws_sdk_sns::Client, aws_sdk_sqs::Client) {
    let keys = || Credentials::new("test", "test", None, None, "test");
    let (address, http) = (SERVER.address(), Builder::new().build_http());
    let sns = aws_sdk_sns::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http.clone())
        .region(Region::new("us-east-1"))
        .endpoint_url(address)
        .credentials_provider(keys());
    let sqs = aws_sdk_sqs::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http)
        .region(Region::new("us-east-1"))
        .endpoint_url(address)
        .credentials_provider(keys());
    (
        aws_sdk_sns::Client::from_conf(sns.build()),
        aws_sdk_sqs::Client::from_conf(sqs.build()),
    )
}

async fn publish_foreign(topic: String, body: Vec<u8>) {
    let (sns, _) = raw();
    let arn = sns.create_topic().name(topic).send().await.unwrap();
    let message = String::from_utf8(body).unwrap();
    let publishing = sns.publish().topic_arn(arn.topic_arn.unwrap());
    publishing.message(message).send().await.unwrap();
}

struct Sqs;

impl Bench for Sqs {
    fn broker(&self, metrics: Metrics) -> BoxFuture<'_, Fixture> {
        Box::pin(async {
            let broker = Broker::connect(&config(|_| {}), metrics).await.unwrap();
            let publish_raw = Box::new(|topic, body| {
                Box::pin(publish_foreign(topic, body)) as BoxFuture<'static, ()>
            });
            Fixture {
                broker,
                publish_raw,
            }
        })
    }

    fn simulated_time(&self) -> bool {
        false
    }
}
