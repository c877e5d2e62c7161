//! Spans reach a collector, and their context travels between processes.
#![cfg(feature = "otlp")]

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use hyperfleet_runtime::http;
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_runtime::trace::{self, Traces, TracingConfig};
use tokio::sync::mpsc;
use tracing_subscriber::layer::SubscriberExt;

type Anything = Box<dyn std::error::Error + Send + Sync>;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// One test, because the propagator is one per process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_are_exported_with_their_context() -> Result<(), Anything> {
    let (sender, mut received) = mpsc::channel::<(HeaderMap, Bytes)>(8);
    let sender = Arc::new(sender);
    let collector = axum::Router::new().route(
        "/v1/traces",
        post(move |headers: HeaderMap, body: Bytes| async move {
            let _ = sender.send((headers, body)).await;
            ""
        }),
    );
    let listener = http::bind("127.0.0.1", 0, "x").await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    let shutdown = Shutdown::new();
    let serving = tokio::spawn(http::serve(
        listener,
        collector,
        shutdown.token(),
        http::ServeOptions::default(),
    ));

    assert_eq!(trace::current_traceparent(), None);
    let config = TracingConfig {
        enabled: true,
        service_name: Some("the-service".into()),
        ..Default::default()
    };
    let lookup = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| endpoint.clone());
    let traces = Traces::start_with(&config, "api", "1.0", &lookup)?.ok_or("it is enabled")?;
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    let (current, headers) = tracing::subscriber::with_default(subscriber, || {
        let span = tracing::info_span!("adapter.process");
        trace::set_parent(&span, PARENT);
        let _entered = span.enter();
        let mut headers = HeaderMap::new();
        trace::inject(&mut headers);
        (trace::current_traceparent(), headers)
    });
    let current = current.ok_or("the span is part of a trace")?;
    assert!(
        current.starts_with("00-0af7651916cd43dd8448eb211c80319c-"),
        "{current}"
    );
    assert_ne!(current, PARENT);
    assert_eq!(headers["traceparent"], current.as_str());

    traces.shutdown().await;
    let (headers, body) = tokio::time::timeout(Duration::from_secs(5), received.recv())
        .await?
        .ok_or("the collector is gone")?;
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let text = String::from_utf8_lossy(&body);
    assert!(
        text.contains("adapter.process") && text.contains("the-service"),
        "{text}"
    );
    shutdown.trigger();
    serving.await?;

    let off = TracingConfig::default();
    assert!(Traces::start(&off, "api", "1.0")?.is_none());
    let grpc = |name: &str| (name == "OTEL_EXPORTER_OTLP_PROTOCOL").then(|| "grpc".to_owned());
    let error = Traces::start_with(&config, "api", "1.0", &grpc).expect_err("no gRPC");
    assert!(error.to_string().contains("http/protobuf"), "{error}");
    Ok(())
}
