//! The wrapped deployment files of older versions: `apiVersion`, `kind`, `metadata`, `spec`.

use std::path::PathBuf;

use hyperfleet_runtime::GoDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Deployment, RetryBackoff};

/// `metadata` of a wrapped file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Metadata {
    /// The adapter's name.
    pub name: String,
    /// Where the file was meant to live; not used.
    pub namespace: String,
    /// Not used.
    pub labels: std::collections::BTreeMap<String, String>,
}

/// `spec` of a wrapped file. What belongs to the task may be here too, and is read by the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Spec {
    /// Identity.
    pub adapter: OlderIdentity,
    /// `clients.hyperfleet_api` of today.
    pub hyperfleet_api: OlderApi,
    /// `clients.broker` of today.
    pub broker: OlderBroker,
    /// `clients.kubernetes` of today.
    pub kubernetes: OlderKubernetes,
    /// `message_broker` of today.
    pub message_broker: OlderMessageBroker,
    /// Of the task.
    pub params: Json,
    /// Of the task.
    pub preconditions: Json,
    /// Of the task.
    pub resources: Json,
    /// Of the task.
    pub post: Json,
}

/// Identity in a wrapped file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OlderIdentity {
    /// The framework version it was written for.
    pub version: String,
}

/// The API in a wrapped file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OlderApi {
    /// Scheme, host and port.
    pub base_url: Option<String>,
    /// The version in the path.
    pub version: Option<String>,
    /// Bounds one attempt.
    pub timeout: Option<GoDuration>,
    /// Attempts in total.
    pub retry_attempts: Option<u32>,
    /// How waits grow.
    pub retry_backoff: Option<RetryBackoff>,
    /// The first wait.
    pub base_delay: Option<GoDuration>,
    /// No wait is longer.
    pub max_delay: Option<GoDuration>,
}

/// The broker in a wrapped file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OlderBroker {
    /// The subscription.
    pub subscription_id: Option<String>,
    /// The topic.
    pub topic: Option<String>,
}

/// The cluster in a wrapped file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OlderKubernetes {
    /// Not used: the version is discovered.
    pub api_version: String,
    /// A kubeconfig file.
    pub kube_config_path: Option<PathBuf>,
}

/// How events are taken, in a wrapped file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct OlderMessageBroker {
    /// Resources worked on at the same time.
    pub max_concurrency: Option<usize>,
}

impl Deployment {
    /// Takes what a wrapped file says wherever nothing else was said: environment and flags set
    /// today's keys, and win.
    pub(super) fn adopt_older(&mut self) {
        let unsaid = Deployment::default();
        if let Some(metadata) = self.metadata.take()
            && self.adapter.name.is_empty()
        {
            self.adapter.name = metadata.name;
        }
        (self.api_version, self.kind) = (None, None);
        let Some(spec) = self.spec.take() else {
            return;
        };
        let text = |version: String| (!version.is_empty()).then_some(version);
        let (clients, default) = (&mut self.clients, &unsaid.clients);
        let (api, api_default) = (&mut clients.hyperfleet_api, &default.hyperfleet_api);
        let older = spec.hyperfleet_api;
        fill(
            &mut self.adapter.version,
            text(spec.adapter.version),
            &unsaid.adapter.version,
        );
        fill(&mut api.base_url, older.base_url, &api_default.base_url);
        fill(&mut api.version, older.version, &api_default.version);
        fill(&mut api.timeout, older.timeout, &api_default.timeout);
        fill(
            &mut api.retry_attempts,
            older.retry_attempts,
            &api_default.retry_attempts,
        );
        fill(
            &mut api.retry_backoff,
            older.retry_backoff,
            &api_default.retry_backoff,
        );
        fill(
            &mut api.base_delay,
            older.base_delay,
            &api_default.base_delay,
        );
        fill(&mut api.max_delay, older.max_delay, &api_default.max_delay);
        let broker = &mut clients.broker;
        fill(&mut broker.topic, spec.broker.topic, &default.broker.topic);
        fill(
            &mut broker.subscription_id,
            spec.broker.subscription_id,
            &default.broker.subscription_id,
        );
        let path = &mut clients.kubernetes.kube_config_path;
        *path = path.take().or(spec.kubernetes.kube_config_path);
        fill(
            &mut self.message_broker.max_concurrency,
            spec.message_broker.max_concurrency,
            &unsaid.message_broker.max_concurrency,
        );
    }
}

fn fill<T: PartialEq>(value: &mut T, older: Option<T>, default: &T) {
    if let Some(older) = older
        && value == default
    {
        *value = older;
    }
}
