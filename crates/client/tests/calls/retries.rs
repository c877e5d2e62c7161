use std::time::{Duration, Instant};

use hyperfleet_client::{Call, Cause, Client, ClientConfig, Method, Retry};
use serde_json::json;

use crate::server::{Server, plain};

#[tokio::test]
async fn a_server_error_is_tried_again_and_a_later_success_counts() {
    let server = Server::start(|n, _| plain(if n < 2 { 503 } else { 200 }, "fine")).await;
    let answer = server.client().call(Call::get("clusters")).await.unwrap();
    assert_eq!((answer.attempts, &answer.body[..]), (3, &b"fine"[..]));
}

#[tokio::test]
async fn after_the_last_attempt_the_error_says_how_often_and_what() {
    let server = Server::start(|_, _| plain(500, "broken\n  pipe")).await;
    let error = server
        .client()
        .call(Call::get("clusters"))
        .await
        .unwrap_err();
    assert_eq!((error.attempts, server.asked().len()), (3, 3));
    let text = error.to_string();
    let expected = format!(
        "GET {}/api/hyperfleet/v1/clusters answered 500 Internal Server Error: broken pipe (3 attempts, ",
        server.url
    );
    assert!(text.starts_with(&expected), "{text}");
    assert!(error.is_transient());
}

#[tokio::test]
async fn a_refusal_is_not_tried_again() {
    for status in [400, 401, 403, 404, 409, 422, 302] {
        let server = Server::start(move |_, _| plain(status, "")).await;
        let error = server
            .client()
            .call(Call::get("clusters"))
            .await
            .unwrap_err();
        assert_eq!(error.status().unwrap().as_u16(), status);
        assert_eq!(server.asked().len(), 1, "{status}");
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn too_many_requests_and_request_timeout_are_tried_again() {
    for status in [408, 429] {
        let server = Server::start(move |n, _| plain(if n == 0 { status } else { 200 }, "")).await;
        assert_eq!(
            server
                .client()
                .call(Call::get("clusters"))
                .await
                .unwrap()
                .attempts,
            2
        );
    }
}

#[tokio::test]
async fn retry_after_is_honoured_up_to_the_longest_wait_allowed() {
    let server = Server::start(|n, _| {
        let mut answer = plain(if n == 0 { 429 } else { 200 }, "");
        answer
            .headers_mut()
            .insert("retry-after", "3600".parse().unwrap());
        answer
    })
    .await;
    let client = Client::new(ClientConfig {
        retry: Retry {
            base_delay: Duration::ZERO,
            max_delay: Duration::from_millis(150),
            ..Retry::default()
        },
        ..server.config()
    })
    .unwrap();
    let started = Instant::now();
    client.call(Call::get("clusters")).await.unwrap();
    let waited = started.elapsed();
    assert!(
        waited >= Duration::from_millis(150) && waited < Duration::from_secs(60),
        "{waited:?}"
    );
}

#[tokio::test]
async fn a_call_may_bring_its_own_patience() {
    let server = Server::start(|_, _| plain(503, "")).await;
    let error = server
        .client()
        .call(Call::get("clusters").retry(Retry::NEVER))
        .await
        .unwrap_err();
    assert_eq!(error.attempts, 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_transport_error_after_all_attempts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new(ClientConfig {
        retry: Retry {
            base_delay: Duration::ZERO,
            ..Retry::default()
        },
        ..ClientConfig::new(url)
    })
    .unwrap();
    let error = client.call(Call::get("clusters")).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Transport(_)));
    assert_eq!(error.attempts, 3);
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_server_that_says_nothing_runs_into_the_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(ClientConfig::new(url)).unwrap();
    let call = Call::get("clusters")
        .timeout(Duration::from_millis(30))
        .retry(Retry::NEVER);
    let error = client.call(call).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Timeout(_)), "{error}");
    assert!(
        error.to_string().contains("did not answer within 30ms"),
        "{error}"
    );
}

#[tokio::test]
async fn a_create_is_never_sent_twice() {
    let server = Server::start(|_, _| plain(503, "")).await;
    let error = server
        .client()
        .create("clusters", &json!({"name": "one"}))
        .await
        .unwrap_err();
    assert_eq!((error.method, error.attempts), (Method::POST, 1));
}
