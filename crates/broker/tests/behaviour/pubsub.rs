//! Google Pub/Sub, on the emulator, and what only it can be asked.

mod setup;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use google_cloud_auth::credentials::anonymous;
use google_cloud_pubsub::client::{Publisher, SubscriptionAdmin, TopicAdmin};
use google_cloud_pubsub::model::Message;
use hyperfleet_broker::config::{BrokerConfig, BrokerType, PubSubConfig};
use hyperfleet_broker::{Broker, Metrics};
use libtest_mimic::Trial;

use crate::bench::{Bench, BoxFuture, Fixture, Promise, promises_or_skip};
use crate::script::Script;

static SERVER: Script = Script::new("pubsub");

pub(crate) fn trials(common: Vec<Promise>) -> Vec<Trial> {
    let bench: Arc<dyn Bench> = Arc::new(PubSub);
    let (beyond, mut all): (Vec<_>, Vec<_>) = common
        .into_iter()
        .partition(|(name, _)| reason_to_skip(name).is_some());
    all.extend(setup::promises());
    let mut trials = promises_or_skip("pubsub", &bench, all, SERVER.unavailable());
    for promise in beyond {
        let reason = reason_to_skip(promise.0).map(str::to_owned);
        trials.extend(promises_or_skip("pubsub", &bench, vec![promise], reason));
    }
    trials
}

/// What Pub/Sub does and its emulator (0.8.20) does not.
fn reason_to_skip(promise: &str) -> Option<&'static str> {
    match promise {
        // Seen: after both connections of a consumer are gone, a message is kept from everybody
        // else for several ack deadlines, each of which counts as a delivery.
        "an_acked_message_is_not_delivered_again"
        | "a_subscription_keeps_its_messages_while_it_has_no_consumer"
        | "close_waits_for_deliveries_handed_out_and_leaves_the_rest"
        | "a_delayed_message_outlives_its_consumer"
        | "one_dead_letter_is_replayed_by_its_name_and_another_by_its_event"
        | "replayed_dead_letters_are_new_messages_for_their_subscription_alone" => {
            Some("the emulator goes on sending to consumers that are gone")
        }
        // Seen: of three messages none is left for others while one is unsettled at a limit of 1.
        "consumers_of_one_subscription_share_its_messages" => {
            Some("the emulator does not keep to max_outstanding_messages")
        }
        _ => None,
    }
}

pub(crate) fn stop() {
    SERVER.stop();
}

static PROJECTS: AtomicU64 = AtomicU64::new(0);

/// Subscriptions of one name in one project are one, so every trial has a project.
fn project() -> String {
    format!("trial-{}", PROJECTS.fetch_add(1, Ordering::Relaxed))
}

fn config(project: String, change: impl FnOnce(&mut PubSubConfig)) -> BrokerConfig {
    let mut pubsub = PubSubConfig {
        project_id: project,
        emulator_host: Some(SERVER.address().into()),
        create_topic_if_missing: true,
        create_subscription_if_missing: true,
        ack_deadline_seconds: Some(10),
        ..PubSubConfig::default()
    };
    change(&mut pubsub);
    BrokerConfig {
        kind: BrokerType::PubSub,
        pubsub: Some(pubsub),
        ..BrokerConfig::default()
    }
}

async fn connect(config: &BrokerConfig) -> Broker {
    let metrics = Metrics::new(Default::default()).unwrap();
    Broker::connect(config, metrics).await.unwrap()
}

fn endpoint() -> String {
    format!("http://{}", SERVER.address())
}

/// What a program in another language would use.
async fn raw_admin() -> (TopicAdmin, SubscriptionAdmin) {
    let keys = || anonymous::Builder::new().build();
    let topics = TopicAdmin::builder()
        .with_endpoint(endpoint())
        .with_credentials(keys());
    let subscriptions = SubscriptionAdmin::builder()
        .with_endpoint(endpoint())
        .with_credentials(keys());
    (
        topics.build().await.unwrap(),
        subscriptions.build().await.unwrap(),
    )
}

async fn publish_foreign(topic: String, body: Vec<u8>) {
    let keys = anonymous::Builder::new().build();
    let publisher = Publisher::builder(topic)
        .with_endpoint(endpoint())
        .with_credentials(keys);
    let publisher = publisher.build().await.unwrap();
    let message = Message::new().set_data(body);
    publisher.publish(message).await.unwrap();
}

struct PubSub;

impl Bench for PubSub {
    fn broker(&self, metrics: Metrics) -> BoxFuture<'_, Fixture> {
        Box::pin(async {
            let project = project();
            let config = config(project.clone(), |_| {});
            let broker = Broker::connect(&config, metrics).await.unwrap();
            let publish_raw = Box::new(move |topic, body| {
                let topic = format!("projects/{project}/topics/{topic}");
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
