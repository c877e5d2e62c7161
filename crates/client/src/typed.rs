//! The calls components make, with the shapes they expect.

use hyperfleet_core::audit_note::AuditNote;
use hyperfleet_core::effect::Effect;
use hyperfleet_core::history::AuditEntry;
use hyperfleet_core::list::Page;
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::{Answer, Call};
use crate::client::{Client, refuse_segments};
use crate::error::{CallError, Cause, printable};
use crate::remote::RemoteResource;
use crate::retry::Retry;

/// Which part of a list is wanted; what is `None` is left to the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    pub page: Option<u32>,
    pub size: Option<u32>,
    /// A search of the API's search language.
    pub search: Option<String>,
    /// For example `created_time asc`.
    pub order: Option<String>,
    /// The members wanted, separated by commas.
    pub fields: Option<String>,
}

impl ListQuery {
    fn append_to(&self, url: &mut Url) {
        let page = self.page.map(|page| page.to_string());
        let size = self.size.map(|size| size.to_string());
        let pairs = [
            ("page", &page),
            ("size", &size),
            ("search", &self.search),
            ("order", &self.order),
            ("fields", &self.fields),
        ];
        let mut query = url.query_pairs_mut();
        for (name, value) in pairs {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
    }
}

impl Client {
    /// One page of a kind.
    pub async fn list(
        &self,
        plural: &str,
        query: &ListQuery,
    ) -> Result<Page<RemoteResource>, CallError> {
        if let Some(error) = refuse_segments(Method::GET, &[plural]) {
            return Err(error);
        }
        let mut url = self.base_url().of_segments([plural]);
        query.append_to(&mut url);
        self.exchange(Method::GET, url, None, None).await
    }

    /// One resource.
    pub async fn get(&self, plural: &str, id: &str) -> Result<RemoteResource, CallError> {
        self.path(Method::GET, &[plural, id], None, None).await
    }

    /// Creates a resource and gives back what the API made of it.
    ///
    /// Tried once: a repeated create whose first answer was lost would meet itself as a conflict.
    pub async fn create(&self, plural: &str, body: &Value) -> Result<RemoteResource, CallError> {
        self.create_as(plural, body, Effect::Lasting).await
    }

    /// What the adapters reported about a resource, in whichever form the API answers.
    pub async fn statuses(&self, plural: &str, id: &str) -> Result<Value, CallError> {
        self.path(Method::GET, &[plural, id, "statuses"], None, None)
            .await
    }

    /// Reports on a resource. `None` when the API discarded the report as out of date.
    pub async fn report(
        &self,
        plural: &str,
        id: &str,
        body: &Value,
    ) -> Result<Option<Value>, CallError> {
        let segments = [plural, id, "statuses"];
        let url = self.url_of(&Method::PUT, &segments)?;
        let answer = self
            .send(url.clone(), self.request(Method::PUT, &url, Some(body))?)
            .await?;
        if answer.body.is_empty() {
            return Ok(None);
        }
        decode(&Method::PUT, &url, &answer).map(Some)
    }

    /// Says what was done to an object, for the audit log.
    ///
    /// Tried once, and safe to repeat: the API takes the same note once.
    pub async fn note(&self, note: &AuditNote) -> Result<AuditEntry, CallError> {
        let body = serde_json::to_value(note).map_err(|error| {
            let cause = Cause::Request(error.to_string());
            failed(Method::POST, "audit".to_owned(), 0, cause)
        })?;
        self.path(Method::POST, &["audit"], Some(&body), Some(Retry::NEVER))
            .await
    }

    /// Any path of the API, or any URL, as JSON.
    pub async fn get_json(&self, url: &str) -> Result<Value, CallError> {
        let answer = self.call(Call::get(url)).await?;
        let url = self.base_url().resolve(url).map_err(|reason| {
            failed(
                Method::GET,
                url.to_owned(),
                answer.attempts,
                Cause::Request(reason),
            )
        })?;
        decode(&Method::GET, &url, &answer)
    }

    async fn path<T: DeserializeOwned>(
        &self,
        method: Method,
        segments: &[&str],
        body: Option<&Value>,
        retry: Option<Retry>,
    ) -> Result<T, CallError> {
        let url = self.url_of(&method, segments)?;
        self.exchange(method, url, body, retry).await
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        method: Method,
        url: Url,
        body: Option<&Value>,
        retry: Option<Retry>,
    ) -> Result<T, CallError> {
        let call = Call {
            retry,
            ..self.request(method.clone(), &url, body)?
        };
        let answer = self.send(url.clone(), call).await?;
        decode(&method, &url, &answer)
    }

    pub(crate) fn url_of(&self, method: &Method, segments: &[&str]) -> Result<Url, CallError> {
        match refuse_segments(method.clone(), segments) {
            Some(error) => Err(error),
            None => Ok(self.base_url().of_segments(segments.iter().copied())),
        }
    }

    pub(crate) fn request(
        &self,
        method: Method,
        url: &Url,
        body: Option<&Value>,
    ) -> Result<Call, CallError> {
        let mut call = Call::new(method.clone(), url.as_str());
        if let Some(body) = body {
            let bytes = serde_json::to_vec(body).map_err(|error| {
                failed(method, printable(url), 0, Cause::Request(error.to_string()))
            })?;
            call = call.body(bytes);
        }
        Ok(call)
    }
}

pub(crate) fn decode<T: DeserializeOwned>(
    method: &Method,
    url: &Url,
    answer: &Answer,
) -> Result<T, CallError> {
    answer.json().map_err(|error| {
        failed(
            method.clone(),
            printable(url),
            answer.attempts,
            Cause::Answer(error.to_string()),
        )
    })
}

fn failed(method: Method, url: String, attempts: u32, cause: Cause) -> CallError {
    CallError {
        method,
        url,
        attempts,
        duration: std::time::Duration::ZERO,
        cause,
    }
}
