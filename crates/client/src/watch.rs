//! Following a list: all of it once, then every change.
//!
//! ```text
//!   keyset pages ──► items ... since ──► watch(since) ──► upsert │ delete │ bookmark ... ──► resume at the last position
//! ```
//!
//! Only our API has both; against an older one [`Client::first_page`] answers `None`.

use std::time::Duration;

use bytes::BytesMut;
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::call::Call;
use crate::client::Client;
use crate::error::{CallError, Cause, printable};
use crate::remote::RemoteResource;

/// A server tells a bookmark every ten seconds; one that says nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(35);

/// Which resources are followed, and what of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Follow {
    pub plural: String,
    /// A search of the API's search language.
    pub search: Option<String>,
    /// The members wanted, separated by commas.
    pub fields: Option<String>,
    /// The order of the pages, which a watch does not have: `name`, `created_time` or `id`, `asc` or `desc`.
    pub order: Option<String>,
}

/// What an API answers that may or may not know such pages.
#[derive(Deserialize)]
struct AnyPage {
    items: Box<RawValue>,
    #[serde(default, rename = "continue")]
    next: Option<String>,
    since: Option<String>,
    #[serde(skip)]
    url: String,
}

/// One page of a list that neither skips nor repeats while others write.
///
/// Its items are read when they are asked for, so that the next page can be on its way meanwhile.
#[derive(Debug)]
pub struct KeysetPage {
    items: Box<RawValue>,
    url: String,
    /// Asks for the next page; absent on the last one.
    pub next: Option<String>,
    /// Where to watch from so that nothing is missed that happened after this page was read.
    pub since: String,
}

impl KeysetPage {
    pub fn items(&self) -> Result<Vec<RemoteResource>, CallError> {
        let items = serde_json::from_str(self.items.get());
        items.map_err(|error| unreadable(&self.url, 1, &error))
    }
}

/// What a watch is told.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchEvent {
    pub news: WatchNews,
    /// Where to resume after it.
    pub position: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WatchNews {
    /// The resource is like this now.
    Upsert(Box<RemoteResource>),
    /// The resource is gone, or no longer found by the search. Its id and kind are there, and what else is known.
    Delete(Box<RemoteResource>),
    /// Nothing else happened up to here.
    Bookmark,
}

/// An open watch.
#[derive(Debug)]
pub struct Watch {
    response: Response,
    url: String,
    buffer: BytesMut,
    limit: usize,
}

impl Client {
    /// The first page of a list, or `None` when the API has no such lists and so no watch either.
    pub async fn first_page(
        &self,
        follow: &Follow,
        limit: u32,
    ) -> Result<Option<KeysetPage>, CallError> {
        let page = match self.keyset(follow, limit, None).await {
            Err(error) if error.status() == Some(StatusCode::BAD_REQUEST) => {
                return match self.is_paged_by_number(follow).await? {
                    true => Ok(None),
                    false => Err(error),
                };
            }
            page => page?,
        };
        Ok(page.since.map(|since| KeysetPage {
            items: page.items,
            url: page.url,
            next: page.next,
            since,
        }))
    }

    /// An API of v1.0 ignores what it does not know, but not a member it does not have: the question is asked again
    /// without any.
    async fn is_paged_by_number(&self, follow: &Follow) -> Result<bool, CallError> {
        let plain = Follow {
            plural: follow.plural.clone(),
            ..Follow::default()
        };
        let page = self.keyset(&plain, 1, None).await?;
        Ok(page.since.is_none())
    }

    /// The page after one.
    pub async fn next_page(
        &self,
        follow: &Follow,
        limit: u32,
        next: &str,
    ) -> Result<KeysetPage, CallError> {
        let page = self.keyset(follow, limit, Some(next)).await?;
        Ok(KeysetPage {
            items: page.items,
            url: page.url,
            next: page.next,
            since: page.since.unwrap_or_default(),
        })
    }

    async fn keyset(
        &self,
        follow: &Follow,
        limit: u32,
        next: Option<&str>,
    ) -> Result<AnyPage, CallError> {
        let mut url = self.follow_url(follow)?;
        url.query_pairs_mut()
            .append_pair("limit", &limit.to_string());
        if let Some(order) = &follow.order {
            url.query_pairs_mut().append_pair("order", order);
        }
        if let Some(next) = next {
            url.query_pairs_mut().append_pair("continue", next);
        }
        let answer = self.send(url.clone(), Call::get(url.as_str())).await?;
        let url = printable(&url);
        match answer.json::<AnyPage>() {
            Ok(page) => Ok(AnyPage { url, ..page }),
            Err(error) => Err(unreadable(&url, answer.attempts, &error)),
        }
    }

    /// Opens a watch from a position on.
    pub async fn watch(&self, follow: &Follow, since: &str) -> Result<Watch, CallError> {
        let mut url = self.follow_url(follow)?;
        url.query_pairs_mut()
            .append_pair("watch", "true")
            .append_pair("since", since);
        let accept = HeaderValue::from_static("text/event-stream");
        let call = Call::get(url.as_str()).header(ACCEPT, accept);
        let response = self.open(&url, &call).await?;
        Ok(Watch {
            response,
            url: printable(&url),
            buffer: BytesMut::new(),
            limit: self.max_answer_bytes(),
        })
    }

    fn follow_url(&self, follow: &Follow) -> Result<Url, CallError> {
        let mut url = self.url_of(&Method::GET, &[&follow.plural])?;
        for (name, value) in [("search", &follow.search), ("fields", &follow.fields)] {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        Ok(url)
    }
}

impl Watch {
    /// The next event; `None` when the server ended the watch. After an error the watch is over as well.
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, CallError> {
        loop {
            if let Some(end) = find(&self.buffer, b"\n\n") {
                let event = self.buffer.split_to(end + 2);
                if let Some(event) =
                    parse(&event[..end]).map_err(|what| self.failed(Cause::Answer(what)))?
                {
                    return Ok(Some(event));
                }
                continue;
            }
            if self.buffer.len() > self.limit {
                return Err(self.failed(Cause::TooLarge(self.limit)));
            }
            match timeout(SILENCE, self.response.chunk()).await {
                Ok(Ok(Some(chunk))) => self.buffer.extend_from_slice(&chunk),
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => return Err(self.failed(Cause::Transport(error.without_url()))),
                Err(_) => return Err(self.failed(Cause::Timeout(SILENCE))),
            }
        }
    }

    fn failed(&self, cause: Cause) -> CallError {
        CallError {
            method: Method::GET,
            url: self.url.clone(),
            attempts: 1,
            duration: Duration::ZERO,
            cause,
        }
    }
}

fn unreadable(url: &str, attempts: u32, error: &serde_json::Error) -> CallError {
    CallError {
        method: Method::GET,
        url: url.to_owned(),
        attempts,
        duration: Duration::ZERO,
        cause: Cause::Answer(error.to_string()),
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// One event of the stream; nothing for a comment or an event of a later version.
fn parse(event: &[u8]) -> Result<Option<WatchEvent>, String> {
    let event = std::str::from_utf8(event).map_err(|error| error.to_string())?;
    let (mut name, mut position, mut data) = ("", "", String::new());
    for line in event.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value,
            "id" => position = value,
            "data" => data.push_str(value),
            _ => {}
        }
    }
    let resource = || -> Result<Box<RemoteResource>, String> {
        let json: Value = serde_json::from_str(&data).map_err(|error| error.to_string())?;
        let resource = RemoteResource::from_json(json).ok_or("a resource is a JSON object")?;
        Ok(Box::new(resource))
    };
    let news = match name {
        "upsert" => WatchNews::Upsert(resource()?),
        "delete" => WatchNews::Delete(resource()?),
        "bookmark" => WatchNews::Bookmark,
        _ => return Ok(None),
    };
    Ok(Some(WatchEvent {
        news,
        position: position.to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_and_what_is_unknown_is_passed_over() {
        let event = parse(b"event: upsert\nid: 1.7..\ndata: {\"id\":\"c1\",\"generation\":2}")
            .unwrap()
            .unwrap();
        assert_eq!(event.position, "1.7..");
        let WatchNews::Upsert(resource) = event.news else {
            panic!("{event:?}");
        };
        assert_eq!((resource.id.as_str(), resource.generation), ("c1", 2));
        assert_eq!(parse(b": still here"), Ok(None));
        assert_eq!(parse(b"event: confetti\ndata: {}"), Ok(None));
        assert!(parse(b"event: upsert\ndata: nothing").is_err());
        let bookmark = parse(b"event:bookmark\nid:9\ndata:{}").unwrap().unwrap();
        assert_eq!(
            (bookmark.news, bookmark.position.as_str()),
            (WatchNews::Bookmark, "9")
        );
    }
}
