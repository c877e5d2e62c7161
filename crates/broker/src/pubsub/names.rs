//! The full names of a subscription's topics and subscriptions.

/// A topic and a subscription of the same name, for one consumer group alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) topic: String,
    pub(super) subscription: String,
}

pub(super) struct Names {
    /// As the caller says it.
    pub(super) topic: String,
    pub(super) subscription: String,
    /// What everybody publishes to, and what this consumer group reads.
    pub(super) main: Pair,
    /// Messages waiting for their next delivery.
    pub(super) retry: Pair,
    /// Messages given up on.
    pub(super) dead: Pair,
}

impl Names {
    pub(super) fn new(project: &str, topic: &str, subscription: &str) -> Self {
        let pair = |topic: &str, subscription: &str| Pair {
            topic: topic_name(project, topic),
            subscription: format!("projects/{project}/subscriptions/{subscription}"),
        };
        let own = |ending: &str| {
            let name = format!("{subscription}-{ending}");
            pair(&name, &name)
        };
        Self {
            topic: topic.to_owned(),
            subscription: subscription.to_owned(),
            main: pair(topic, subscription),
            retry: own("retry"),
            dead: own("dlq"),
        }
    }
}

pub(super) fn topic_name(project: &str, topic: &str) -> String {
    format!("projects/{project}/topics/{topic}")
}
