//! `get -w` goes on when the connection does not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use crate::running::{Api, data_dir, hyperfleet, signal};

const PATIENCE: Duration = Duration::from_secs(30);

/// Something between a client and a server that can break.
struct Line {
    url: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(server: &str) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (server, open) = (server.to_owned(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&open);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let ends = [client.try_clone().unwrap(), server.try_clone().unwrap()];
                kept.lock().unwrap().extend(ends);
                pass(client.try_clone().unwrap(), server.try_clone().unwrap());
                pass(server, client);
            }
        });
        Line { url, open }
    }

    fn cut(&self) {
        for end in self.open.lock().unwrap().drain(..) {
            // Closed by its owner already: as good.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn until(lines: &Receiver<String>, wanted: &str) -> String {
    loop {
        let line = lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("no line with {wanted}"));
        if line.contains(wanted) {
            return line;
        }
    }
}

struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        signal(self.0.id(), "-9");
        let _ = self.0.wait();
    }
}

#[test]
fn a_watch_that_breaks_is_resumed_and_misses_nothing() {
    let directory = data_dir();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/api.yaml");
    let api = Api::serve(&config, directory.path());
    let line = Line::to(&api.address());
    let cluster = |name: &str| json!({"kind": "Cluster", "name": name, "spec": {}});
    let path = "/api/hyperfleet/v1/clusters";
    api.post(path, &cluster("before"));
    let child = hyperfleet()
        .args(["get", "clusters", "-w", "--server", &line.url])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut watching = Watching(child);
    let rows = lines_of(watching.0.stdout.take().unwrap());
    let told = lines_of(watching.0.stderr.take().unwrap());
    until(&rows, "before");
    api.post(path, &cluster("during"));
    assert!(until(&rows, "during").contains("Pending"));
    line.cut();
    api.post(path, &cluster("meanwhile"));
    until(&rows, "meanwhile");
    until(&told, "the watch broke");
}
