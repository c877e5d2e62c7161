//! How many requests, how fast, how they ended.

use std::time::Duration;

use hyperfleet_runtime::metrics::{API_BUCKETS, Metrics, MetricsError};
use prometheus::{HistogramVec, IntCounterVec};

/// Requests by route. Paths are templates with `-` for an id, so that the number of series is fixed.
#[derive(Debug, Clone)]
pub struct HttpMetrics {
    requests: IntCounterVec,
    duration: HistogramVec,
}

impl HttpMetrics {
    pub fn register(metrics: &Metrics) -> Result<HttpMetrics, MetricsError> {
        let labels = ["method", "path", "code"];
        Ok(HttpMetrics {
            requests: metrics.counter_vec("requests_total", "Requests handled.", &labels)?,
            duration: metrics.histogram_vec(
                "request_duration_seconds",
                "Time to handle a request.",
                &labels,
                &API_BUCKETS,
            )?,
        })
    }

    pub(crate) fn observe(&self, method: &str, route: &str, code: u16, elapsed: Duration) {
        let path = template(route);
        let code = code.to_string();
        let labels = [method, path.as_str(), code.as_str()];
        self.requests.with_label_values(&labels).inc();
        self.duration
            .with_label_values(&labels)
            .observe(elapsed.as_secs_f64());
    }
}

/// `/clusters/{id}/statuses/` → `/clusters/-/statuses`
fn template(route: &str) -> String {
    let segments: Vec<&str> = route
        .trim_end_matches('/')
        .split('/')
        .map(|segment| {
            if segment.starts_with('{') {
                "-"
            } else {
                segment
            }
        })
        .collect();
    segments.join("/")
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_not_label_values() {
        assert_eq!(
            super::template("/clusters/{id}/statuses/"),
            "/clusters/-/statuses"
        );
        assert_eq!(super::template("/clusters"), "/clusters");
    }
}
