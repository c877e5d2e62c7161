//! What becomes of the record of a deletion when the API does not take it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyperfleet_sweeper::Sweeper;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::promises;
use crate::world::World;

promises![
    a_deletion_the_api_could_not_be_told_is_told_with_the_next_pass,
    an_api_that_takes_no_notes_is_not_asked_again,
];

const AWAY: &str =
    "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const UNKNOWN: &str =
    "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// In front of an API: lets everything through but notes, while it is told to.
struct Gate {
    url: String,
    closed: Arc<AtomicBool>,
    refused: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Gate {
    async fn before(api: &str, refusal: &'static str) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let api = api.strip_prefix("http://").unwrap().to_owned();
        let closed = Arc::new(AtomicBool::new(true));
        let refused = Arc::new(AtomicUsize::new(0));
        let (shut, count) = (Arc::clone(&closed), Arc::clone(&refused));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let refusal = shut.load(Ordering::SeqCst).then_some(refusal);
                if pass_on(stream, &api, refusal).await.is_none() {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        Gate {
            url,
            closed,
            refused,
            task,
        }
    }
}

/// One request; `None` if it was refused.
async fn pass_on(mut stream: TcpStream, api: &str, refusal: Option<&str>) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.ok();
        head.push(byte.unwrap_or(b'\n'));
        if byte.is_none() {
            return Some(());
        }
    }
    if let Some(refusal) = refusal
        && head.starts_with(b"POST ")
    {
        stream.write_all(refusal.as_bytes()).await.unwrap();
        return None;
    }
    // One request for each connection, so that each is looked at.
    head.truncate(head.len() - 2);
    head.extend_from_slice(b"connection: close\r\n\r\n");
    let mut upstream = TcpStream::connect(api).await.unwrap();
    upstream.write_all(&head).await.unwrap();
    tokio::spawn(async move { copy_bidirectional(&mut stream, &mut upstream).await });
    Some(())
}

async fn a_deletion_the_api_could_not_be_told_is_told_with_the_next_pass(world: World) {
    let removed = world.api.removed("removed").await;
    for index in 0..3 {
        world.make(&format!("gone-{index}"), &removed).await;
    }
    let gate = Gate::before(&world.api.url, AWAY).await;
    let mut options = world.options();
    options
        .clients
        .hyperfleet_api
        .base_url
        .clone_from(&gate.url);
    let cluster = Arc::clone(&world.cluster);
    let sweeper = Sweeper::new(options, cluster, None).unwrap();
    let stop = CancellationToken::new();
    let first = world.pass(&sweeper, &stop).await;
    assert_eq!((first.report.swept, first.report.unrecorded), (3, 3));
    assert!(first.report.complete, "{:?}", first.report);
    assert!(!world.exists("gone-0").await, "the sweep is not undone");
    assert_eq!(
        gate.refused.load(Ordering::SeqCst),
        2,
        "once at the first deletion, once at the end"
    );
    assert!(world.api.audit("object.deleted").await.is_empty());
    gate.closed.store(false, Ordering::SeqCst);
    let second = world.pass(&sweeper, &stop).await;
    assert_eq!((second.report.swept, second.report.unrecorded), (0, 0));
    assert_eq!(world.api.audit("object.deleted").await.len(), 3);
}

async fn an_api_that_takes_no_notes_is_not_asked_again(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("gone", &removed).await;
    world.make("gone-too", &removed).await;
    let gate = Gate::before(&world.api.url, UNKNOWN).await;
    let mut options = world.options();
    options
        .clients
        .hyperfleet_api
        .base_url
        .clone_from(&gate.url);
    let swept = world.sweep_with(options).await;
    assert_eq!(swept.of("gone").0, "deleted");
    assert_eq!(swept.report.unrecorded, 0);
    assert_eq!(gate.refused.load(Ordering::SeqCst), 1);
}
