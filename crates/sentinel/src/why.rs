//! What a Sentinel of this configuration would decide about one resource now, with the rule and what it saw.
//!
//! The decision is the running Sentinel's own; only what that one has sent lately is not known here.

use hyperfleet_client::{CallError, Client, ListQuery, RemoteResource, StatusCode};
use hyperfleet_core::due::Reason;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::time::Time;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::decision::{Decision, Known, Next, Skip};
use crate::options::{KindPlan, Options, OptionsError};
use crate::selector::selects;
use crate::table::Id;
use crate::view::view;

/// What would be decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// The resource: id, kind, name, generation.
    pub resource: Map<String, Value>,
    /// Whose decision: name, resource_type, selector, topic.
    pub sentinel: Map<String, Value>,
    /// When it was asked.
    pub now: Time,
    /// Whether its selector takes the resource. If not, it sends nothing, whatever the rest says.
    pub watched: bool,
    /// Whether an event is due now.
    pub due: bool,
    /// When the next event is due; with `message_decision`, when its rules are asked again.
    pub at: Time,
    /// The reason the event has, or why there is none.
    pub reason: String,
    /// The rule that decided.
    pub rule: String,
    /// The values it saw.
    pub saw: Map<String, Value>,
}

/// Why nothing can be said.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    #[error("sentinel configuration: {0}")]
    Options(#[from] OptionsError),
    #[error("this Sentinel does not watch `{kind}`; it watches {watched}")]
    Kind { kind: String, watched: String },
    #[error("no {kind} has the id or the name `{name}`")]
    NotFound { kind: String, name: String },
    #[error("several {kind} are called `{name}`; say which by its id: {ids}")]
    Ambiguous {
        kind: String,
        name: String,
        ids: String,
    },
    #[error("cannot ask the API: {0}")]
    Api(#[from] CallError),
}

/// What every Sentinel of the configuration that watches the kind would decide. `kind` is a plural or a singular.
pub async fn why(
    options: &Options,
    kind: &str,
    name_or_id: &str,
    now: Time,
) -> Result<Vec<Why>, WhyError> {
    let client = options.client()?;
    let plans = options.plans()?;
    let matching: Vec<&KindPlan> = plans
        .iter()
        .filter(|plan| is_called(&plan.resource_type, kind))
        .collect();
    let Some(first) = matching.first() else {
        let watched: Vec<&str> = plans
            .iter()
            .map(|plan| plan.resource_type.as_str())
            .collect();
        return Err(WhyError::Kind {
            kind: kind.to_owned(),
            watched: watched.join(", "),
        });
    };
    let resource = find(&client, &first.resource_type, name_or_id).await?;
    Ok(matching
        .into_iter()
        .map(|plan| of(plan, &resource, now))
        .collect())
}

/// `clusters`, `cluster` and `Cluster` are the same.
fn is_called(plural: &str, kind: &str) -> bool {
    let kind = kind.to_lowercase();
    let plural = plural.to_lowercase();
    kind == plural || plural.strip_suffix('s') == Some(&kind)
}

async fn find(client: &Client, plural: &str, asked: &str) -> Result<RemoteResource, WhyError> {
    let missing = || WhyError::NotFound {
        kind: plural.to_owned(),
        name: asked.to_owned(),
    };
    if ResourceId::parse(asked).is_some() {
        return client.get(plural, asked).await.map_err(|error| {
            match error.status() == Some(StatusCode::NOT_FOUND) {
                true => missing(),
                false => error.into(),
            }
        });
    }
    let query = ListQuery {
        search: Some(format!("name = '{}'", asked.replace('\'', "''"))),
        size: Some(10),
        ..ListQuery::default()
    };
    let mut found = client.list(plural, &query).await?.items;
    // An API that does not know `search` answers with everything.
    found.retain(|resource| resource.name == asked);
    match found.len() {
        0 => Err(missing()),
        1 => Ok(found.swap_remove(0)),
        _ => Err(WhyError::Ambiguous {
            kind: plural.to_owned(),
            name: asked.to_owned(),
            ids: found
                .iter()
                .map(|resource| resource.id.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// The same of a resource that was read already: nothing is asked. Empty if no Sentinel of the configuration watches
/// the kind, which is named by its plural.
pub fn why_of(
    options: &Options,
    plural: &str,
    resource: &RemoteResource,
    now: Time,
) -> Result<Vec<Why>, WhyError> {
    let plans = options.plans()?;
    let matching = plans.iter().filter(|plan| plan.resource_type == plural);
    Ok(matching.map(|plan| of(plan, resource, now)).collect())
}

fn of(plan: &KindPlan, resource: &RemoteResource, now: Time) -> Why {
    let view = view(resource);
    let known = Known {
        view: &view,
        published: None,
        changed: true,
        spread: Id::new(&resource.id).spread(),
    };
    let next = plan
        .decision
        .next(&known, now, || std::borrow::Cow::Borrowed(&resource.raw));
    let (due, at, reason) = match next {
        Next::Publish { reason, due } => (true, due, reason),
        Next::Wait { until, skip } => (false, until, skip.as_str()),
    };
    let mut saw = object(json!({
        "generation": view.generation,
        "deleting": view.deleting,
        "ready": view.ready,
        "reported": view.reported,
        "updated_time": view.updated_time,
        "last_updated_time": view.last_updated_time,
        "phase": resource.status.phase,
    }));
    saw.extend(plan.decision.values(&known, resource, now));
    Why {
        resource: object(json!({
            "id": resource.id, "kind": resource.kind, "name": resource.name, "generation": resource.generation,
        })),
        sentinel: object(json!({
            "name": plan.announcement.name, "resource_type": plan.resource_type, "selector": plan.selector,
            "topic": plan.topic,
        })),
        now,
        watched: selects(&plan.labels, &resource.labels),
        due,
        at,
        reason: reason.to_owned(),
        rule: plan.decision.rule(&known, next),
        saw,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

impl Decision {
    /// The rule that led to this, in words.
    fn rule(&self, known: &Known<'_>, next: Next) -> String {
        match self {
            Decision::Backoff { backoff, .. } => {
                let text = |wait: std::time::Duration| hyperfleet_runtime::GoDuration::from(wait);
                match hyperfleet_core::due::due(known.view, known.published, *backoff).reason {
                    Reason::Created => {
                        "new, and no required adapter has reported: at once".to_owned()
                    }
                    Reason::Changed => {
                        "changed, and no required adapter has reported since: at once".to_owned()
                    }
                    Reason::Deleted => {
                        "to be deleted, and no required adapter has reported since: at once"
                            .to_owned()
                    }
                    Reason::Progress => {
                        "a report changed what adapters may wait for: as soon as they have settled"
                            .to_owned()
                    }
                    Reason::NotReady => format!(
                        "not ready: backoff_not_ready ({}) after the oldest report, and the jitter",
                        text(backoff.not_ready)
                    ),
                    Reason::Refresh => format!(
                        "ready: backoff_ready ({}) after the oldest report, and the jitter",
                        text(backoff.ready)
                    ),
                }
            }
            Decision::Rules { .. } => match next {
                Next::Publish { .. } => "message_decision.result is true".to_owned(),
                Next::Wait {
                    skip: Skip::EvaluationError,
                    ..
                } => "message_decision cannot be evaluated, which counts as no".to_owned(),
                Next::Wait { .. } => "message_decision.result is false".to_owned(),
            },
        }
    }

    /// What the decision is made of besides the view.
    fn values(
        &self,
        known: &Known<'_>,
        resource: &RemoteResource,
        now: Time,
    ) -> Map<String, Value> {
        match self {
            Decision::Backoff { backoff, jitter } => {
                let wait = match known.view.ready {
                    true => backoff.ready,
                    false => backoff.not_ready,
                };
                let jitter = jitter.of(wait, known.spread).as_secs_f64();
                object(json!({"backoff_seconds": wait.as_secs_f64(), "jitter_seconds": jitter}))
            }
            Decision::Rules { rules, .. } => {
                object(json!({"params": rules.values(&resource.raw, now)}))
            }
        }
    }
}
