//! One kept connection to the server.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The path under which every route of the API lives.
const BASE_PATH: &str = "/api/hyperfleet/v1";

/// Where requests go, and what each of them carries.
#[derive(Debug)]
pub(crate) struct Endpoint {
    address: String,
    headers: HeaderMap,
}

/// What is asked. Paths begin after the API's base path.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Bytes,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn get(path: String) -> Call {
        Call::new(Method::GET, path, Bytes::new())
    }

    pub(crate) fn new(method: Method, path: String, body: impl Into<Bytes>) -> Call {
        Call {
            method,
            path,
            body: body.into(),
        }
    }
}

impl Endpoint {
    /// Reads `http://host:port`, with or without the API's base path.
    pub(crate) fn parse(url: &str, headers: &[String]) -> Result<Endpoint> {
        let uri: Uri = url
            .parse()
            .with_context(|| format!("`{url}` is not a URL"))?;
        let Some(authority) = uri.authority() else {
            bail!("`{url}` names no host; write for example http://127.0.0.1:8000");
        };
        if uri.scheme_str() != Some("http") {
            bail!(
                "`{url}`: only plain http is measured; encryption would be measured along with it"
            );
        }
        let path = uri.path().trim_end_matches('/');
        if !path.is_empty() && path != BASE_PATH {
            bail!("`{url}`: the API is expected at the root of its host, under {BASE_PATH}");
        }
        let address = match authority.port() {
            Some(_) => authority.to_string(),
            None => format!("{authority}:80"),
        };
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::try_from(authority.as_str())?);
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for header in headers {
            let Some((name, value)) = header.split_once(':') else {
                bail!("`{header}` is no header; write `Name: value`");
            };
            map.insert(
                HeaderName::try_from(name.trim())?,
                HeaderValue::try_from(value.trim())?,
            );
        }
        Ok(Endpoint {
            address,
            headers: map,
        })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

/// Opened at the first request, and again after a failure.
#[derive(Debug)]
pub(crate) struct Connection {
    endpoint: Arc<Endpoint>,
    sender: Option<SendRequest<Full<Bytes>>>,
}

impl Connection {
    pub(crate) fn new(endpoint: Arc<Endpoint>) -> Connection {
        Connection {
            endpoint,
            sender: None,
        }
    }

    /// Asks and reads the whole answer.
    pub(crate) async fn send(&mut self, call: Call) -> Result<Answer> {
        self.ask(format!("{BASE_PATH}{}", call.path), call.method, call.body)
            .await
    }

    /// The same for a path outside the API.
    pub(crate) async fn ask(
        &mut self,
        path: String,
        method: Method,
        body: Bytes,
    ) -> Result<Answer> {
        let mut sender = match self.sender.take().filter(|sender| !sender.is_closed()) {
            Some(sender) => sender,
            None => self.open().await?,
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = Uri::try_from(path)?;
        *request.headers_mut() = self.endpoint.headers.clone();
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        self.sender = Some(sender);
        Ok(Answer { status, body })
    }

    async fn open(&self) -> Result<SendRequest<Full<Bytes>>> {
        let address = &self.endpoint.address;
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Ends with its sender; how it ended is what the request under way is told.
        tokio::spawn(connection);
        Ok(sender)
    }
}
