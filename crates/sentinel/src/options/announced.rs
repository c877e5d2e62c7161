//! By what a Sentinel decides, as it tells the API, and back: so that whoever asks why hears of the times that hold.

use hyperfleet_core::presence::Announcement;
use hyperfleet_runtime::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Decide, Options};

/// What decides when something is due, and nothing else: whoever may list Sentinels reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Decides {
    pub(super) backoff_not_ready: GoDuration,
    pub(super) backoff_ready: GoDuration,
    pub(super) jitter: f64,
    pub(super) poll_interval: GoDuration,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message_decision: Option<Decide>,
}

impl Decides {
    /// As an announcement carries it; nothing when the rules are longer than one may be.
    pub(super) fn told(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(told))
                if Value::Object(told.clone()).to_string().len() <= Announcement::MAX_DECIDES =>
            {
                told
            }
            _ => Map::new(),
        }
    }
}

impl Options {
    /// The options of a Sentinel of a kind that told this about itself; `None` if it told nothing, or nothing that is
    /// understood here.
    pub fn announced(resource_type: &str, told: &Map<String, Value>) -> Option<Options> {
        let decides: Decides = serde_json::from_value(Value::Object(told.clone())).ok()?;
        Some(Options {
            resource_type: Some(resource_type.to_owned()),
            backoff_not_ready: decides.backoff_not_ready,
            backoff_ready: decides.backoff_ready,
            jitter: decides.jitter,
            poll_interval: decides.poll_interval,
            message_decision: decides.message_decision,
            ..Options::default()
        })
    }
}
