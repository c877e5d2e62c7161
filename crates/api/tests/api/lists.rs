use std::collections::BTreeSet;

use hyperfleet_core::kind::Kind;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::caller::{Answer, Caller, done, stable};

/// Clusters that may point at Wifs, and node pools.
async fn fleet() -> Caller {
    let mut kinds = Kind::defaults();
    kinds[0] = serde_json::from_value(json!({
        "kind": "Cluster", "plural": "clusters", "required_adapters": ["validation"],
        "references": [{"ref_type": "wif", "target_kind": "Wif"}],
    }))
    .unwrap();
    kinds.push(serde_json::from_value(json!({"kind": "Wif", "plural": "wifs"})).unwrap());
    Caller::with(kinds).await
}

async fn create(api: &Caller, name: &str, spec: Value, labels: Value) -> Value {
    let body = json!({"kind": "Cluster", "name": name, "spec": spec, "labels": labels});
    let answer = api.post("/clusters", body).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.body
}

/// Three clusters: `one` is reconciled, `two` is in another environment, `three` has no labels.
async fn three_clusters() -> Caller {
    let api = fleet().await;
    let one = create(
        &api,
        "one",
        json!({"nodes": 3, "region": "us"}),
        json!({"env": "dev"}),
    )
    .await;
    create(
        &api,
        "two",
        json!({"nodes": 10, "region": "eu"}),
        json!({"env": "prod"}),
    )
    .await;
    create(&api, "three", json!({"nodes": "many"}), json!({})).await;
    let statuses = format!("/clusters/{}/statuses", one["id"].as_str().unwrap());
    assert_eq!(api.put(&statuses, done("validation")).await.status, 201);
    api
}

fn query(pairs: &[(&str, &str)]) -> String {
    let mut url = String::new();
    for (name, value) in pairs {
        url += if url.is_empty() { "?" } else { "&" };
        url += name;
        url += "=";
        for byte in value.bytes() {
            url += &format!("%{byte:02X}");
        }
    }
    url
}

async fn list(api: &Caller, plural: &str, pairs: &[(&str, &str)]) -> Answer {
    api.get(&format!("/{plural}{}", query(pairs))).await
}

fn names(answer: &Answer) -> Vec<&str> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let items = answer.body["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_search_finds_what_it_asks_for() {
    let api = three_clusters().await;
    for (search, found) in [
        ("labels.env = 'dev'", vec!["one"]),
        ("labels.env != 'dev'", vec!["two"]),
        ("not labels.env = 'dev'", vec!["two"]),
        ("labels.env is null", vec!["three"]),
        ("status.conditions.Reconciled = 'True'", vec!["one"]),
        (
            "status.conditions.Reconciled='False' and name like 't%'",
            vec!["three", "two"],
        ),
        ("status.phase = 'Ready'", vec!["one"]),
        ("spec.nodes > 9", vec!["two"]),
        ("spec.nodes = 'many'", vec!["three"]),
        ("name in ['one', 'three']", vec!["three", "one"]),
        (
            "deleted_time is null and generation = 1",
            vec!["three", "two", "one"],
        ),
        ("kind = 'Wif' or id != ''", vec!["three", "two", "one"]),
        ("  ", vec!["three", "two", "one"]),
    ] {
        let answer = list(&api, "clusters", &[("search", search)]).await;
        assert_eq!(names(&answer), found, "{search}");
        assert_eq!(answer.body["total"], found.len(), "{search}");
    }
    let hostile = "name = 'x''; drop table resources; --' or labels['\"; --'] = '$1'";
    assert_eq!(
        names(&list(&api, "clusters", &[("search", hostile)]).await),
        [""; 0]
    );
}

#[tokio::test]
async fn a_list_is_ordered_as_asked() {
    let api = three_clusters().await;
    for (orders, found) in [
        (vec![], ["three", "two", "one"]),
        (vec!["name"], ["one", "three", "two"]),
        (vec!["name desc"], ["two", "three", "one"]),
        (
            vec!["kind,generation asc", "created_time asc"],
            ["one", "two", "three"],
        ),
        (vec!["id desc"], ["three", "two", "one"]),
        (vec![" "], ["three", "two", "one"]),
    ] {
        let pairs: Vec<(&str, &str)> = orders.iter().map(|order| ("order", *order)).collect();
        assert_eq!(
            names(&list(&api, "clusters", &pairs).await),
            found,
            "{orders:?}"
        );
    }
}

#[tokio::test]
async fn only_the_wanted_members_are_answered() {
    let api = three_clusters().await;
    let fields = "name,spec.region,status.phase,status.conditions.type,labels,created_by";
    let pairs = [("fields", fields), ("order", "name"), ("size", "2")];
    let answer = list(&api, "clusters", &pairs).await;
    assert_json_snapshot!("some_fields", stable(answer.body.clone()));
    let id = answer.body["items"][0]["id"].as_str().unwrap();
    let one = api
        .get(&format!("/clusters/{id}{}", query(&[("fields", fields)])))
        .await;
    assert_eq!(one.body, answer.body["items"][0]);
    assert_eq!(one.headers["etag"], "\"1\"");
    let whole = api.get(&format!("/clusters/{id}")).await.body;
    let status = api
        .get(&format!("/clusters/{id}?fields=status&fields=created_time"))
        .await
        .body;
    assert_eq!(status["status"], whole["status"]);
    assert_eq!(
        status["created_time"], whole["created_time"],
        "times are not cut"
    );
    assert_eq!(
        list(&api, "wifs", &[("fields", "name")]).await.body["items"],
        json!([])
    );
}

#[tokio::test]
async fn what_points_at_something_is_found_by_it() {
    let api = three_clusters().await;
    let wif = api
        .post("/wifs", json!({"kind": "Wif", "name": "wif", "spec": {}}))
        .await
        .body;
    let target = wif["id"].as_str().unwrap();
    let body = json!({
        "kind": "Cluster", "name": "pointing", "spec": {},
        "references": {"wif": [{"id": target, "kind": "Wif"}]},
    });
    assert_eq!(api.post("/clusters", body).await.status, 201);
    let pairs = [("ref_type", "wif"), ("ref_target_id", target)];
    assert_eq!(names(&list(&api, "clusters", &pairs).await), ["pointing"]);
    assert_eq!(names(&list(&api, "resources", &pairs).await), ["pointing"]);
    let nobody = [("ref_type", "wif"), ("ref_target_id", "x")];
    assert_eq!(names(&list(&api, "clusters", &nobody).await), [""; 0]);
    assert_eq!(
        names(&list(&api, "resources", &[("kind", "Wif")]).await),
        ["wif"]
    );
}

#[tokio::test]
async fn a_walk_meets_everything_once() {
    let api = fleet().await;
    let mut expected = BTreeSet::new();
    for index in 0..7 {
        let name = format!("c-{index}");
        create(&api, &name, json!({}), json!({"env": "dev"})).await;
        expected.insert(name);
    }
    for order in ["", "created_time asc", "name", "name desc", "id", "id desc"] {
        let (mut seen, mut token, mut since) = (Vec::new(), String::new(), BTreeSet::new());
        loop {
            let pairs = [
                ("order", order),
                ("search", "labels.env = 'dev'"),
                ("fields", "name"),
                ("limit", "3"),
                ("continue", token.as_str()),
            ];
            let answer = list(&api, "clusters", &pairs).await;
            seen.extend(names(&answer).into_iter().map(str::to_owned));
            since.insert(answer.body["since"].as_str().unwrap().to_owned());
            assert_eq!(answer.body["total"], Value::Null);
            match answer.body["continue"].as_str() {
                Some(next) => token = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(seen.len(), 7, "{order}: {seen:?}");
        assert_eq!(BTreeSet::from_iter(seen), expected);
        assert_eq!(since.len(), 1, "one walk has one place to watch from");
    }
    let mut last = list(
        &api,
        "clusters",
        &[("limit", "1000"), ("fields", "name,generation")],
    )
    .await
    .body;
    last["since"] = json!("[position]");
    assert_json_snapshot!("last_stretch", stable(last));
}

#[tokio::test]
async fn what_changes_during_a_walk_is_told_to_who_watches_from_it() {
    let api = three_clusters().await;
    let search = [
        ("search", "labels.env is not null"),
        ("fields", "name,generation"),
    ];
    let first = list(&api, "clusters", &[&search[..], &[("limit", "1")]].concat()).await;
    assert_eq!(names(&first), ["two"]);
    create(&api, "four", json!({}), json!({"env": "dev"})).await;
    let token = first.body["continue"].as_str().unwrap();
    let rest = [&search[..], &[("continue", token)]].concat();
    let last = list(&api, "clusters", &rest).await;
    assert_eq!(
        names(&last),
        ["one"],
        "four is newer than where the walk was"
    );
    let since = last.body["since"].as_str().unwrap();
    let watch = [&search[..], &[("watch", "true"), ("since", since)]].concat();
    let mut watch = api.watch(&format!("/clusters{}", query(&watch))).await;
    let change = watch.change().await;
    assert_eq!(change.name, "upsert");
    let mut data = change.data;
    data.as_object_mut().unwrap().remove("id").unwrap();
    assert_eq!(data, json!({"name": "four", "generation": 1}));
}

#[tokio::test]
async fn a_token_goes_on_in_its_own_list_only() {
    let api = three_clusters().await;
    let first = list(&api, "clusters", &[("limit", "1")]).await;
    let token = first.body["continue"].as_str().unwrap();
    let other_pace = list(&api, "clusters", &[("limit", "2"), ("continue", token)]).await;
    assert_eq!(names(&other_pace), ["two", "one"]);
    assert_eq!(
        names(&list(&api, "clusters", &[("continue", token)]).await),
        ["two", "one"]
    );
    let cut = &token[1..];
    let answers = [
        list(
            &api,
            "clusters",
            &[("continue", token), ("search", "name = 'one'")],
        )
        .await,
        list(&api, "clusters", &[("continue", token), ("order", "name")]).await,
        list(&api, "clusters", &[("continue", token), ("fields", "name")]).await,
        list(&api, "resources", &[("continue", token)]).await,
        list(&api, "clusters", &[("continue", cut)]).await,
        list(&api, "clusters", &[("continue", "nonsense")]).await,
    ];
    let problems: Vec<Value> = answers
        .iter()
        .map(|answer| json!([answer.status, answer.body["code"], answer.body["detail"]]))
        .collect();
    assert_json_snapshot!("foreign_tokens", problems);
}

#[tokio::test]
async fn every_mistake_in_a_query_is_told() {
    let api = three_clusters().await;
    let long = format!("name = '{}'", "x".repeat(4096));
    let cases: Vec<(&str, Vec<(&str, &str)>)> = vec![
        (
            "clusters",
            vec![("page", "0"), ("size", "101"), ("limit", "x")],
        ),
        ("clusters", vec![("page", "100001")]),
        ("clusters", vec![("limit", "1001")]),
        ("clusters", vec![("limit", "10"), ("page", "1")]),
        ("clusters", vec![("continue", "x"), ("size", "1")]),
        ("clusters", vec![("ref_type", "wif")]),
        ("clusters", vec![("ref_target_id", "x")]),
        ("clusters", vec![("ref_type", "no"), ("ref_target_id", "x")]),
        (
            "resources",
            vec![("ref_type", "no"), ("ref_target_id", "x")],
        ),
        (
            "resources",
            vec![("ref_type", "wif"), ("ref_target_id", "x"), ("kind", "Wif")],
        ),
        ("resources", vec![("kind", "cluster")]),
        ("clusters", vec![("order", "name DESC")]),
        ("clusters", vec![("order", "nam")]),
        ("clusters", vec![("order", "name; drop table resources")]),
        ("clusters", vec![("order", "updated_time"), ("limit", "1")]),
        ("clusters", vec![("fields", "nam,spec,status.x")]),
        ("wifs", vec![("fields", "nam")]),
        ("clusters", vec![("search", "nam = 'x'")]),
        ("clusters", vec![("search", "generation = 'x'")]),
        ("clusters", vec![("search", "created_time > 'x'")]),
        ("clusters", vec![("search", "name = 'x")]),
        ("clusters", vec![("search", "id!='') OR (id!=''")]),
        ("clusters", vec![("search", &long)]),
        ("clusters", vec![("search", "name = 'a\0'")]),
    ];
    let mut problems = Vec::new();
    for (plural, pairs) in cases {
        let answer = list(&api, plural, &pairs).await;
        let short = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value:.40}"));
        let mut errors = answer.body["errors"].clone();
        if let Some(value) = errors.pointer_mut("/0/value")
            && value.as_str().is_some_and(|text| text.len() > 40)
        {
            *value = json!("[long]");
        }
        problems.push(json!({
            "query": short.collect::<Vec<_>>().join("&"),
            "status": answer.status, "code": answer.body["code"], "detail": answer.body["detail"],
            "errors": errors,
        }));
    }
    let id = list(&api, "clusters", &[]).await.body["items"][0]["id"].clone();
    let one = api
        .get(&format!("/clusters/{}?fields=nam", id.as_str().unwrap()))
        .await;
    problems.push(
        json!({"query": "item: fields=nam", "status": one.status, "detail": one.body["detail"]}),
    );
    assert_json_snapshot!("invalid_queries", problems);
}

#[tokio::test]
async fn nothing_a_search_meets_in_a_spec_makes_it_fail() {
    let api = fleet().await;
    for (index, value) in [
        json!(1e300),
        json!(-0.0),
        json!("1e999999"),
        json!("99999999999999999999999999999999999"),
        json!([1]),
        json!({"a": 1}),
        json!(null),
        json!(true),
        json!("2026-13-45"),
        json!("%"),
        json!(u64::MAX),
        json!(" 1"),
    ]
    .into_iter()
    .enumerate()
    {
        create(&api, &format!("c-{index}"), json!({"x": value}), json!({})).await;
    }
    for search in [
        "spec.x > 1",
        "spec.x = true",
        "spec.x like '%\\%%'",
        "spec.x between -1e300 and 1e300",
        "spec.x.a = 1",
        "spec.x.0 = 1",
        "spec.x in [1, 2.5]",
        "spec.x is null",
        "not spec.x = '1'",
        "spec.x > 'a'",
    ] {
        let answer = list(&api, "clusters", &[("search", search)]).await;
        assert_eq!(answer.status, 200, "{search}: {}", answer.body);
    }
}
