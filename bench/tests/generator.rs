//! The program as a user runs it, against a server that counts.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// What was asked, and how often: `GET /clusters/-`.
type Asked = Arc<Mutex<BTreeMap<String, u64>>>;

async fn answer(State(asked): State<Asked>, request: Request) -> Response {
    let path = request.uri().path().replace("/api/hyperfleet/v1", "");
    let kind = path.split('/').map(|segment| {
        if segment.starts_with("id-") {
            "-"
        } else {
            segment
        }
    });
    let kind = format!(
        "{} {}",
        request.method(),
        kind.collect::<Vec<_>>().join("/")
    );
    let count = {
        let mut asked = asked.lock().unwrap();
        let count = asked.entry(kind.clone()).or_default();
        *count += 1;
        *count
    };
    let refused = request
        .headers()
        .get("x-key")
        .is_none_or(|key| key != "let me in");
    match kind.as_str() {
        _ if refused => StatusCode::UNAUTHORIZED.into_response(),
        "POST /clusters" => {
            let id = json!({"id": format!("id-{count}")}).to_string();
            (StatusCode::CREATED, id).into_response()
        }
        "PUT /clusters/-/statuses" => StatusCode::CREATED.into_response(),
        "PATCH /clusters/-" => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        "GET /api/hyperfleet" => json!({"version": "v1.0-test"}).to_string().into_response(),
        _ => StatusCode::OK.into_response(),
    }
}

/// Starts the server on a thread of its own; where it listens and what it was asked.
fn server() -> (String, Asked) {
    let asked = Asked::default();
    let router = axum::Router::new()
        .fallback(answer)
        .with_state(asked.clone());
    let (ready, listening) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            ready.send(listener.local_addr().unwrap()).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    (format!("http://{}", listening.recv().unwrap()), asked)
}

fn bench(url: &str, more: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_hyperfleet-bench"))
        .args([
            "api",
            "--server",
            url,
            "--clusters",
            "250",
            "--report-clusters",
            "10",
        ])
        .args(["--duration", "200ms", "--concurrency", "3"])
        .args(["--header", "X-Key: let me in"])
        .args(more)
        .output()
        .unwrap()
}

#[test]
fn every_scenario_is_measured_and_failures_are_told_by_status() {
    let (url, asked) = server();
    let output = bench(
        &url,
        &["-o", "json", "--pid", &std::process::id().to_string()],
    );
    // A scenario of which nothing succeeds makes the whole run a failure.
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("patch: no request succeeded"), "{stderr}");
    let measured: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(measured["machine"]["server_version"], "v1.0-test");
    assert_eq!(measured["flags"]["duration"], "200ms");
    for scenario in measured["scenarios"].as_array().unwrap() {
        let name = scenario["name"].as_str().unwrap();
        let (requests, failed) = (&scenario["requests"], &scenario["failed"]);
        assert!(requests.as_u64() > Some(0), "{scenario:#}");
        assert!(scenario["spent"]["server_rss_mib"].is_number());
        if name == "patch" {
            assert_eq!(&scenario["outcomes"]["503"], requests);
            assert_eq!((failed, &scenario["per_second"]), (requests, &json!(0.0)));
        } else {
            assert_eq!(failed, 0, "{scenario:#}");
            assert!(scenario["p50_ms"].as_f64() <= scenario["p999_ms"].as_f64());
        }
    }
    let asked = asked.lock().unwrap();
    let kinds: Vec<&str> = asked.keys().map(String::as_str).collect();
    assert_eq!(
        kinds,
        [
            "GET /api/hyperfleet",
            "GET /clusters",
            "GET /clusters/-",
            "PATCH /clusters/-",
            "POST /clusters",
            "PUT /clusters/-/statuses",
        ]
    );
}

#[test]
fn only_what_is_asked_for_is_measured_on_a_fleet_of_the_size_asked_for() {
    let (url, asked) = server();
    let output = bench(&url, &["--only", "get,list-label"]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    let names: Vec<&str> = stdout
        .lines()
        .skip_while(|line| !line.starts_with("scenario"))
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names, ["seed", "get", "list-label"]);
    let asked = asked.lock().unwrap();
    assert_eq!(asked["POST /clusters"], 250);
    assert_eq!(
        asked["PUT /clusters/-/statuses"], 3,
        "one in a hundred fails"
    );
}

#[test]
fn a_server_that_refuses_the_seed_stops_the_run_with_its_answer() {
    let (url, _) = server();
    let output = bench(&url, &["--header", "X-Key: wrong"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        stderr.contains("the fleet cannot be prepared: 401"),
        "{stderr}"
    );
}
