use std::collections::BTreeSet;

use serde_json::Value;

use crate::caller::Caller;

const ID: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";

#[tokio::test]
async fn the_document_is_served_as_plain_json() {
    let api = Caller::new().await;
    let answer = api.get("/openapi").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(answer.body["openapi"], "3.0.3");
    assert_eq!(answer.body["info"]["version"], "test");
}

/// `Allow` of a path is what the router takes there, so this fails in both directions: for a route that the document
/// does not have, and for an operation that nobody serves.
#[tokio::test]
async fn the_document_holds_every_route_and_nothing_else() {
    let api = Caller::new().await;
    let document = api.get("/openapi").await.body;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let mut described: BTreeSet<String> = operations
            .as_object()
            .unwrap()
            .keys()
            .map(|method| method.to_uppercase())
            .collect();
        if described.contains("GET") {
            described.insert("HEAD".to_owned());
        }
        let real = path.replace("{id}", ID).replace("{parent_id}", ID);
        let refused = api.send("TRACE", &real, "").await;
        assert_eq!(refused.status, 405, "{path}");
        let allow = refused.headers["allow"].to_str().unwrap();
        let served: BTreeSet<String> = allow.split(',').map(str::to_owned).collect();
        assert_eq!(served, described, "{path}");
    }
}

#[tokio::test]
async fn the_page_needs_nothing_from_elsewhere() {
    let api = Caller::new().await;
    let page = api.get("/openapi.html").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html");
    let Value::String(html) = &page.body else {
        panic!("a page is no JSON");
    };
    assert!(html.contains("<html") && html.contains("</html>"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("script-src 'self';"),
        "{policy}"
    );
    let loaded = html
        .split(['"', '\''])
        .filter(|text| text.ends_with(".js") || text.ends_with(".css"));
    let mut count = 0;
    for asset in loaded {
        count += 1;
        assert!(asset.starts_with("/api/hyperfleet/v1/openapi/"), "{asset}");
        let asset = api.get(asset).await;
        assert_eq!(asset.status, 200);
        assert_eq!(asset.headers["x-content-type-options"], "nosniff");
    }
    assert_eq!(count, 3);
    assert!(
        !html.contains("<script>"),
        "the policy forbids inline scripts"
    );
}
