use std::io::Write;
use std::time::Duration;

use hyperfleet_client::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use hyperfleet_client::{Auth, Call, Cause, Client, ClientConfig, TokenFrom};
use tempfile::NamedTempFile;

use crate::server::{Server, plain};

fn token_file(token: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(token.as_bytes()).unwrap();
    file
}

fn with_token(server: &Server, file: &NamedTempFile, cache_ttl: Duration) -> Client {
    Client::new(ClientConfig {
        auth: Some(Auth {
            token: TokenFrom::File(file.path().to_owned()),
            cache_ttl,
        }),
        ..server.config()
    })
    .unwrap()
}

#[tokio::test]
async fn the_token_is_trimmed_and_wins_over_a_header_of_the_call() {
    let server = Server::start(|_, _| plain(200, "")).await;
    let file = token_file("  secret\n");
    let client = with_token(&server, &file, Duration::ZERO);
    let own = HeaderValue::from_static("Bearer forged");
    client
        .call(Call::get("clusters").header(AUTHORIZATION, own))
        .await
        .unwrap();
    assert_eq!(
        server.asked()[0].header("authorization"),
        Some("Bearer secret")
    );
}

#[tokio::test]
async fn neither_token_nor_default_headers_leave_for_another_origin() {
    let server = Server::start(|_, _| plain(200, "")).await;
    let elsewhere = Server::start(|_, _| plain(200, "")).await;
    let file = token_file("secret");
    let client = Client::new(ClientConfig {
        auth: Some(Auth {
            token: TokenFrom::File(file.path().to_owned()),
            cache_ttl: Duration::ZERO,
        }),
        default_headers: HeaderMap::from_iter([("x-key".parse().unwrap(), "k".parse().unwrap())]),
        allowed_origins: vec![elsewhere.url.clone()],
        ..server.config()
    })
    .unwrap();
    client
        .call(Call::get(format!("{}/x", elsewhere.url)))
        .await
        .unwrap();
    client
        .call(Call::get(format!("{}/x", server.url)))
        .await
        .unwrap();
    let (there, here) = (&elsewhere.asked()[0], &server.asked()[0]);
    assert_eq!(
        (there.header("authorization"), there.header("x-key")),
        (None, None)
    );
    assert_eq!(
        (here.header("authorization"), here.header("x-key")),
        (Some("Bearer secret"), Some("k"))
    );
}

#[tokio::test]
async fn what_is_not_listed_is_not_asked() {
    let server = Server::start(|_, _| plain(200, "")).await;
    let elsewhere = Server::start(|_, _| plain(200, "")).await;
    let client = server.client();
    for url in [
        format!("{}/x", elsewhere.url),
        "http://169.254.169.254/latest/meta-data/iam".to_owned(),
        "http://localhost:1/".to_owned(),
    ] {
        let error = client.call(Call::get(url.as_str())).await.unwrap_err();
        assert!(error.to_string().contains("not allowed"), "{error}");
        assert_eq!(error.attempts, 0);
        assert!(!error.is_transient());
    }
    assert!(elsewhere.asked().is_empty());
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_an_answer_and_not_an_order() {
    let elsewhere = Server::start(|_, _| plain(200, "")).await;
    let target = format!("{}/x", elsewhere.url);
    let server = Server::start(move |_, _| {
        let mut answer = plain(307, "");
        answer
            .headers_mut()
            .insert("location", target.parse().unwrap());
        answer
    })
    .await;
    let error = server
        .client()
        .call(Call::get("clusters"))
        .await
        .unwrap_err();
    assert_eq!(error.status().unwrap().as_u16(), 307);
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed() {
    let server = Server::start(|n, _| {
        let mut answer = plain(if n == 0 { 307 } else { 200 }, "moved");
        answer
            .headers_mut()
            .insert("location", "/there".parse().unwrap());
        answer
    })
    .await;
    let file = token_file("secret");
    let client = with_token(&server, &file, Duration::ZERO);
    assert_eq!(
        &client.call(Call::get("clusters")).await.unwrap().body[..],
        b"moved"
    );
    let last = &server.asked()[1];
    assert_eq!(
        (last.path_and_query.as_str(), last.header("authorization")),
        ("/there", Some("Bearer secret"))
    );
}

#[tokio::test]
async fn without_a_cache_a_rotated_token_is_used_at_once() {
    let server = Server::start(|_, _| plain(200, "")).await;
    let file = token_file("first");
    let client = with_token(&server, &file, Duration::ZERO);
    client.call(Call::get("clusters")).await.unwrap();
    std::fs::write(file.path(), "second").unwrap();
    client.call(Call::get("clusters")).await.unwrap();
    assert_eq!(
        server.asked()[1].header("authorization"),
        Some("Bearer second")
    );
}

#[tokio::test]
async fn a_cached_token_is_kept_until_the_server_refuses_it() {
    let server = Server::start(|n, _| plain(if n == 1 { 401 } else { 200 }, "")).await;
    let file = token_file("first");
    let client = with_token(&server, &file, Duration::from_secs(3600));
    client.call(Call::get("clusters")).await.unwrap();
    std::fs::write(file.path(), "second").unwrap();
    client.call(Call::get("clusters")).await.unwrap_err();
    client.call(Call::get("clusters")).await.unwrap();
    let seen: Vec<_> = server
        .asked()
        .iter()
        .map(|asked| asked.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(seen, ["Bearer first", "Bearer first", "Bearer second"]);
}

#[tokio::test]
async fn without_a_readable_token_nothing_is_sent() {
    let server = Server::start(|_, _| plain(200, "")).await;
    for (file, expected) in [
        (token_file(" \n"), "is empty"),
        (token_file("a\nb"), "cannot be sent"),
    ] {
        let error = with_token(&server, &file, Duration::ZERO)
            .call(Call::get("clusters"))
            .await
            .unwrap_err();
        assert!(matches!(error.cause, Cause::Token(_)));
        assert!(error.to_string().contains(expected), "{error}");
    }
    let gone = token_file("x");
    let client = with_token(&server, &gone, Duration::ZERO);
    std::fs::remove_file(gone.path()).unwrap();
    let error = client.call(Call::get("clusters")).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("was not sent: cannot read the token file"),
        "{error}"
    );
    assert_eq!((error.attempts, server.asked().len()), (0, 0));
}
