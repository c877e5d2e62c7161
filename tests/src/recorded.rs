//! An API of v1.0, played from a recording: what it answers to what, and what it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::process::wait_for;
use crate::root;

const BASE: &str = "/api/hyperfleet/v1";

/// One request.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    /// Below the base path, without the query.
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub agent: String,
    pub authorization: String,
    pub body: Value,
}

/// Answers until it is dropped.
pub struct Recorded {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    runtime: Option<Runtime>,
}

impl Recorded {
    /// Plays `wire/<name>.json`, in which every `{key}` stands for its value.
    pub fn play(name: &str, values: &[(&str, &str)]) -> Result<Recorded> {
        let file = root().join(format!("tests/wire/{name}.json"));
        let mut text = std::fs::read_to_string(&file)?;
        for (key, value) in values {
            text = text.replace(&format!("{{{key}}}"), value);
        }
        let recording: Value =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let exchanges = recording["exchanges"].as_array().context("no exchanges")?;
        let exchanges: Arc<[Value]> = exchanges.clone().into();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let noted = Arc::clone(&asked);
        let app = Router::new().fallback(move |request: Request| {
            let (exchanges, noted) = (Arc::clone(&exchanges), Arc::clone(&noted));
            async move { answer(&exchanges, &noted, request).await }
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
        let url = format!("http://{}", listener.local_addr()?);
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Recorded {
            url,
            asked,
            runtime: Some(runtime),
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits for a request; the first one that `is` it.
    pub fn wait_for(&self, what: &str, is: impl Fn(&Asked) -> bool) -> Result<Asked> {
        wait_for(what, || {
            let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let found = asked.iter().find(|asked| is(asked));
            found
                .cloned()
                .with_context(|| format!("it was asked {asked:#?}"))
        })
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

async fn answer(exchanges: &[Value], noted: &Mutex<Vec<Asked>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await;
    let asked = Asked {
        method: parts.method.to_string(),
        path: parts.uri.path().trim_start_matches(BASE).to_owned(),
        query: query(parts.uri.query().unwrap_or_default()),
        agent: said(&parts.headers, header::USER_AGENT),
        authorization: said(&parts.headers, header::AUTHORIZATION),
        body: serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default(),
    };
    let found = exchanges.iter().find(|one| fits(&one["request"], &asked));
    let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
    noted.push(asked);
    let unknown = json!({"status": 404, "body": {"status": 404, "code": "HYPERFLEET-NTF-000"}});
    let answer = found.map_or(&unknown, |one| &one["answer"]);
    let status = answer["status"]
        .as_u64()
        .and_then(|code| code.try_into().ok());
    let status = StatusCode::from_u16(status.unwrap_or(500)).unwrap_or_default();
    let body = answer.get("body").map(Value::to_string);
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, body.unwrap_or_default()).into_response()
}

/// The first exchange fits whose method and path are the same, and whose query members are there.
fn fits(request: &Value, asked: &Asked) -> bool {
    let members = request["query"].as_array().into_iter().flatten();
    let mut members = members.filter_map(Value::as_str);
    request["method"] == asked.method.as_str()
        && request["path"] == asked.path.as_str()
        && members.all(|member| asked.query.contains_key(member))
}

fn said(headers: &HeaderMap, name: HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

fn query(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
