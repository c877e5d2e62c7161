use hyperfleet_runtime::Secret;
use serde_json::json;

use super::*;

fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

#[cfg(feature = "rabbitmq")]
#[test]
fn a_file_written_for_the_go_library_is_read() {
    let file: BrokerFile = serde_json::from_value(json!({
        "log_config": true,
        "broker": {
            "type": "rabbitmq",
            "topic": "ignored by the library too",
            "rabbitmq": {
                "url": "amqp://guest:guest@rabbitmq:5672/", "exchange_type": "topic",
                "prefetch_count": 10, "prefetch_size": 0, "publisher_confirm": true,
            },
        },
        "subscriber": {"parallelism": 4},
    }))
    .unwrap();
    let config = BrokerConfig::from(file);
    config.validate().unwrap();
    assert_eq!(config.kind, BrokerType::RabbitMq);
    assert_eq!(config.subscribe_options().concurrency, 4);
    assert!(config.log_config);
    assert_eq!(config.without_effect(), ["topic"]);
    let rabbitmq = config.rabbitmq.unwrap();
    assert_eq!(rabbitmq.exchange_type, ExchangeType::Topic);
    assert_eq!(rabbitmq.exchange_of("clusters"), "clusters");
    assert_eq!(rabbitmq.queue_of("clusters", "dns"), "clusters-dns");
}

#[cfg(feature = "rabbitmq")]
#[test]
fn a_password_with_any_character_is_never_shown() {
    let config = BrokerConfig::from_url("amqp://me:s3@c:r/et@host:5672/%2f").unwrap();
    let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
    assert!(shown.contains("amqp://me:***@host:5672/%2f"), "{shown}");
    assert!(!shown.contains("s3") && !shown.contains("et@"), "{shown}");
}

#[cfg(feature = "rabbitmq")]
#[test]
fn the_variables_of_the_documents_build_the_url() {
    let mut config = BrokerConfig::default();
    config
        .apply_env(env(&[
            ("BROKER_TYPE", "rabbitmq"),
            ("BROKER_HOST", "mq.example"),
            ("BROKER_PORT", "5673"),
            ("BROKER_USERNAME", "me"),
            ("BROKER_PASSWORD", "p@ss/word"),
            ("BROKER_QUEUE_NAME", "my-queue"),
            ("BROKER_EXCHANGE", "events"),
            ("BROKER_EXCHANGE_TYPE", "topic"),
            ("BROKER_RABBITMQ_PREFETCH_COUNT", ""),
        ]))
        .unwrap();
    let rabbitmq = config.rabbitmq.unwrap();
    let expected = AmqpUrl::parse("amqp://me:p%40ss%2Fword@mq.example:5673/%2F").unwrap();
    assert_eq!(rabbitmq.url, expected);
    assert_eq!(rabbitmq.queue_of("clusters", "dns"), "my-queue");
    assert_eq!(rabbitmq.exchange_of("clusters"), "events");
    assert_eq!(rabbitmq.exchange_type, ExchangeType::Topic);
}

#[cfg(feature = "rabbitmq")]
#[test]
fn variables_win_over_the_file_and_the_url_over_its_parts() {
    let mut config = BrokerConfig::from_url("amqp://file").unwrap();
    config
        .apply_env(env(&[
            ("BROKER_RABBITMQ_URL", "amqp://env"),
            ("BROKER_HOST", "part"),
            ("BROKER_RABBITMQ_PUBLISHER_CONFIRM", "false"),
            ("SUBSCRIBER_PARALLELISM", "7"),
        ]))
        .unwrap();
    let rabbitmq = config.rabbitmq.unwrap();
    assert_eq!(rabbitmq.url, AmqpUrl::parse("amqp://env").unwrap());
    assert!(!rabbitmq.publisher_confirm);
    assert_eq!(config.subscriber.parallelism, 7);
}

#[test]
fn a_value_that_cannot_be_used_names_its_key_and_not_its_content() {
    let mut config = BrokerConfig::default();
    let cases = [
        (("BROKER_RABBITMQ_URL", "http://u:secret@h"), "amqp://"),
        (
            ("SUBSCRIBER_PARALLELISM", "many-secret"),
            "SUBSCRIBER_PARALLELISM",
        ),
    ];
    for (pair, expected) in cases {
        let error = config.apply_env(env(&[pair])).unwrap_err().to_string();
        assert!(
            error.contains(expected) && !error.contains("secret"),
            "{error}"
        );
    }
}

#[test]
fn an_unknown_broker_is_refused_with_the_known_ones() {
    let error = serde_json::from_value::<BrokerConfig>(json!({"type": "kafka"})).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`kafka` is unknown; known: memory, rabbitmq")
            && error.to_string().contains("sqs"),
        "{error}"
    );
}

#[cfg(feature = "rabbitmq")]
#[test]
fn rabbitmq_without_a_url_says_how_to_set_it() {
    let config: BrokerConfig = serde_json::from_value(json!({"type": "rabbitmq"})).unwrap();
    let error = config.validate().unwrap_err().to_string();
    assert!(error.contains("BROKER_RABBITMQ_URL"), "{error}");
}

#[test]
fn urls_choose_the_broker() {
    assert_eq!(
        BrokerConfig::from_url("memory://").unwrap().kind,
        BrokerType::Memory
    );
    #[cfg(feature = "rabbitmq")]
    assert_eq!(
        BrokerConfig::from_url("amqps://h").unwrap().kind,
        BrokerType::RabbitMq
    );
    assert!(BrokerConfig::from_url("kafka://h").is_err());
    assert!(BrokerConfig::from_url("amqp://").is_err());
}

#[test]
fn an_unknown_key_is_refused() {
    for (file, key) in [
        (json!({"broker": {"tpye": "memory"}}), "tpye"),
        (json!({"brokers": {}}), "brokers"),
        (json!({"broker": {"sqs": {"regoin": "x"}}}), "regoin"),
        (json!({"broker": {"pubsub": {"project": "x"}}}), "project"),
    ] {
        let error = serde_json::from_value::<BrokerFile>(file).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("unknown field `{key}`")),
            "{error}"
        );
    }
}

#[cfg(feature = "pubsub")]
#[test]
fn the_variables_of_the_documents_reach_pubsub() {
    let mut config = BrokerConfig::default();
    let pairs = [
        ("BROKER_TYPE", "pubsub"),
        ("BROKER_PROJECT_ID", "hyperfleet-prod"),
    ];
    config.apply_env(env(&pairs)).unwrap();
    config.validate().unwrap();
    assert_eq!(config.kind, BrokerType::PubSub);
    assert_eq!(config.pubsub.unwrap().project_id, "hyperfleet-prod");
}

#[cfg(feature = "pubsub")]
#[test]
fn a_pubsub_file_written_for_the_go_library_is_read() {
    let file: BrokerFile = serde_json::from_value(json!({
        "broker": {
            "type": "googlepubsub",
            "googlepubsub": {
                "project_id": "p", "ack_deadline_seconds": 60, "message_retention_duration": "7d",
                "expiration_ttl": "31d", "dead_letter_topic": "x", "num_goroutines": 10,
                "retry_min_backoff": "10s", "retry_max_backoff": "600s",
                "create_topic_if_missing": true,
            },
        },
    }))
    .unwrap();
    let config = BrokerConfig::from(file);
    config.validate().unwrap();
    assert_eq!(
        config.without_effect(),
        ["dead_letter_topic", "num_goroutines"]
    );
    let pubsub = config.pubsub.unwrap();
    let kept = pubsub.message_retention_duration.unwrap().get();
    assert_eq!(kept.as_secs(), 7 * 86_400);
    assert!(pubsub.create_topic_if_missing && !pubsub.create_subscription_if_missing);
}

#[cfg(feature = "pubsub")]
#[test]
fn pubsub_settings_google_would_refuse_are_refused_here() {
    for (key, value) in [
        ("ack_deadline_seconds", json!(5)),
        ("dead_letter_max_attempts", json!(101)),
        ("message_retention_duration", json!("5m")),
        ("expiration_ttl", json!("1h")),
        ("retry_min_backoff", json!("601s")),
    ] {
        let config: BrokerConfig = serde_json::from_value(
            json!({"type": "pubsub", "pubsub": {"project_id": "p", key: value}}),
        )
        .unwrap();
        let error = config.validate().unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[cfg(feature = "sqs")]
#[test]
fn the_variables_of_the_documents_reach_sqs() {
    let mut config = BrokerConfig::default();
    let queue = "https://sqs.us-east-1.amazonaws.com/123456789012/hyperfleet-cluster-events";
    let pairs = [
        ("BROKER_TYPE", "awsSqs"),
        ("BROKER_REGION", "us-east-1"),
        ("BROKER_QUEUE_URL", queue),
    ];
    config.apply_env(env(&pairs)).unwrap();
    config.validate().unwrap();
    assert_eq!(config.kind, BrokerType::Sqs);
    let sqs = config.sqs();
    assert_eq!(
        (sqs.region.as_deref(), sqs.queue_url.as_deref()),
        (Some("us-east-1"), Some(queue))
    );
}

#[test]
fn the_secret_key_is_never_shown() {
    let config = BrokerConfig {
        sqs: Some(SqsConfig {
            access_key_id: Some("id".into()),
            secret_access_key: Some(Secret::from("sekret")),
            ..SqsConfig::default()
        }),
        ..BrokerConfig::default()
    };
    let shown = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
    assert!(
        shown.contains("REDACTED") && !shown.contains("sekret"),
        "{shown}"
    );
}

#[cfg(not(feature = "sqs"))]
#[test]
fn a_broker_that_is_not_built_in_says_which_feature_brings_it() {
    let error = "sqs".parse::<BrokerType>().unwrap_err().to_string();
    assert!(error.contains("cargo feature `sqs`"), "{error}");
}
