//! What people ask for besides what components do: changing, deleting, and what happened.

use hyperfleet_core::effect::Effect;
use reqwest::header::{HeaderValue, IF_MATCH};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::call::Call;
use crate::client::Client;
use crate::error::{CallError, Cause, printable};
use crate::remote::RemoteResource;
use crate::retry::Retry;
use crate::typed::decode;

/// Which lines of the audit log are wanted; what is `None` is not asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub resource_id: Option<String>,
    pub kind: Option<String>,
    pub actor: Option<String>,
    pub action: Option<String>,
}

/// A stretch of a log, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stretch {
    pub limit: u32,
    /// What the stretch before answered as `continue`.
    pub next: Option<String>,
}

impl Client {
    /// What this API is: its version, and since kinds are told there, its kinds.
    pub async fn metadata(&self) -> Result<Value, CallError> {
        self.get_json("/api/hyperfleet").await
    }

    /// The contract it serves.
    pub async fn openapi(&self) -> Result<Value, CallError> {
        self.get_json("openapi").await
    }

    /// Whether the API can try changes. One that cannot would make them: ask before anything is
    /// [`Rehearsed`](Effect::Rehearsed).
    pub async fn can_rehearse(&self) -> Result<bool, CallError> {
        Ok(self.metadata().await?["dry_run"] == true)
    }

    /// Creates a resource, or tries to. Tried once, as [`create`](Client::create).
    pub async fn create_as(
        &self,
        plural: &str,
        body: &Value,
        effect: Effect,
    ) -> Result<RemoteResource, CallError> {
        self.change(Method::POST, &[plural], Some(body), None, effect)
            .await
    }

    /// Changes a resource; with `generation`, only if it still is what is wanted. Tried once.
    pub async fn patch(
        &self,
        plural: &str,
        id: &str,
        body: &Value,
        generation: Option<i64>,
        effect: Effect,
    ) -> Result<RemoteResource, CallError> {
        self.change(Method::PATCH, &[plural, id], Some(body), generation, effect)
            .await
    }

    /// Asks for the deletion of a resource, and gives back what it is then.
    pub async fn delete(
        &self,
        plural: &str,
        id: &str,
        effect: Effect,
    ) -> Result<RemoteResource, CallError> {
        self.change(Method::DELETE, &[plural, id], None, None, effect)
            .await
    }

    /// Removes a resource without waiting for its adapters.
    pub async fn force_delete(
        &self,
        plural: &str,
        id: &str,
        reason: &str,
        effect: Effect,
    ) -> Result<(), CallError> {
        let segments = [plural, id, "force-delete"];
        let url = affected(self.url_of(&Method::POST, &segments)?, effect);
        let body = json!({ "reason": reason });
        let call = self.request(Method::POST, &url, Some(&body))?;
        self.send(url, call.retry(Retry::NEVER)).await.map(drop)
    }

    /// What happened to a resource, in the shape the API answers.
    pub async fn history(
        &self,
        plural: &str,
        id: &str,
        stretch: &Stretch,
    ) -> Result<Value, CallError> {
        self.log(&[plural, id, "history"], &[], stretch).await
    }

    /// What happened in the fleet.
    pub async fn audit(&self, query: &AuditQuery, stretch: &Stretch) -> Result<Value, CallError> {
        let asked = [
            ("resource_id", &query.resource_id),
            ("kind", &query.kind),
            ("actor", &query.actor),
            ("action", &query.action),
        ];
        self.log(&["audit"], &asked, stretch).await
    }

    async fn log(
        &self,
        segments: &[&str],
        asked: &[(&str, &Option<String>)],
        stretch: &Stretch,
    ) -> Result<Value, CallError> {
        let mut url = self.url_of(&Method::GET, segments)?;
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair("limit", &stretch.limit.to_string());
            for (name, value) in asked.iter().chain([&("continue", &stretch.next)]) {
                if let Some(value) = value {
                    pairs.append_pair(name, value);
                }
            }
        }
        let answer = self.send(url.clone(), Call::get(url.as_str())).await?;
        decode(&Method::GET, &url, &answer)
    }

    async fn change(
        &self,
        method: Method,
        segments: &[&str],
        body: Option<&Value>,
        generation: Option<i64>,
        effect: Effect,
    ) -> Result<RemoteResource, CallError> {
        let url = affected(self.url_of(&method, segments)?, effect);
        let mut call = self
            .request(method.clone(), &url, body)?
            .retry(Retry::NEVER);
        if let Some(generation) = generation {
            let tag = HeaderValue::try_from(format!("\"{generation}\"")).map_err(|error| {
                let cause = Cause::Request(error.to_string());
                CallError {
                    method: method.clone(),
                    url: printable(&url),
                    attempts: 0,
                    duration: std::time::Duration::ZERO,
                    cause,
                }
            })?;
            call = call.header(IF_MATCH, tag);
        }
        let answer = self.send(url.clone(), call).await?;
        decode(&method, &url, &answer)
    }
}

fn affected(mut url: Url, effect: Effect) -> Url {
    if effect == Effect::Rehearsed {
        url.query_pairs_mut().append_pair("dry_run", "true");
    }
    url
}
