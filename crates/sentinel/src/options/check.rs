//! From what was written to what runs: one plan per kind, or a message that names the key.

use std::path::PathBuf;
use std::time::Duration;

use hyperfleet_client::{Auth, BuildError, Client, ClientConfig, ListQuery, TokenFrom};
use hyperfleet_core::due::Backoff;
use hyperfleet_core::label;
use hyperfleet_core::list::PageRequest;
use hyperfleet_core::presence::Announcement;
use hyperfleet_core::shard::Shards;

use super::announced::Decides;
use super::{Decide, DecisionRules, KindOptions, Options, Replicas, Selector};
use crate::decision::{Decision, Jitter, Rules, RulesError};
use crate::event::EventForm;
use crate::payload::{Payload, PayloadError};
use crate::projection::Projection;
use crate::selector;

/// What is wrong with the options.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// Something must be given.
    #[error("{key} is required; give it as {ways}")]
    Required {
        /// The key in the file.
        key: &'static str,
        /// Flag, variable and file.
        ways: &'static str,
    },
    /// A value that cannot be used.
    #[error("{key}: {problem}")]
    Invalid {
        /// The key in the file.
        key: String,
        /// What is wrong, and what to write.
        problem: String,
    },
    /// The API cannot be reached like this.
    #[error("clients.hyperfleet_api: {0}")]
    Api(#[from] BuildError),
    /// A mistake in the rules.
    #[error("{kind}: {error}")]
    Rules {
        /// The kind they are for.
        kind: String,
        /// The mistake.
        error: RulesError,
    },
    /// A mistake in the data.
    #[error("{kind}: {error}")]
    Payload {
        /// The kind it is for.
        kind: String,
        /// The mistake.
        error: PayloadError,
    },
}

fn invalid(key: impl Into<String>, problem: impl Into<String>) -> OptionsError {
    OptionsError::Invalid {
        key: key.into(),
        problem: problem.into(),
    }
}

/// One kind, ready to run.
#[derive(Debug)]
pub(crate) struct KindPlan {
    pub(crate) resource_type: String,
    pub(crate) topic: String,
    pub(crate) poll_interval: Duration,
    pub(crate) query: ListQuery,
    /// The selector as a metric label.
    pub(crate) selector: String,
    pub(crate) labels: Vec<Selector>,
    pub(crate) decision: Decision,
    pub(crate) form: EventForm,
    pub(crate) projection: Projection,
    pub(crate) max_in_flight: usize,
    pub(crate) max_events_per_second: u32,
    pub(crate) announcement: Announcement,
    /// How often the whole list is read beside the feed; `None` when the feed is not wanted.
    pub(crate) full_pass: Option<Duration>,
}

impl Options {
    /// Checks everything that can be checked without the API or the broker.
    pub fn check(&self) -> Result<(), OptionsError> {
        self.client()?;
        self.plans().map(drop)
    }

    /// A client of the API these options name.
    pub fn client(&self) -> Result<Client, OptionsError> {
        let api = &self.clients.hyperfleet_api;
        let base_url = self
            .hyperfleet_api
            .endpoint
            .as_ref()
            .unwrap_or(&api.base_url);
        if base_url.trim().is_empty() {
            return Err(OptionsError::Required {
                key: "clients.hyperfleet_api.base_url",
                ways: "--hyperfleet-api-base-url, HYPERFLEET_API_BASE_URL, or hyperfleet_api.endpoint",
            });
        }
        let version = env!("CARGO_PKG_VERSION");
        Ok(Client::new(ClientConfig {
            version: api.version.clone(),
            timeout: self.hyperfleet_api.timeout.unwrap_or(api.timeout).get(),
            auth: self.auth()?,
            user_agent: format!("hyperfleet-sentinel/{version} ({})", self.sentinel.name),
            ..ClientConfig::new(base_url)
        })?)
    }

    fn auth(&self) -> Result<Option<Auth>, OptionsError> {
        let Some(auth) = &self.clients.hyperfleet_api.auth else {
            return Ok(None);
        };
        let path = PathBuf::from(&auth.token_path);
        if !path.is_absolute() {
            return Err(invalid(
                "clients.hyperfleet_api.auth.token_path",
                format!("`{}` is not an absolute path", auth.token_path),
            ));
        }
        Ok(Some(Auth {
            token: TokenFrom::File(path),
            cache_ttl: auth.token_cache_ttl.get(),
        }))
    }

    /// One plan per kind.
    pub(crate) fn plans(&self) -> Result<Vec<KindPlan>, OptionsError> {
        if self.sentinel.name.trim().is_empty() {
            return Err(OptionsError::Required {
                key: "sentinel.name",
                ways: "--name or HYPERFLEET_SENTINEL_NAME",
            });
        }
        if self.max_in_flight == 0 {
            return Err(invalid("max_in_flight", "must be at least 1"));
        }
        let top = self.resource_type.iter().map(|resource_type| KindOptions {
            resource_type: resource_type.clone(),
            ..KindOptions::default()
        });
        let kinds: Vec<KindOptions> = top.chain(self.sentinels.iter().cloned()).collect();
        if kinds.is_empty() {
            return Err(OptionsError::Required {
                key: "resource_type",
                ways: "--resource-type or HYPERFLEET_RESOURCE_TYPE, or list kinds under sentinels",
            });
        }
        let mut plans: Vec<KindPlan> = Vec::new();
        for kind in &kinds {
            let plan = self.plan(kind)?;
            if plans.iter().any(|other| {
                other.resource_type == plan.resource_type && other.selector == plan.selector
            }) {
                return Err(invalid(
                    "sentinels",
                    format!(
                        "{} with the selector {} are watched twice; every event would be sent twice",
                        plan.resource_type, plan.selector
                    ),
                ));
            }
            plans.push(plan);
        }
        Ok(plans)
    }

    fn plan(&self, kind: &KindOptions) -> Result<KindPlan, OptionsError> {
        let resource_type = check_resource_type(&kind.resource_type)?;
        let positive = |key: &str, duration: Duration| {
            if duration.is_zero() {
                Err(invalid(key, "must be more than zero"))
            } else {
                Ok(duration)
            }
        };
        let poll_interval = positive(
            "poll_interval",
            kind.poll_interval.unwrap_or(self.poll_interval).get(),
        )?;
        let backoff = Backoff {
            not_ready: positive(
                "backoff_not_ready",
                kind.backoff_not_ready
                    .unwrap_or(self.backoff_not_ready)
                    .get(),
            )?,
            ready: positive(
                "backoff_ready",
                kind.backoff_ready.unwrap_or(self.backoff_ready).get(),
            )?,
        };
        let full_pass = positive("full_pass_interval", self.full_pass_interval.get())?;
        let labels = kind
            .resource_selector
            .as_ref()
            .unwrap_or(&self.resource_selector);
        check_selector(labels)?;
        let decide = kind
            .message_decision
            .as_ref()
            .or(self.message_decision.as_ref());
        if !(0.0..=1.0).contains(&self.jitter) {
            return Err(invalid("jitter", "must be 0 to 1"));
        }
        let jitter = Jitter(self.jitter);
        let told = Decides {
            backoff_not_ready: backoff.not_ready.into(),
            backoff_ready: backoff.ready.into(),
            jitter: self.jitter,
            poll_interval: poll_interval.into(),
            message_decision: decide.cloned(),
        }
        .told();
        let decision = decision(decide, backoff, jitter, poll_interval, resource_type)?;
        let data = kind.message_data.as_ref().or(self.message_data.as_ref());
        let payload =
            Payload::compile(data, resource_type).map_err(|error| OptionsError::Payload {
                kind: resource_type.to_owned(),
                error,
            })?;
        let projection = match decision.reads_resource() {
            true => Projection::All,
            false => payload.projection(),
        };
        let name = kind.name.as_ref().unwrap_or(&self.sentinel.name);
        Ok(KindPlan {
            resource_type: resource_type.to_owned(),
            topic: self.topic(kind),
            poll_interval,
            query: self.query(labels)?,
            selector: selector::label(labels),
            labels: labels.clone(),
            decision,
            form: EventForm {
                source: format!("sentinel-operator/{name}"),
                payload,
                resource_type: resource_type.to_owned(),
            },
            projection,
            max_in_flight: self.max_in_flight,
            max_events_per_second: self.max_events_per_second,
            announcement: Announcement {
                name: name.clone(),
                resource_type: resource_type.to_owned(),
                selector: selector::unique(labels)
                    .into_iter()
                    .map(|(label, value)| (label.to_owned(), value.to_owned()))
                    .collect(),
                shares: self.sentinel.replicas != Replicas::Single,
                keep: Shards::NONE,
                leaving: false,
                duration_seconds: self.lease_seconds()?,
                decides: told,
            },
            full_pass: self.feed.then_some(full_pass),
        })
    }

    fn lease_seconds(&self) -> Result<u32, OptionsError> {
        let duration = self.sentinel.lease_duration.get();
        u32::try_from(duration.as_secs())
            .ok()
            .filter(|seconds| (3..=Announcement::MAX_SECONDS).contains(seconds))
            .filter(|_| duration.subsec_nanos() == 0)
            .ok_or_else(|| {
                invalid(
                    "sentinel.lease_duration",
                    "must be 3s to 1h, in whole seconds",
                )
            })
    }

    fn query(&self, labels: &[Selector]) -> Result<ListQuery, OptionsError> {
        let size = self.clients.hyperfleet_api.page_size;
        if !(1..=PageRequest::MAX_SIZE).contains(&size) {
            return Err(invalid(
                "clients.hyperfleet_api.page_size",
                format!(
                    "must be 1 to {}, not {size}: the API refuses more",
                    PageRequest::MAX_SIZE
                ),
            ));
        }
        Ok(ListQuery {
            size: Some(size),
            search: selector::search(labels),
            ..ListQuery::default()
        })
    }

    fn topic(&self, kind: &KindOptions) -> String {
        let topic = kind.topic.as_ref().unwrap_or(&self.clients.broker.topic);
        match topic.trim() {
            "" => format!("hyperfleet.{}.changed.v1", kind.resource_type),
            topic => topic.to_owned(),
        }
    }
}

fn decision(
    decide: Option<&Decide>,
    backoff: Backoff,
    jitter: Jitter,
    poll_interval: Duration,
    kind: &str,
) -> Result<Decision, OptionsError> {
    let standard = DecisionRules::standard();
    let rules = match decide {
        None => return Ok(Decision::Backoff { backoff, jitter }),
        Some(Decide::Named(name)) if name == "default" => &standard,
        Some(Decide::Named(name)) => {
            return Err(invalid(
                "message_decision",
                format!("`{name}` is unknown; write `default`, or params and result"),
            ));
        }
        Some(Decide::Rules(rules)) if *rules == DecisionRules::default() => &standard,
        Some(Decide::Rules(rules)) => rules,
    };
    let rules = Rules::compile(rules).map_err(|error| OptionsError::Rules {
        kind: kind.to_owned(),
        error,
    })?;
    Ok(Decision::Rules {
        rules,
        repeat: backoff.not_ready,
        // Every pass of polling asks the rules; from memory they are asked when passes fail.
        recheck: poll_interval * 2,
        jitter,
    })
}

/// A plural is one path segment.
fn check_resource_type(text: &str) -> Result<&str, OptionsError> {
    let refused = text.is_empty()
        || matches!(text, "." | "..")
        || text.contains(|c: char| c.is_whitespace() || "/?#%\\".contains(c));
    if refused {
        return Err(invalid(
            "resource_type",
            format!("`{text}` is not the plural of a kind; write for example clusters"),
        ));
    }
    Ok(text)
}

/// A label goes into a search as it is, so it must be one.
fn check_selector(selector: &[Selector]) -> Result<(), OptionsError> {
    for Selector { label, .. } in selector.iter().filter(|entry| !entry.label.is_empty()) {
        if let Some(problem) = label::key_error(label) {
            return Err(invalid(
                "resource_selector",
                format!("`{label}`: {problem}"),
            ));
        }
    }
    Ok(())
}
