//! RabbitMQ, on a real server, and what only it can be asked.

mod faults;
mod interop;
mod killed;
mod outage;
mod proxy;
mod server;

use std::sync::{Arc, Mutex, OnceLock};

use hyperfleet_broker::config::{BrokerConfig, RabbitMqConfig};
use hyperfleet_broker::{Broker, Metrics};
use lapin::options::BasicPublishOptions;
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use libtest_mimic::Trial;

use self::server::Server;
use crate::bench::{Bench, BoxFuture, Fixture, Promise, promises_or_skip};

/// One server for all trials that leave it alone.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);
static URL: OnceLock<String> = OnceLock::new();

pub(crate) fn trials(common: Vec<Promise>) -> Vec<Trial> {
    let bench: Arc<dyn Bench> = Arc::new(RabbitMq);
    let mut all = common;
    all.extend(interop::promises());
    all.extend(faults::promises());
    all.extend(killed::promises());
    all.extend(outage::promises());
    promises_or_skip("rabbitmq", &bench, all, Server::unavailable())
}

pub(crate) use self::killed::victim;

/// Nothing may outlive the tests.
pub(crate) fn stop() {
    *SERVER.lock().unwrap() = None;
    outage::stop();
}

fn url() -> &'static str {
    URL.get_or_init(|| {
        let server = Server::start();
        let url = server.url().to_owned();
        *SERVER.lock().unwrap() = Some(server);
        url
    })
}

fn config(url: &str, change: impl FnOnce(&mut RabbitMqConfig)) -> BrokerConfig {
    let mut config = BrokerConfig::from_url(url).unwrap();
    change(config.rabbitmq.as_mut().unwrap());
    config
}

async fn connect(config: &BrokerConfig) -> Broker {
    let metrics = Metrics::new(Default::default()).unwrap();
    Broker::connect(config, metrics).await.unwrap()
}

/// What a program in another language would use.
async fn raw_channel() -> (Connection, Channel) {
    let connection = Connection::connect(url(), ConnectionProperties::default())
        .await
        .unwrap();
    let channel = connection.create_channel().await.unwrap();
    (connection, channel)
}

async fn publish_foreign(topic: String, body: Vec<u8>) {
    let (connection, channel) = raw_channel().await;
    channel.confirm_select(Default::default()).await.unwrap();
    // What dead-lettering on the server leaves behind.
    let mut headers = FieldTable::default();
    headers.insert("x-delivery-count".into(), AMQPValue::LongLongInt(3));
    let properties = BasicProperties::default().with_headers(headers);
    let options = BasicPublishOptions::default();
    let publishing = channel
        .basic_publish(topic.into(), "".into(), options, &body, properties)
        .await
        .unwrap();
    assert!(publishing.await.unwrap().is_ack());
    connection.close(200, "done".into()).await.unwrap();
}

struct RabbitMq;

impl Bench for RabbitMq {
    fn broker(&self, metrics: Metrics) -> BoxFuture<'_, Fixture> {
        Box::pin(async {
            let broker = Broker::connect(&config(url(), |_| {}), metrics)
                .await
                .unwrap();
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
