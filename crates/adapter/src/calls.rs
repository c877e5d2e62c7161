//! Calls to the API, rendered and counted.

use async_trait::async_trait;
use hyperfleet_client::header::{HeaderMap, HeaderName, HeaderValue};
use hyperfleet_client::{Answer, Call, CallError, Client, Retry};
use serde_json::Value as Json;
use tracing::Instrument;

use crate::context::Context;
use crate::task::ApiCall;

/// Whatever answers calls: the API, or a recording of it.
#[async_trait]
pub trait Api: Send + Sync {
    /// Sends a call and returns its answer.
    async fn call(&self, call: Call) -> Result<Answer, CallError>;

    /// How often calls are tried that do not say so themselves.
    fn retry(&self) -> Retry;
}

/// The API over HTTP.
#[derive(Clone, Debug)]
pub struct HttpApi {
    client: Client,
    retry: Retry,
}

impl HttpApi {
    /// `retry` is what the client was built with.
    pub fn new(client: Client, retry: Retry) -> Self {
        Self { client, retry }
    }
}

#[async_trait]
impl Api for HttpApi {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let span = tracing::info_span!("api_call", method = %call.method, url = call.url);
        self.client.call(call).instrument(span).await
    }

    fn retry(&self) -> Retry {
        self.retry
    }
}

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallFailure {
    /// It cannot be written down with the values at hand.
    #[error("cannot render {what}: {message}")]
    Render { what: &'static str, message: String },
    /// It was not answered as hoped.
    #[error("{0}")]
    Call(#[from] CallError),
    /// The answer is no JSON object.
    #[error("{0}")]
    Answer(String),
}

impl CallFailure {
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Call(error) if error.is_transient())
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Call(error) if error.is_not_found())
    }

    /// One word for a condition's reason.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Render { .. } => "TemplateError",
            Self::Answer(_) => "UnexpectedAnswer",
            Self::Call(_) if self.is_not_found() => "ResourceNotFound",
            Self::Call(_) if self.is_transient() => "ApiUnavailable",
            Self::Call(_) => "ApiCallFailed",
        }
    }
}

/// Renders and sends a call.
pub(crate) async fn send(
    api: &dyn Api,
    call: &ApiCall,
    context: &Context,
) -> Result<Answer, CallFailure> {
    let request = render(api, call, context)?;
    Ok(api.call(request).await?)
}

/// As [`send`]; the answer is a JSON object.
pub(crate) async fn fetch(
    api: &dyn Api,
    call: &ApiCall,
    context: &Context,
) -> Result<Json, CallFailure> {
    let answer = send(api, call, context).await?;
    match answer.json::<Json>() {
        Ok(object @ Json::Object(_)) => Ok(object),
        Ok(_) => Err(CallFailure::Answer(
            "the answer is JSON, but no object".to_owned(),
        )),
        Err(error) => Err(CallFailure::Answer(format!(
            "the answer is not JSON: {error}"
        ))),
    }
}

/// Every call is part of the event's trace: of our span in it, where spans are recorded.
pub(crate) fn trace(headers: &mut HeaderMap, context: &Context) {
    let current = hyperfleet_runtime::trace::current_traceparent();
    let trace = current.or_else(|| context.traceparent.clone());
    if let Some(value) = trace.and_then(|trace| HeaderValue::from_str(&trace).ok()) {
        headers.insert(HeaderName::from_static("traceparent"), value);
    }
}

fn render(api: &dyn Api, call: &ApiCall, context: &Context) -> Result<Call, CallFailure> {
    let render = |what, template: &hyperfleet_expr::template::Template| {
        let data = context.data();
        template
            .render(&data, context.now)
            .map_err(|error| CallFailure::Render {
                what,
                message: error.to_string(),
            })
    };
    let mut headers = HeaderMap::new();
    trace(&mut headers, context);
    for (name, template) in &call.headers {
        let value = render("a header", template)?;
        let wrong = |message: String| CallFailure::Render {
            what: "a header",
            message,
        };
        let value = HeaderValue::from_str(&value).map_err(|_| {
            wrong(format!(
                "the value of `{name}` has characters no header can have"
            ))
        })?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| wrong(e.to_string()))?;
        headers.insert(name, value);
    }
    let body = match &call.body {
        Some(template) => Some(render("the body", template)?.into()),
        None => None,
    };
    let default = api.retry();
    let retry = (call.attempts.is_some() || call.backoff.is_some()).then(|| Retry {
        attempts: call.attempts.unwrap_or(default.attempts),
        backoff: call.backoff.unwrap_or(default.backoff),
        ..default
    });
    Ok(Call {
        method: call.method.clone(),
        url: render("the URL", &call.url)?,
        headers,
        body,
        timeout: call.timeout,
        retry,
    })
}
