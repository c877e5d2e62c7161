//! A request for every answer.

use serde_json::{Value, json};

use super::world::{NOBODY, Place, World};
use crate::caller::{Answer, Caller, done};

/// Larger than any body that is taken.
const TOO_LARGE: usize = 1024 * 1024 + 1;

/// An answer that an operation is said to give.
pub(super) struct Asked<'a> {
    pub(super) method: &'a str,
    pub(super) place: &'a Place,
    pub(super) status: u16,
}

/// Brings the answer about; nothing when it is not known how.
pub(super) async fn scenario(world: &World, asked: &Asked<'_>) -> Option<Answer> {
    let Asked {
        method,
        place,
        status,
    } = asked;
    match status {
        503 => return Some(plain(&world.cut_off, world, asked, &[]).await),
        500 => return Some(plain(&world.broken, world, asked, &[]).await),
        401 => return Some(plain(&world.guarded, world, asked, &[]).await),
        403 => {
            let bearer = world.issuer.bearer("ada@example.com");
            let headers = [("authorization", bearer.as_str())];
            return Some(plain(&world.guarded, world, asked, &headers).await);
        }
        429 => {
            let bearer = world.issuer.bearer("busy@example.com");
            // What components do they do for all tenants, and what owners do for one.
            let of_all = place.path.contains("/sentinels") || place.path.ends_with("/audit");
            let tenant = if of_all {
                ("x-system", "true")
            } else {
                ("x-org", "acme")
            };
            let headers = [("authorization", bearer.as_str()), tenant];
            plain(&world.guarded, world, asked, &headers).await;
            return Some(plain(&world.guarded, world, asked, &headers).await);
        }
        413 => {
            let path = place.with(NOBODY, NOBODY);
            let body = vec![b' '; TOO_LARGE];
            return Some(world.api.send(&method.to_uppercase(), &path, body).await);
        }
        _ => {}
    }
    let inside = place.path.strip_prefix("/api/hyperfleet/v1/");
    match inside {
        Some("audit") if *method == "post" => notes(world, asked).await,
        None | Some("audit" | "can-i" | "openapi" | "openapi.html") => fixed(world, asked).await,
        Some(path) if path.starts_with("sentinels") => sentinels(world, asked).await,
        Some(_) if place.suffix.is_empty() => lists(world, asked).await,
        Some(_) => items(world, asked).await,
    }
}

/// A request with nothing wrong in it.
async fn plain(api: &Caller, world: &World, asked: &Asked<'_>, headers: &[(&str, &str)]) -> Answer {
    let kind = world.kind(asked.place);
    let body = match (asked.method, asked.place.suffix.as_str()) {
        ("post", _) if asked.place.path.ends_with("/audit") => note(NOBODY, "1"),
        ("post", "") => new(&kind.kind, "abc", &owner(world, asked.place, NOBODY)),
        ("patch", _) => json!({"labels": {}}),
        ("post", "/{id}/force-delete") => json!({"reason": "because"}),
        ("get" | "delete", _) => Value::Null,
        ("put", "/{id}") => sentinel(),
        _ => done("dns"),
    };
    let mut path = asked.place.with(NOBODY, NOBODY);
    if path.ends_with("/can-i") {
        path = format!("{path}?verb=get&id={NOBODY}");
    }
    let method = asked.method.to_uppercase();
    api.send_with(&method, &path, headers, body.to_string())
        .await
}

/// The body of a create.
fn new(kind: &str, name: &str, owner: &Value) -> Value {
    let mut body = json!({"kind": kind, "name": name, "spec": {}});
    if owner.is_object() {
        body["owner_references"] = owner.clone();
    }
    body
}

/// What a body must say about the owner at this place.
fn owner(world: &World, place: &Place, id: &str) -> Value {
    let child = world.kind(place).parent_kind.is_some();
    if child && place.parent.is_none() {
        json!({"id": id})
    } else {
        Value::Null
    }
}

async fn fixed(world: &World, asked: &Asked<'_>) -> Option<Answer> {
    let path = &asked.place.path;
    match asked.status {
        200 => {
            if path.ends_with("/audit") {
                let made = world.make(world.kinds.kind("Cluster")?).await;
                let only = format!("{path}?resource_id={}", made["id"].as_str()?);
                return Some(world.api.get(&only).await);
            }
            if path.ends_with("/can-i") {
                return Some(world.api.get(&format!("{path}?verb=get")).await);
            }
            Some(world.api.get(path).await)
        }
        400 => Some(world.api.get(&format!("{path}?limit=0")).await),
        _ => None,
    }
}

/// What a sweeper says.
fn note(resource: &str, uid: &str) -> Value {
    json!({
        "action": "object.deleted",
        "resource_id": resource,
        "done_time": "2026-01-31T12:00:00Z",
        "reason": "its owner was removed",
        "object": {
            "api_version": "v1",
            "kind": "ConfigMap",
            "namespace": "east",
            "name": "zone",
            "uid": uid,
            "adapter": "dns",
        },
    })
}

async fn notes(world: &World, asked: &Asked<'_>) -> Option<Answer> {
    let (api, path) = (&world.api, &asked.place.path);
    let made = world.make(world.kinds.kind("Cluster")?).await;
    let said = note(made["id"].as_str()?, &world.name());
    Some(match asked.status {
        201 => api.post(path, said).await,
        200 => {
            assert_eq!(api.post(path, said.clone()).await.status, 201);
            api.post(path, said).await
        }
        400 => {
            let mut other = said;
            other["action"] = json!("cluster.deleted");
            api.post(path, other).await
        }
        _ => return None,
    })
}

/// What a Sentinel says.
fn sentinel() -> Value {
    json!({"name": "east", "resource_type": "clusters", "shares": true, "duration_seconds": 15})
}

async fn sentinels(world: &World, asked: &Asked<'_>) -> Option<Answer> {
    let api = &world.api;
    let path = asked.place.with(NOBODY, NOBODY);
    Some(match (asked.method, asked.status) {
        ("get", 200) => {
            let other = format!("{path}/{NOBODY}");
            assert_eq!(api.put(&other, sentinel()).await.status, 200);
            let listed = api.get(&path).await;
            assert_eq!(api.delete(&other).await.status, 204);
            listed
        }
        ("put", 200) => {
            let elsewhere = path.replace(NOBODY, "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6c");
            let mut other = sentinel();
            other["name"] = json!("west");
            assert_eq!(api.put(&elsewhere, other).await.status, 200);
            api.put(&path, sentinel()).await
        }
        ("put", 400) => {
            let mut never = sentinel();
            never["duration_seconds"] = json!(0);
            api.put(&path, never).await
        }
        ("put", 404) => api.put(&path.replace(NOBODY, "me"), sentinel()).await,
        ("delete", 204) => api.delete(&path).await,
        ("delete", 404) => api.delete(&path.replace(NOBODY, "me")).await,
        _ => return None,
    })
}

async fn lists(world: &World, asked: &Asked<'_>) -> Option<Answer> {
    let (api, place) = (&world.api, asked.place);
    let kind = world.kind(place);
    let existing = world.make(kind).await;
    let path = place.to(&existing);
    let parent = existing["owner_references"]["id"]
        .as_str()
        .unwrap_or(NOBODY);
    let owner = owner(world, place, parent);
    let name = world.name();
    Some(match (asked.method, asked.status) {
        ("get", 200) => api.get(&format!("{path}?size=1")).await,
        ("get", 400) => api.get(&format!("{path}?page=0&size=many")).await,
        ("get", 404) => api.get(&place.with(NOBODY, NOBODY)).await,
        ("get", 410) => {
            api.get(&format!("{path}?watch=true&since=1.99999999999.."))
                .await
        }
        ("post", 201) => api.post(&path, new(&kind.kind, &name, &owner)).await,
        ("post", 400) => api.post(&path, new(&kind.kind, "-", &owner)).await,
        ("post", 404) => {
            let body = match place.parent {
                Some(_) => new(&kind.kind, &name, &Value::Null),
                None => new(&kind.kind, &name, &json!({"id": NOBODY})),
            };
            api.post(&place.with(NOBODY, NOBODY), body).await
        }
        ("post", 409) => {
            let taken = existing["name"].as_str()?;
            api.post(&path, new(&kind.kind, taken, &owner)).await
        }
        ("post", 422) => {
            let key = [("idempotency-key", name.as_str())];
            let body = new(&kind.kind, &name, &owner).to_string();
            assert_eq!(api.send_with("POST", &path, &key, body).await.status, 201);
            let other = new(&kind.kind, &world.name(), &owner).to_string();
            api.send_with("POST", &path, &key, other).await
        }
        _ => return None,
    })
}

async fn items(world: &World, asked: &Asked<'_>) -> Option<Answer> {
    let (api, place) = (&world.api, asked.place);
    let method = asked.method.to_uppercase();
    let made = world.make(world.kind(place)).await;
    let path = place.to(&made);
    if asked.status == 404 {
        return Some(nobody(world, asked, &made).await);
    }
    let other = [("if-match", "\"99\"")];
    Some(match (asked.method, place.suffix.as_str(), asked.status) {
        ("get", "/{id}" | "/{id}/history" | "/{id}/statuses", 200) => {
            let statuses = format!("{}/statuses", made["href"].as_str()?);
            assert_eq!(api.put(&statuses, done("dns")).await.status, 201);
            api.get(&path).await
        }
        ("get", "/{id}", 400) => api.get(&format!("{path}?fields=nothing")).await,
        ("get", "/{id}/statuses", 400) => api.get(&format!("{path}?generation=0")).await,
        ("get", "/{id}/history", 400) => api.get(&format!("{path}?continue=x")).await,
        ("patch", _, 200) => api.patch(&path, json!({"spec": {"nodes": 3}})).await,
        ("patch", _, 400) => api.patch(&path, json!({"name": "other"})).await,
        ("patch", _, 409) => {
            delete(api, &made).await;
            api.patch(&path, json!({"spec": {"nodes": 3}})).await
        }
        ("patch", _, 412) => {
            let body = json!({"spec": {"nodes": 3}}).to_string();
            api.send_with(&method, &path, &other, body).await
        }
        ("delete", _, 202) => api.delete(&path).await,
        ("delete", _, 400) => {
            let unreadable = [("if-match", "\u{e9}")];
            api.send_with(&method, &path, &unreadable, "").await
        }
        ("delete", _, 409) => {
            hold(world, &made).await;
            api.delete(&path).await
        }
        ("delete", _, 412) => api.send_with(&method, &path, &other, "").await,
        ("post", "/{id}/force-delete", 204) => {
            delete(api, &made).await;
            api.post(&path, json!({"reason": "because"})).await
        }
        ("post", "/{id}/force-delete", 400) => api.post(&path, json!({})).await,
        ("post", "/{id}/force-delete", 409) => api.post(&path, json!({"reason": "because"})).await,
        ("put", _, 201) | ("post", "/{id}/statuses", 200) => {
            api.send(&method, &path, done("dns").to_string()).await
        }
        ("put", _, 204) => {
            let mut ahead = done("dns");
            ahead["observed_generation"] = json!(9);
            api.put(&path, ahead).await
        }
        ("put", _, 400) | ("post", "/{id}/statuses", 400) => {
            let mut wrong = done("dns");
            wrong["conditions"].as_array_mut()?.pop();
            api.send(&method, &path, wrong.to_string()).await
        }
        _ => return None,
    })
}

/// Asks for what was there once, so that the answer says how it ended.
async fn nobody(world: &World, asked: &Asked<'_>, made: &Value) -> Answer {
    delete(&world.api, made).await;
    let force = format!("{}/force-delete", made["href"].as_str().unwrap());
    let gone = world
        .api
        .post(&force, json!({"reason": "no longer needed"}))
        .await;
    assert_eq!(gone.status, 204, "{}", gone.body);
    if asked.place.suffix == "/{id}/history" {
        // History outlives the resource: only what never was is not found.
        return plain(&world.api, world, asked, &[]).await;
    }
    let body = match (asked.method, asked.place.suffix.as_str()) {
        ("patch", _) => json!({"labels": {}}),
        ("post", "/{id}/force-delete") => json!({"reason": "because"}),
        ("put" | "post", _) => done("dns"),
        _ => Value::Null,
    };
    let path = asked.place.to(made);
    let method = asked.method.to_uppercase();
    world.api.send(&method, &path, body.to_string()).await
}

async fn delete(api: &Caller, made: &Value) {
    let asked = api.delete(made["href"].as_str().unwrap()).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
}

/// Makes something that keeps a resource from being deleted.
async fn hold(world: &World, made: &Value) {
    let (kind, href) = (
        made["kind"].as_str().unwrap(),
        made["href"].as_str().unwrap(),
    );
    let (path, body) = if let Some(child) = world.kinds.children(kind).next() {
        let body = json!({"kind": child.kind, "name": world.name(), "spec": {}});
        (format!("{href}/{}", child.plural), body)
    } else {
        let body = json!({
            "kind": kind,
            "name": world.name(),
            "spec": {},
            "references": {"needs": [{"id": made["id"]}]},
            "owner_references": made["owner_references"],
        });
        ("/nodepools".to_owned(), body)
    };
    let held = world.api.post(&path, body).await;
    assert_eq!(held.status, 201, "{}", held.body);
}
