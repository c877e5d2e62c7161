//! Every operation of the served document, with every answer the document promises: asked for, kept as a snapshot, and
//! held against the schema it is promised with.

mod conformance;
mod scenario;
mod world;

use std::collections::BTreeMap;

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::caller::stable;
use conformance::Conformance;
use scenario::{Asked, scenario};
use world::{Place, World};

/// Headers that are part of the contract.
const HEADERS: [&str; 4] = ["content-type", "etag", "idempotency-replayed", "allow"];

/// Fails for an operation, or an answer of one, that nobody wrote a scenario for: a new route is not done until its
/// success and each of its failures are here.
#[tokio::test]
async fn every_answer_the_document_promises_is_given() {
    let world = World::new().await;
    let document = world.api.get("/openapi").await.body;
    let conformance = Conformance::new(&document);
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            let place = Place::of(path, &world.kinds);
            let mut answers = BTreeMap::new();
            for (status, promised) in operation["responses"].as_object().unwrap() {
                let status: u16 = status.parse().unwrap();
                let asked = Asked {
                    method,
                    place: &place,
                    status,
                };
                let answer = scenario(&world, &asked).await.unwrap_or_else(|| {
                    panic!("{id} may answer {status} and no scenario shows it: add one")
                });
                assert_eq!(answer.status, status, "{id}: {}", answer.body);
                conformance.check(id, promised, &answer);
                answers.insert(status, shown(&answer));
            }
            // The document and its page are shown elsewhere, in full.
            if !path.contains("/openapi") {
                assert_json_snapshot!(format!("contract_{id}"), answers);
            }
        }
    }
}

fn shown(answer: &crate::caller::Answer) -> Value {
    let headers: BTreeMap<&str, &str> = HEADERS
        .into_iter()
        .filter_map(|name| Some((name, answer.headers.get(name)?.to_str().ok()?)))
        .collect();
    let mut body = stable(answer.body.clone());
    unnumbered(&mut body);
    if let Value::Object(fields) = &mut body
        && answer.headers["content-type"] == "application/problem+json"
    {
        // The rest of a problem is the same everywhere, and shown elsewhere.
        fields.retain(|name, _| ["code", "detail", "errors", "deletion"].contains(&name.as_str()));
    }
    json!({"headers": headers, "body": body})
}

/// Names are numbered so that none is used twice, and which number one gets says nothing.
fn unnumbered(value: &mut Value) {
    match value {
        Value::String(text) => {
            while let Some((before, after)) = text.split_once(world::NAME) {
                let after = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
                *text = format!("{before}[name]{after}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unnumbered),
        Value::Object(fields) => fields.values_mut().for_each(unnumbered),
        _ => {}
    }
}
