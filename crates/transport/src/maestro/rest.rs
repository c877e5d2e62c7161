//! What Maestro keeps, read.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde_json::Value;

use super::{MaestroTransport, bundle};
use crate::kubernetes::reason;
use crate::{Failure, Page};

/// Bundles answered at once; more cost the server too much memory.
const PAGE: usize = 400;

impl MaestroTransport {
    /// The work with this id; `None` when Maestro says that there is none.
    pub(super) async fn read(&self, consumer: &str, name: &str) -> Result<Option<Value>, Failure> {
        let id = bundle::id(&self.config.source_id, consumer, name);
        let url = self.url(&["resource-bundles", &id], &[]);
        let Some(found) = self.fetch(url).await? else {
            return Ok(None);
        };
        let work = bundle::work(found).ok_or_else(|| unreadable("the bundle names no consumer"))?;
        // Ids are made of names put together with `-`, so two works can have the same one.
        let metadata = &work["metadata"];
        if metadata["namespace"] != consumer || metadata["name"] != name {
            return Err(Failure::Conflict {
                manager: None,
                fields: Vec::new(),
                message: format!(
                    "the work {} of the consumer {} has the same id: give one of them another name",
                    metadata["name"], metadata["namespace"]
                ),
            });
        }
        Ok(Some(work))
    }

    /// All our works of a consumer, or of all.
    pub(super) async fn works(&self, consumer: Option<&str>) -> Result<Vec<Value>, Failure> {
        let mut works = Vec::new();
        let mut from = None;
        loop {
            let page = self.page_of(consumer, from.as_deref()).await?;
            works.extend(page.items);
            match page.next {
                Some(next) => from = Some(next),
                None => return Ok(works),
            }
        }
    }

    /// Some of them. Pages are counted from 1.
    pub(super) async fn page_of(
        &self,
        consumer: Option<&str>,
        from: Option<&str>,
    ) -> Result<Page, Failure> {
        let page: usize = from.and_then(|page| page.parse().ok()).unwrap_or(1);
        let source = &self.config.source_id;
        let search = match consumer {
            Some(consumer) => format!("source='{source}' and consumer_name='{consumer}'"),
            None => format!("source='{source}'"),
        };
        let query = [
            ("search", search.as_str()),
            ("orderBy", "id asc"),
            ("page", &page.to_string()),
            ("size", &PAGE.to_string()),
        ];
        let url = self.url(&["resource-bundles"], &query);
        let list = self.fetch(url).await?;
        let mut list = list.ok_or_else(|| unreadable("it knows no resource bundles"))?;
        let Some(Value::Array(items)) = list.get_mut("items").map(Value::take) else {
            return Err(unreadable("the list has no items"));
        };
        let next = (items.len() >= PAGE).then(|| (page + 1).to_string());
        let works = items.into_iter().map(bundle::work);
        let works = works.collect::<Option<_>>();
        Ok(Page {
            items: works.ok_or_else(|| unreadable("a bundle names no consumer"))?,
            next,
        })
    }

    /// Whether a target cluster is known.
    pub(super) async fn is_registered(&self, consumer: &str) -> Result<bool, Failure> {
        let search = format!("name='{consumer}'");
        let query = [("search", search.as_str()), ("size", "1")];
        let list = self.fetch(self.url(&["consumers"], &query)).await?;
        let list = list.ok_or_else(|| unreadable("it knows no consumers"))?;
        let items = list["items"].as_array();
        let items = items.ok_or_else(|| unreadable("the list has no items"))?;
        Ok(items.iter().any(|found| found["name"] == consumer))
    }

    fn url(&self, path: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.connections.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "maestro", "v1"]);
            segments.extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    /// `None` is Maestro's own "there is none", and nobody else's.
    async fn fetch(&self, url: Url) -> Result<Option<Value>, Failure> {
        self.patiently(|| self.fetch_once(url.clone())).await
    }

    async fn fetch_once(&self, url: Url) -> Result<Option<Value>, Failure> {
        let http = self.connections.get().http.clone();
        let broken = |error: reqwest::Error| Failure::Unavailable {
            message: reason(&error.without_url()),
        };
        let answer = http.get(url).send().await.map_err(broken)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.map_err(broken)?;
        let body: Option<Value> = serde_json::from_slice(&body).ok();
        if status.is_success() {
            return match body {
                Some(body) => Ok(Some(body)),
                None => Err(unreadable("the answer is no JSON")),
            };
        }
        match refusal(status, &headers, body.as_ref()) {
            None => Ok(None),
            Some(failure) => Err(failure),
        }
    }
}

/// What an answer that is no success means; `None` is absence.
fn refusal(status: StatusCode, headers: &HeaderMap, body: Option<&Value>) -> Option<Failure> {
    let said = body
        .filter(|body| body["kind"] == "Error")
        .and_then(|body| body["reason"].as_str());
    let message = said.map_or_else(|| format!("HTTP {status}"), str::to_owned);
    Some(match status {
        StatusCode::NOT_FOUND => {
            // A path that does not exist is answered in the same words, but with its own number. Whoever else answers
            // "not found" does not know what Maestro keeps.
            let id = body.map(|body| &body["id"]);
            if said.is_some() && id.is_some_and(|id| id != "404") {
                return None;
            }
            Failure::Other {
                status: Some(404),
                message: format!(
                    "{message}: this is not Maestro's API; check clients.maestro.http_server_address"
                ),
            }
        }
        StatusCode::UNAUTHORIZED => Failure::Unauthorized { message },
        StatusCode::FORBIDDEN => Failure::Forbidden { message },
        StatusCode::CONFLICT => Failure::Conflict {
            manager: None,
            fields: Vec::new(),
            message,
        },
        StatusCode::TOO_MANY_REQUESTS => Failure::TooManyRequests {
            retry_after: retry_after(headers),
            message,
        },
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Failure::Invalid {
            causes: Vec::new(),
            message,
        },
        status if status.is_server_error() => Failure::Unavailable { message },
        status => Failure::Other {
            status: Some(status.as_u16()),
            message,
        },
    })
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn unreadable(why: &str) -> Failure {
    Failure::Other {
        status: None,
        message: format!(
            "the answer is not Maestro's: {why}; check clients.maestro.http_server_address"
        ),
    }
}
