//! PostgreSQL stops, crashes and comes back while the API is in use.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use hyperfleet_store::PrivateServer;
use serde_json::{Value, json};

use crate::running::{data_dir, hyperfleet, signal};

const WRITERS: usize = 6;
/// Longer than any request may take: waiting for a connection (5 s) and a statement (30 s).
const DEADLINE: Duration = Duration::from_secs(45);
const PATIENCE: Duration = Duration::from_secs(90);

/// An API that uses a database of the test's.
struct Api {
    child: Child,
    url: String,
    health: String,
}

impl Api {
    fn start(database: &str, directory: &Path) -> Api {
        let mut child = hyperfleet()
            .args(["api", "serve", "--migrate", "--log-format", "json"])
            .args([
                "--server-port",
                "0",
                "--health-port",
                "0",
                "--metrics-port",
                "0",
            ])
            .arg("--data-dir")
            .arg(directory)
            .env("DATABASE_URL", database)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listens = lines
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
            .find(|line| line["message"] == "the API listens")
            .expect("it says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        let address = |field: &str| listens[field].as_str().unwrap().to_owned();
        Api {
            child,
            url: format!("http://{}/api/hyperfleet/v1", address("address")),
            health: format!("http://{}/readyz", address("health")),
        }
    }

    /// Waits until `/readyz` answers so.
    fn wait_for_readiness(&self, status: u16) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (found, body) = call("GET", &self.health, None);
            if found == status {
                return body;
            }
            assert!(Instant::now() < deadline, "still {found}: {body}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        signal(self.child.id(), "-INT");
        let _ = self.child.wait();
    }
}

/// Status and body; a call that is not answered within the deadline fails the test.
fn call(method: &str, url: &str, body: Option<&Value>) -> (u16, Value) {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(DEADLINE))
        .build()
        .new_agent();
    let request = ureq::http::Request::builder().method(method).uri(url);
    let request = request
        .body(body.map(Value::to_string).unwrap_or_default())
        .unwrap();
    let mut response = agent
        .run(request)
        .unwrap_or_else(|error| panic!("{method} {url}: {error}"));
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string().unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    if status >= 400 {
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert!(
            kind == "application/problem+json" || url.ends_with("/readyz"),
            "{kind}: {text}"
        );
    }
    (status, body)
}

/// What a writer was told about its clusters: for each, the last number it had acknowledged and the last it sent.
type Told = BTreeMap<String, (u64, u64)>;

/// Creates a cluster now and then and changes the newest, until told to stop. Says how each request ended.
fn write(api: &str, writer: usize, stop: &AtomicBool, ended: &SyncSender<(usize, u16)>) -> Told {
    let mut told = Told::new();
    let mut newest: Option<String> = None;
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let spec = json!({ "number": number });
        let status = match newest.clone().filter(|_| number % 5 != 0) {
            None => {
                let name = format!("writer-{writer}-{number}");
                let body = json!({"kind": "Cluster", "name": name, "spec": spec});
                let (status, answer) = call("POST", &format!("{api}/clusters"), Some(&body));
                if status == 201 {
                    let id = answer["id"].as_str().unwrap().to_owned();
                    told.insert(id.clone(), (number, number));
                    newest = Some(id);
                }
                status
            }
            Some(id) => {
                let body = json!({ "spec": spec });
                let url = format!("{api}/clusters/{id}");
                let (status, _) = call("PATCH", &url, Some(&body));
                let known = told.get_mut(&id).unwrap();
                known.1 = number;
                if status == 200 {
                    known.0 = number;
                }
                status
            }
        };
        if ended.send((writer, status)).is_err() {
            break;
        }
    }
    told
}

/// Waits until every writer had `count` requests that ended as wanted.
fn wait_for(ended: &Receiver<(usize, u16)>, count: usize, wanted: impl Fn(u16) -> bool) {
    let mut seen = [0; WRITERS];
    while seen.iter().any(|seen| *seen < count) {
        let (writer, status) = ended
            .recv_timeout(PATIENCE)
            .expect("requests go on being answered");
        assert!(
            matches!(status, 200 | 201 | 503),
            "a request ended with {status}"
        );
        seen[writer] += usize::from(wanted(status));
    }
}

#[test]
fn a_restart_of_postgresql_costs_time_and_nothing_that_was_acknowledged() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = data_dir();
    let start = || {
        runtime
            .block_on(PrivateServer::start(directory.path()))
            .unwrap()
    };
    let server = start();
    let api = Api::start(&server.url(), directory.path());
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, ended) = sync_channel(WRITERS);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (url, stop, sender) = (api.url.clone(), stop.clone(), sender.clone());
            std::thread::spawn(move || write(&url, writer, &stop, &sender))
        })
        .collect();
    drop(sender);
    let good = |status| status < 300;
    wait_for(&ended, 20, good);
    api.wait_for_readiness(200);

    runtime.block_on(server.stop());
    wait_for(&ended, 2, |status| status == 503);
    let unready = api.wait_for_readiness(503);
    assert_ne!(unready["checks"]["database"], "ok", "{unready}");
    let server = start();
    api.wait_for_readiness(200);
    wait_for(&ended, 20, good);

    // Without a checkpoint and without a word to its clients: the next start replays its log.
    let pid =
        std::fs::read_to_string(directory.path().join("postgres/data/postmaster.pid")).unwrap();
    signal(pid.lines().next().unwrap().parse().unwrap(), "-QUIT");
    runtime.block_on(server.stop());
    wait_for(&ended, 2, |status| status == 503);
    let server = start();
    wait_for(&ended, 20, good);
    api.wait_for_readiness(200);

    stop.store(true, Ordering::Relaxed);
    while ended.recv().is_ok() {}
    for writer in writers {
        for (id, (acknowledged, sent)) in writer.join().unwrap() {
            let (status, cluster) = call("GET", &format!("{}/clusters/{id}", api.url), None);
            assert_eq!(status, 200, "{cluster}");
            // A change that was answered with 503 may have been made: nobody was told either way.
            let number = cluster["spec"]["number"].as_u64().unwrap();
            assert!(
                (acknowledged..=sent).contains(&number),
                "{acknowledged} was acknowledged, {sent} was sent last, and it is {number}"
            );
        }
    }
    drop(api);
    runtime.block_on(server.stop());
}
