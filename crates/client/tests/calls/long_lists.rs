//! Lists of more pages than are read by their number.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::Response;
use futures::TryStreamExt;
use hyperfleet_client::ListQuery;
use reqwest::Url;
use serde_json::{Value, json};

use crate::server::{Asked, Server, json, plain};

const LONG: usize = 250;

fn parameters(asked: &Asked) -> HashMap<String, String> {
    let url = Url::parse("http://x/").unwrap();
    let url = url.join(&asked.path_and_query).unwrap();
    url.query_pairs().into_owned().collect()
}

/// A fleet, oldest first, `a_second` of which were created in each second.
fn fleet(a_second: usize) -> Vec<Value> {
    let created = |number: usize| format!("2026-01-01T00:{:02}:{:02}Z", number / 60, number % 60);
    (0..LONG)
        .map(|number| json!({"id": format!("c-{number}"), "created_time": created(number / a_second)}))
        .collect()
}

fn created(item: &Value) -> &str {
    item["created_time"].as_str().unwrap()
}

/// The page that was asked for, by a server that knows the one search there is here.
fn page(fleet: &[Value], asked: &Asked) -> Response<Body> {
    let parameters = parameters(asked);
    let from = parameters
        .get("search")
        .map(|search| search.rsplit('\'').nth(1).unwrap());
    let found: Vec<_> = fleet
        .iter()
        .filter(|item| from.is_none_or(|from| created(item) >= from))
        .collect();
    let number = |name: &str| parameters[name].parse::<usize>().unwrap();
    let (page, size) = (number("page"), number("size"));
    let items: Vec<_> = found.iter().skip((page - 1) * size).take(size).collect();
    json(
        200,
        json!({"page": page, "size": items.len(), "total": found.len(), "items": items}),
    )
}

async fn ids(server: &Server, search: Option<&str>) -> Vec<String> {
    let query = ListQuery {
        size: Some(1),
        search: search.map(str::to_owned),
        ..ListQuery::default()
    };
    let all = server.client().list_all("clusters", query);
    let all: Vec<_> = all.try_collect().await.unwrap();
    all.into_iter().flatten().map(|one| one.id).collect()
}

fn everybody() -> Vec<String> {
    (0..LONG).map(|number| format!("c-{number}")).collect()
}

fn farthest_page(server: &Server) -> usize {
    let pages = server.asked();
    let pages = pages
        .iter()
        .map(|asked| parameters(asked)["page"].parse().unwrap());
    pages.max().unwrap()
}

#[tokio::test]
async fn a_long_list_is_begun_anew_where_it_is_before_pages_are_far() {
    let all = fleet(3);
    let server = Server::start(move |_, asked| page(&all, asked)).await;
    assert_eq!(ids(&server, None).await, everybody());
    assert_eq!(farthest_page(&server), 100);
    let anew = parameters(&server.asked()[100]);
    assert_eq!(
        (anew["page"].as_str(), anew["search"].as_str()),
        ("1", "created_time >= '2026-01-01T00:00:33Z'")
    );
}

#[tokio::test]
async fn what_the_caller_searched_for_stays_searched_for() {
    let all = fleet(1);
    let server = Server::start(move |number, asked| match number {
        0..100 => json(
            200,
            json!({"page": 1, "size": 1, "total": LONG, "items": [all[number]]}),
        ),
        _ => page(&all, asked),
    })
    .await;
    assert_eq!(ids(&server, Some("a='b' or c='d'")).await, everybody());
    assert_eq!(
        parameters(&server.asked()[100])["search"],
        "(a='b' or c='d') and created_time >= '2026-01-01T00:01:39Z'"
    );
}

#[tokio::test]
async fn what_was_all_created_at_once_is_read_by_page_numbers() {
    let all = fleet(LONG);
    let server = Server::start(move |_, asked| page(&all, asked)).await;
    assert_eq!(ids(&server, None).await, everybody());
    assert!(farthest_page(&server) > 100);
}

#[tokio::test]
async fn a_server_that_refuses_the_search_is_asked_for_page_numbers() {
    let all = fleet(1);
    let server = Server::start(
        move |_, asked| match parameters(asked).contains_key("search") {
            true => plain(400, "what is a search?"),
            false => page(&all, asked),
        },
    )
    .await;
    assert_eq!(ids(&server, None).await, everybody());
    assert_eq!(
        server.asked().len(),
        LONG + 1,
        "refused once, and not asked again"
    );
}

#[tokio::test]
async fn a_server_that_does_not_know_searches_is_asked_for_page_numbers() {
    let all = fleet(1);
    let server = Server::start(move |_, asked| {
        let mut asked = asked.clone();
        asked.path_and_query = asked.path_and_query.replace("search=", "ignored=");
        page(&all, &asked)
    })
    .await;
    assert_eq!(ids(&server, None).await, everybody());
    assert_eq!(
        server.asked().len(),
        LONG + 1,
        "found out once, and not asked again"
    );
}

#[tokio::test]
async fn a_failure_in_the_middle_is_one() {
    let all = fleet(1);
    let server = Server::start(move |number, asked| match number {
        100 => plain(403, "not for you"),
        _ => page(&all, asked),
    })
    .await;
    let query = ListQuery {
        size: Some(1),
        ..ListQuery::default()
    };
    let all = server.client().list_all("clusters", query);
    let read: Result<Vec<_>, _> = all.try_collect().await;
    assert_eq!(read.unwrap_err().status().unwrap().as_u16(), 403);
}
