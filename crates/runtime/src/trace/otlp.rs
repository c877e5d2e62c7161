//! Spans to a collector, through the OpenTelemetry SDK.

use std::collections::HashMap;
use std::time::Duration;

use axum::http::HeaderMap;
use opentelemetry::propagation::{TextMapCompositePropagator, TextMapPropagator};
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use tracing::span::Id;
use tracing::{Dispatch, Level, Span, Subscriber};
use tracing_opentelemetry::{OpenTelemetrySpanExt, get_otel_context};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use super::settings::{Propagation, Root, Sampling, Settings};
use super::{TraceError, TracingConfig};
use crate::shutdown::COMPONENT_SPAN;

mod client;

/// What is still unsent at the end gets this long.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// The export of spans. [`Traces::shutdown`] sends what is left.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Sets up the export, if the configuration asks for it. Needs a running tokio runtime. The
    /// collector need not be there: spans that cannot be sent are dropped and that is logged.
    pub fn start(
        config: &TracingConfig,
        component: &str,
        version: &str,
    ) -> Result<Option<Self>, TraceError> {
        let lookup = |name: &str| std::env::var(name).ok();
        Self::start_with(config, component, version, &lookup)
    }

    /// As [`Traces::start`], with other variables than the process' own.
    pub fn start_with(
        config: &TracingConfig,
        component: &str,
        version: &str,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, TraceError> {
        if !config.enabled {
            return Ok(None);
        }
        let settings = Settings::read(config, lookup)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(&settings.endpoint)
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(settings.timeout)
            .with_http_client(client::Client::new(settings.timeout)?)
            .build()
            .map_err(|error| TraceError::Exporter(error.to_string()))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(sampler(settings.sampling))
            .with_resource(resource(config, component, version))
            .build();
        global::set_text_map_propagator(propagator(settings.propagation));
        let tracer = provider.tracer("hyperfleet");
        Ok(Some(Self { provider, tracer }))
    }

    /// The layer that hears spans, whatever level is logged.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.tracer.clone())
            .with_filter(filter_fn(|about| {
                *about.level() <= Level::INFO && about.name() != COMPONENT_SPAN
            }))
    }

    /// Sends what is left, for at most five seconds.
    pub async fn shutdown(self) {
        // The SDK blocks its caller until its own thread is done.
        let flushed =
            tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(FLUSH_TIMEOUT));
        match flushed.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last spans could not be sent"),
            Err(error) => tracing::warn!(%error, "the export of spans did not end well"),
        }
    }
}

fn sampler(sampling: Sampling) -> Sampler {
    let root = match sampling.root {
        Root::AlwaysOn => Sampler::AlwaysOn,
        Root::AlwaysOff => Sampler::AlwaysOff,
        Root::Ratio(ratio) => Sampler::TraceIdRatioBased(ratio),
    };
    if sampling.follows_parent {
        Sampler::ParentBased(Box::new(root))
    } else {
        root
    }
}

fn propagator(propagation: Propagation) -> TextMapCompositePropagator {
    let mut all: Vec<Box<dyn TextMapPropagator + Send + Sync>> = Vec::new();
    if propagation.trace_context {
        all.push(Box::new(TraceContextPropagator::new()));
    }
    if propagation.baggage {
        all.push(Box::new(BaggagePropagator::new()));
    }
    TextMapCompositePropagator::new(all)
}

/// The SDK reads `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`; what it finds there holds
/// unless the configuration says otherwise.
fn resource(config: &TracingConfig, component: &str, version: &str) -> Resource {
    let from_environment = Resource::builder().build();
    let service_name = opentelemetry::Key::from_static_str("service.name");
    let known = from_environment
        .get(&service_name)
        .map(|name| name.to_string())
        .filter(|name| !name.is_empty() && !name.starts_with("unknown_service"));
    let name = config
        .service_name
        .clone()
        .or(known)
        .unwrap_or_else(|| format!("hyperfleet-{component}"));
    let version_key = opentelemetry::Key::from_static_str("service.version");
    let mut builder = Resource::builder().with_service_name(name);
    if from_environment.get(&version_key).is_none() {
        builder = builder.with_attribute(KeyValue::new("service.version", version.to_owned()));
    }
    builder.build()
}

/// The W3C `traceparent` of the current span, for the extension of an event.
pub fn current_traceparent() -> Option<String> {
    let mut carrier: HashMap<String, String> = HashMap::new();
    let context = Span::current().context();
    global::get_text_map_propagator(|propagator| propagator.inject_context(&context, &mut carrier));
    carrier.remove("traceparent")
}

/// Makes `span` a child of the span a `traceparent` names. What is no `traceparent` is ignored, as
/// W3C asks. Call it before the span is entered.
pub fn set_parent(span: &Span, traceparent: &str) {
    let carrier = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    let parent = global::get_text_map_propagator(|propagator| propagator.extract(&carrier));
    adopt(span, parent);
}

/// Adds the context of the current span to the headers of a request.
pub fn inject(headers: &mut HeaderMap) {
    let context = Span::current().context();
    global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut HeaderInjector(headers));
    });
}

/// Makes `span` a child of the span that the headers of a request name, if they do. Call it
/// before the span is entered.
pub fn extract(span: &Span, headers: &HeaderMap) {
    let parent =
        global::get_text_map_propagator(|propagator| propagator.extract(&HeaderExtractor(headers)));
    adopt(span, parent);
}

fn adopt(span: &Span, parent: Context) {
    if parent.span().span_context().is_valid()
        && let Err(error) = span.set_parent(parent)
    {
        // Only without the layer (tracing is off) or for a span that has already begun.
        tracing::trace!(%error, "the span keeps its own parent");
    }
}

/// Trace and span id of a span, if it is part of a trace.
pub fn ids_of(span: &Id, dispatch: &Dispatch) -> Option<(String, String)> {
    let context = get_otel_context(span, dispatch)?;
    let own = context.span().span_context().clone();
    own.is_valid()
        .then(|| (own.trace_id().to_string(), own.span_id().to_string()))
}
