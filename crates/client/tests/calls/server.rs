//! A server that answers as scripted and remembers what it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode, header};
use hyperfleet_client::{Client, ClientConfig, Retry};
use serde_json::Value;

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path_and_query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// `answer` gets the number of the request, from 0, and the request.
    pub(crate) async fn start<F>(answer: F) -> Server
    where
        F: Fn(usize, &Asked) -> Response<Body> + Clone + Send + Sync + 'static,
    {
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let app = Router::new().fallback(move |request: Request| {
            let (answer, seen) = (answer.clone(), Arc::clone(&seen));
            async move {
                let (parts, body) = request.into_parts();
                let asked = Asked {
                    method: parts.method.to_string(),
                    path_and_query: parts.uri.to_string(),
                    headers: parts.headers,
                    body: axum::body::to_bytes(body, usize::MAX)
                        .await
                        .unwrap()
                        .to_vec(),
                };
                let mut all = seen.lock().unwrap();
                all.push(asked.clone());
                answer(all.len() - 1, &asked)
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Server { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Retries at once, so that tests do not wait.
    pub(crate) fn config(&self) -> ClientConfig {
        ClientConfig {
            retry: Retry {
                base_delay: Duration::ZERO,
                ..Retry::default()
            },
            ..ClientConfig::new(&self.url)
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.config()).unwrap()
    }
}

pub(crate) fn plain(status: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).unwrap())
        .body(body.into())
        .unwrap()
}

pub(crate) fn json(status: u16, body: Value) -> Response<Body> {
    let mut response = plain(status, body.to_string());
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    response
}
