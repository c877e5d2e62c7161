//! An event tried out against the live API and cluster, changing neither.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use hyperfleet_broker::Event;
use hyperfleet_client::{Answer, Call, CallError, Method, Retry, StatusCode};
use hyperfleet_transport::{PreviewTransport, Transport};

use super::{DryRunError, Exchange, Trace, trace};
use crate::calls::Api;
use crate::pipeline::Engine;

/// Reads the API; what would be sent to it is only noted.
struct ReadOnly {
    inner: Arc<dyn Api>,
    exchanges: Mutex<Vec<Exchange>>,
}

impl ReadOnly {
    fn note(&self, exchange: Exchange) {
        let mut exchanges = self.exchanges.lock();
        exchanges
            .as_deref_mut()
            .map_or_else(|_| (), |exchanges| exchanges.push(exchange));
    }
}

#[async_trait]
impl Api for ReadOnly {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let reads = call.method == Method::GET;
        let body = call.body.as_ref();
        let mut exchange = Exchange {
            method: call.method.to_string(),
            url: call.url.clone(),
            body: body.and_then(|body| serde_json::from_slice(body).ok()),
            status: 200,
            recorded: reads,
        };
        if !reads {
            self.note(exchange);
            return Ok(Answer {
                status: StatusCode::OK,
                headers: Default::default(),
                body: "{}".into(),
                attempts: 0,
            });
        }
        let answer = self.inner.call(call).await;
        exchange.status = match &answer {
            Ok(answer) => answer.status.as_u16(),
            Err(error) => error.status().map_or(0, |status| status.as_u16()),
        };
        self.note(exchange);
        answer
    }

    fn retry(&self) -> Retry {
        self.inner.retry()
    }
}

/// Tries an event out with a live engine's API and target.
pub async fn preview(
    engine: Engine,
    event: &[u8],
    now: DateTime<Utc>,
) -> Result<Trace, DryRunError> {
    let event = Event::decode(event)?;
    let api = Arc::new(ReadOnly {
        inner: Arc::clone(&engine.api),
        exchanges: Mutex::default(),
    });
    let target = Arc::new(PreviewTransport::new(Arc::clone(&engine.transport)));
    let maestro = Arc::new(PreviewTransport::new(Arc::clone(&engine.maestro)));
    let engine = Engine {
        api: Arc::clone(&api) as Arc<dyn Api>,
        transport: Arc::clone(&target) as Arc<dyn Transport>,
        maestro: Arc::clone(&maestro) as Arc<dyn Transport>,
        metrics: None,
        ..engine
    };
    let run = engine.handle(&event, now).await;
    let exchanges = api.exchanges.lock();
    let exchanges = exchanges.unwrap_or_else(|held| held.into_inner()).clone();
    let mut trace = trace(run, exchanges);
    trace.previews = target.previews();
    trace.previews.extend(maestro.previews());
    Ok(trace)
}
