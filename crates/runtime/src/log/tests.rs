use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value as Json;
use tracing::subscriber::with_default;

use super::*;

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn log(shape: Shape, work: impl FnOnce()) -> String {
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let identity = Identity {
        component: "api".into(),
        version: "1.0".into(),
        hostname: "host".into(),
    };
    let subscriber =
        Registry::default().with(LogLayer::new(shape, identity, move || writer.clone()));
    with_default(subscriber, work);
    let bytes = buffer.0.lock().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn json_lines_have_the_promised_keys_first_and_then_all_fields() {
    let line = log(Shape::Json, || {
        let span = tracing::info_span!("request", request_id = "r1", cluster_id = "outer");
        let _entered = span.enter();
        tracing::warn!(cluster_id = "c1", count = 3, ok = true, "it \"broke\"");
    });
    let (head, rest) = line.split_once(",\"level\"").unwrap();
    assert!(
        head.starts_with("{\"timestamp\":\"2") && head.ends_with("Z\""),
        "{line}"
    );
    assert_eq!(
        rest,
        ":\"warn\",\"message\":\"it \\\"broke\\\"\",\"component\":\"api\",\"version\":\"1.0\",\
         \"hostname\":\"host\",\"request_id\":\"r1\",\"cluster_id\":\"c1\",\"count\":3,\"ok\":true}\n"
    );
}

#[test]
fn a_span_may_speak_for_another_component() {
    let text = log(Shape::Json, || {
        let span = tracing::info_span!("sentinel", component = "sentinel");
        let _entered = span.enter();
        tracing::info!("polled");
    });
    let line: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(line["component"], "sentinel");
    assert_eq!(text.matches("component").count(), 1);
}

#[tokio::test]
async fn components_of_one_process_are_told_apart_also_in_the_tasks_they_start() {
    use crate::health::Health;
    use crate::shutdown::{Process, Shutdown};

    let buffer = Buffer::default();
    let writer = buffer.clone();
    let identity = Identity::of_this_host("up", "1.0");
    let layer = LogLayer::new(Shape::Json, identity, move || writer.clone());
    let _guard = tracing::subscriber::set_default(Registry::default().with(layer));
    let mut process = Process::new(Shutdown::new(), Health::new(), Duration::from_secs(5));
    for name in ["api", "sentinel"] {
        process.component(name, |shutdown| async move {
            shutdown.spawn(async { tracing::info!("task") });
            Ok::<(), std::io::Error>(())
        });
    }
    process.run().await.unwrap();
    tracing::info!("end");
    let text = String::from_utf8(buffer.0.lock().clone()).unwrap();
    let mut seen: Vec<(String, String)> = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap())
        .filter(|line| line["level"] == "info")
        .map(|line| (line["component"].to_string(), line["message"].to_string()))
        .collect();
    seen.sort();
    let expected = [
        ("\"api\"", "\"task\""),
        ("\"sentinel\"", "\"task\""),
        ("\"up\"", "\"end\""),
    ];
    assert_eq!(
        seen,
        expected.map(|(name, text)| (name.to_owned(), text.to_owned()))
    );
}

#[test]
fn fields_recorded_later_are_on_the_lines_that_follow() {
    let text = log(Shape::Json, || {
        let span = tracing::info_span!("work", outcome = tracing::field::Empty);
        let _entered = span.enter();
        tracing::info!("before");
        span.record("outcome", "done");
        tracing::info!("after");
    });
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0].get("outcome"), None);
    assert_eq!(lines[1]["outcome"], "done");
}

#[test]
fn a_field_cannot_replace_a_promised_key() {
    let text = log(Shape::Json, || tracing::info!(level = "fake", "x"));
    let line: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(line["level"], "info");
    assert_eq!(line["level_"], "fake");
}

#[test]
fn an_error_is_logged_with_its_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot connect")]
    struct Outer(#[source] std::io::Error);
    let text = log(Shape::Json, || {
        let error = Outer(std::io::Error::other("refused"));
        tracing::error!(error = &error as &dyn std::error::Error, "failed");
    });
    let line: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(line["error"], "cannot connect: refused");
}

#[test]
fn text_is_short_and_coloured_only_when_asked() {
    let work = || {
        tracing::info!(
            id = "c1",
            why = "two words",
            "started\nsecond \u{1b}[31mline"
        )
    };
    let plain = log(Shape::Text { colour: false }, work);
    let (time, rest) = plain.split_once(' ').unwrap();
    assert_eq!(time.len(), "12:34:56.789".len());
    assert_eq!(
        rest,
        "INFO  api      started\n    second \u{fffd}[31mline id=c1 why=\"two words\"\n"
    );
    assert!(log(Shape::Text { colour: true }, work).contains("\u{1b}[32mINFO"));
}

#[test]
fn fields_of_spans_below_the_logged_level_are_on_the_line() {
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let identity = Identity::of_this_host("api", "1.0");
    let layer = LogLayer::new(Shape::Json, identity, move || writer.clone());
    let filter = with_spans(filter(LogLevel::Warn, None).unwrap());
    with_default(Registry::default().with(layer.with_filter(filter)), || {
        let span = tracing::info_span!("request", component = "sentinel", request_id = "r1");
        let _entered = span.enter();
        tracing::info!("not shown");
        tracing::warn!("shown");
    });
    let text = String::from_utf8(buffer.0.lock().clone()).unwrap();
    let line: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&line["message"], &line["component"]),
        (&"shown".into(), &"sentinel".into())
    );
    assert_eq!(line["request_id"], "r1");
}

#[cfg(feature = "otlp")]
#[tokio::test]
async fn lines_carry_the_ids_of_their_trace() {
    let config = crate::trace::TracingConfig {
        enabled: true,
        service_name: None,
        ..Default::default()
    };
    // Spans that are not sampled have ids, too, and nothing is sent.
    let lookup = |name: &str| (name == "OTEL_TRACES_SAMPLER").then(|| "always_off".to_owned());
    let traces = Traces::start_with(&config, "api", "1.0", &lookup)
        .unwrap()
        .unwrap();
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let identity = Identity::of_this_host("api", "1.0");
    let layer = LogLayer::new(Shape::Json, identity, move || writer.clone());
    let filter = with_spans(filter(LogLevel::Info, None).unwrap());
    let subscriber = Registry::default()
        .with(traces.layer::<Registry>())
        .with(layer.with_filter(filter));
    with_default(subscriber, || {
        let span = tracing::info_span!("request");
        crate::trace::set_parent(
            &span,
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        );
        span.in_scope(|| tracing::info!("inside"));
        tracing::info!("outside");
    });
    let text = String::from_utf8(buffer.0.lock().clone()).unwrap();
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(lines[0]["span_id"].as_str().unwrap().len(), 16);
    assert_eq!(lines[1].get("trace_id"), None);
}

#[test]
fn levels_are_read_as_the_go_components_read_them() {
    let read = |text: &str| serde_json::from_value::<LogLevel>(Json::from(text));
    assert_eq!(read(" Warning ").unwrap(), LogLevel::Warn);
    assert_eq!(read("DEBUG").unwrap(), LogLevel::Debug);
    assert!(
        read("loud")
            .unwrap_err()
            .to_string()
            .contains("unknown variant `loud`")
    );
    assert_eq!("error".parse(), Ok(LogLevel::Error));
    assert_eq!(serde_json::to_value(LogLevel::Info).unwrap(), "info");
}

#[test]
fn rust_log_overrides_the_level_and_must_be_readable() {
    let shown = |level, text: Option<&str>| filter(level, text.map(str::to_owned));
    assert_eq!(shown(LogLevel::Warn, None).unwrap().to_string(), "warn");
    assert_eq!(
        shown(LogLevel::Warn, Some("hyper=trace"))
            .unwrap()
            .to_string(),
        "hyper=trace"
    );
    assert!(
        shown(LogLevel::Debug, Some(""))
            .unwrap()
            .to_string()
            .contains("hyperfleet=debug")
    );
    let error = shown(LogLevel::Info, Some("a=b=c"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read the environment variable RUST_LOG"),
        "{error}"
    );
}
