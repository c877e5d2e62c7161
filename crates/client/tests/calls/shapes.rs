use hyperfleet_client::header::HeaderMap;
use hyperfleet_client::{Call, Cause, Client, ClientConfig, Method};
use serde_json::json;

use crate::server::{Server, json, plain};

#[tokio::test]
async fn a_problem_document_is_read_and_told_in_one_sentence() {
    let server = Server::start(|_, _| {
        json(400, json!({
            "type": "https://api.hyperfleet.io/errors/validation-error", "title": "Validation Failed", "status": 400,
            "detail": "the cluster is not valid", "instance": "/x", "code": "HYPERFLEET-VAL-000",
            "timestamp": "2026-01-01T00:00:00Z", "trace_id": "t",
            "errors": [{"field": "name", "message": "name is required"}],
        }))
    })
    .await;
    let error = server
        .client()
        .call(Call::get("clusters"))
        .await
        .unwrap_err();
    assert_eq!(error.problem().unwrap().errors[0].field, "name");
    assert!(
        error.to_string().contains(
            "answered 400 Bad Request: the cluster is not valid; name: name is required [HYPERFLEET-VAL-000]"
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_missing_object_is_told_from_a_missing_path() {
    let server = Server::start(
        |_, asked| match asked.path_and_query.rsplit('/').next().unwrap() {
            "object" => json(
                404,
                json!({"code": "HYPERFLEET-NTF-001", "detail": "no such cluster"}),
            ),
            "path" => json(
                404,
                json!({"code": "HYPERFLEET-NTF-000", "detail": "no such path"}),
            ),
            _ => plain(404, "<html>"),
        },
    )
    .await;
    let client = server.client();
    let object = client.get("clusters", "object").await.unwrap_err();
    let path = client.get("clusters", "path").await.unwrap_err();
    let proxy = client.get("clusters", "proxy").await.unwrap_err();
    assert_eq!(
        [
            object.is_not_found(),
            path.is_not_found(),
            proxy.is_not_found()
        ],
        [true, false, true]
    );
    assert_eq!(
        [
            object.is_not_found_by_the_api(),
            path.is_not_found_by_the_api(),
            proxy.is_not_found_by_the_api()
        ],
        [true, false, false],
        "only the API's own word is evidence"
    );
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_an_error_whether_or_not_it_is_announced() {
    let announced = Server::start(|_, _| plain(200, vec![b'x'; 2000])).await;
    let chunked = Server::start(|_, _| {
        let chunks = (0..20).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 100]));
        plain(
            200,
            axum::body::Body::from_stream(futures::stream::iter(chunks)),
        )
    })
    .await;
    for server in [announced, chunked] {
        let client = Client::new(ClientConfig {
            max_answer_bytes: 1000,
            ..server.config()
        })
        .unwrap();
        let error = client.call(Call::get("clusters")).await.unwrap_err();
        assert!(matches!(error.cause, Cause::TooLarge(1000)), "{error}");
        assert_eq!(server.asked().len(), 1, "a second try would be as large");
    }
}

#[tokio::test]
async fn method_query_headers_and_body_arrive_as_written() {
    let server = Server::start(|_, _| plain(201, "")).await;
    let client = Client::new(ClientConfig {
        default_headers: HeaderMap::from_iter([
            ("x-a".parse().unwrap(), "default".parse().unwrap()),
            ("x-b".parse().unwrap(), "default".parse().unwrap()),
        ]),
        user_agent: "hyperfleet-sentinel/1 (one)".to_owned(),
        ..server.config()
    })
    .unwrap();
    let call = Call::new(Method::PATCH, "/clusters/1?dry_run=true&x=a%26b")
        .header("x-b".parse().unwrap(), "own".parse().unwrap())
        .body("{}");
    client.call(call).await.unwrap();
    let asked = server.asked().remove(0);
    assert_eq!(asked.method, "PATCH");
    assert_eq!(
        asked.path_and_query,
        "/api/hyperfleet/v1/clusters/1?dry_run=true&x=a%26b"
    );
    assert_eq!(
        (asked.header("x-a"), asked.header("x-b")),
        (Some("default"), Some("own"))
    );
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(
        asked.header("user-agent"),
        Some("hyperfleet-sentinel/1 (one)")
    );
    assert_eq!(asked.body, b"{}");
}

#[tokio::test]
async fn a_password_in_a_url_is_not_repeated_in_the_error() {
    let server = Server::start(|_, _| plain(404, "")).await;
    let url = server.url.replace("http://", "http://user:hunter2@");
    let error = server.client().call(Call::get(url)).await.unwrap_err();
    assert!(
        !format!("{error} {error:?}").contains("hunter2"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_report_that_was_discarded_has_no_answer() {
    let server = Server::start(|n, _| match n {
        0 => plain(204, ""),
        _ => json(201, json!({"adapter": "dns"})),
    })
    .await;
    let client = server.client();
    let body = json!({"adapter": "dns"});
    assert_eq!(client.report("clusters", "1", &body).await.unwrap(), None);
    assert_eq!(
        client.report("clusters", "1", &body).await.unwrap(),
        Some(body)
    );
    let asked = server.asked().remove(0);
    assert_eq!(
        (asked.method.as_str(), asked.path_and_query.as_str()),
        ("PUT", "/api/hyperfleet/v1/clusters/1/statuses")
    );
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_said_to_be_unexpected() {
    let server = Server::start(|_, _| plain(200, "<html>")).await;
    let error = server.client().get_json("clusters").await.unwrap_err();
    assert!(matches!(error.cause, Cause::Answer(_)));
    assert!(
        error.to_string().contains("answered something unexpected"),
        "{error}"
    );
}

#[tokio::test]
async fn an_id_cannot_point_somewhere_else() {
    let server = Server::start(|_, _| json(200, json!({}))).await;
    let client = server.client();
    for id in ["", ".", ".."] {
        assert!(client.get("clusters", id).await.is_err(), "{id:?}");
    }
    client.get("clusters", "../nodepools?x").await.unwrap();
    assert_eq!(
        server.asked()[0].path_and_query,
        "/api/hyperfleet/v1/clusters/..%2Fnodepools%3Fx"
    );
}
