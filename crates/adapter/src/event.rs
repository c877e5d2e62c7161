//! The part of an event that says which resource to look at.

use hyperfleet_broker::Event;
use serde_json::Value as Json;

/// Which resource an event is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The resource's id.
    pub id: String,
    /// Its kind as sent, `Cluster`; empty if the event does not say.
    pub kind: String,
    /// Its path on the API, `/api/hyperfleet/v1/clusters/…`.
    pub href: String,
    /// Its generation when the event was sent.
    pub generation: Option<i64>,
    /// The event's data.
    pub data: Json,
}

/// Why an event can never be handled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed event: {0}")]
pub struct Malformed(String);

impl Subject {
    /// What the event's data says.
    pub fn of(event: &Event) -> Result<Self, Malformed> {
        let data = &event.data;
        if !data.is_object() {
            return Err(Malformed("its data is no JSON object".to_owned()));
        }
        let id = text(data, &["id", "resource_id", "resourceId"])?
            .ok_or_else(|| Malformed("its data has no `id`".to_owned()))?;
        let kind = text(data, &["kind"])?
            .or_else(|| event.kind().map(str::to_owned))
            .unwrap_or_default();
        let generation = match data.get("generation") {
            None | Some(Json::Null) => None,
            Some(value) => match value.as_i64() {
                Some(generation) => Some(generation),
                None => return Err(Malformed("`generation` is no whole number".to_owned())),
            },
        };
        let href = match text(data, &["href"])? {
            Some(href) => href,
            None => format!("{}/{id}", plural(data, &kind)?),
        };
        Ok(Self {
            id,
            kind,
            href,
            generation,
            data: data.clone(),
        })
    }

    /// What must not be worked on twice at once.
    pub fn key(&self) -> String {
        format!("{}/{}", self.kind.to_lowercase(), self.id)
    }

    /// Where reports about the resource go.
    pub fn statuses_url(&self) -> String {
        format!("{}/statuses", self.href.trim_end_matches('/'))
    }
}

fn text(data: &Json, keys: &[&str]) -> Result<Option<String>, Malformed> {
    for key in keys {
        match data.get(key) {
            None | Some(Json::Null) => {}
            Some(Json::String(text)) if text.is_empty() => {}
            Some(Json::String(text)) => return Ok(Some(text.clone())),
            Some(_) => return Err(Malformed(format!("`{key}` is no text"))),
        }
    }
    Ok(None)
}

/// Events without `href` are from older Sentinels, which name the collection.
fn plural(data: &Json, kind: &str) -> Result<String, Malformed> {
    let named = text(data, &["resource_type", "resourceType"])?;
    let kind = (!kind.is_empty()).then(|| format!("{}s", kind.to_lowercase()));
    named
        .or(kind)
        .ok_or_else(|| Malformed("neither `href` nor `kind` is there".to_owned()))
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use serde_json::json;

    use super::*;

    fn subject(data: Json) -> Result<Subject, Malformed> {
        Subject::of(&Event::reconcile("Cluster", "test", data, Utc::now(), "1"))
    }

    #[test]
    fn reports_go_where_the_event_says_the_resource_is() {
        let found = subject(json!({"id": "a", "kind": "NodePool", "generation": 3,
            "href": "/api/hyperfleet/v1/clusters/c/nodepools/a"}))
        .unwrap();
        assert_eq!(
            found.statuses_url(),
            "/api/hyperfleet/v1/clusters/c/nodepools/a/statuses"
        );
        assert_eq!(
            (found.key().as_str(), found.generation),
            ("nodepool/a", Some(3))
        );
    }

    #[test]
    fn the_older_events_name_a_collection_instead() {
        let found = subject(json!({"resource_type": "clusters", "resource_id": "a"})).unwrap();
        assert_eq!(found.href, "clusters/a");
    }

    #[test]
    fn an_event_that_names_no_resource_is_malformed() {
        for data in [
            json!(null),
            json!([]),
            json!({}),
            json!({"id": 7}),
            json!({"id": ""}),
        ] {
            assert!(subject(data).is_err());
        }
        assert!(subject(json!({"id": "a", "generation": "5"})).is_err());
    }
}
