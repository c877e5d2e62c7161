//! What expressions and templates see while one event is handled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use hyperfleet_expr::cel::Bindings;
use hyperfleet_expr::template::Data;
use serde_json::{Map, Value as Json, json};

use crate::config::Identity;
use crate::event::Subject;

/// All values of one event. Time stands still in it.
#[derive(Clone, Debug)]
pub struct Context {
    /// Which resource it is about.
    pub subject: Subject,
    /// What `now` is, everywhere.
    pub now: DateTime<Utc>,
    /// The resource's generation: the API's if it was fetched, else the event's.
    pub generation: Option<i64>,
    /// Whether the resource is being deleted, as far as we were told.
    pub deleting: bool,
    /// The trace the event belongs to, passed on with every call.
    pub traceparent: Option<String>,
    /// `now` in templates.
    now_text: Json,
    /// `adapter` in expressions.
    adapter: Json,
    config: Arc<Json>,
    env: Json,
    resources: Json,
    values: Map<String, Json>,
    /// The names of those that must never be shown.
    secrets: BTreeSet<String>,
    /// Values that should be there and are not, and why.
    absent: BTreeMap<String, String>,
}

/// The members of `adapter` in expressions.
pub(crate) const ADAPTER_MEMBERS: [&str; 11] = [
    "name",
    "version",
    "executionStatus",
    "resourcesSkipped",
    "skipReason",
    "errorReason",
    "errorMessage",
    "executionError",
    "resourceErrors",
    "finalized",
    "report",
];

/// Where something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `params`, `preconditions`, `resources` or `post_actions`.
    pub phase: &'static str,
    /// Which parameter, precondition, resource or action.
    pub step: String,
    /// One word, for a condition's reason.
    pub reason: String,
    /// For people.
    pub message: String,
}

impl Context {
    /// At the start of an event.
    pub fn new(
        subject: Subject,
        now: DateTime<Utc>,
        identity: &Identity,
        config: Arc<Json>,
        env: &BTreeMap<String, String>,
    ) -> Self {
        let adapter = json!({
            "name": identity.name,
            "version": identity.version,
            "executionStatus": "success",
            "resourcesSkipped": false,
            "skipReason": "",
            "errorReason": "",
            "errorMessage": "",
            "executionError": null,
            "resourceErrors": {},
            "finalized": false,
            "report": null,
        });
        Self {
            now,
            generation: subject.generation,
            deleting: is_deleting(&subject.data),
            subject,
            traceparent: None,
            now_text: json!(now.to_rfc3339_opts(SecondsFormat::Secs, true)),
            adapter,
            config,
            env: json!(env),
            resources: json!({}),
            values: Map::new(),
            secrets: BTreeSet::new(),
            absent: BTreeMap::new(),
        }
    }

    /// A value by name, as expressions see it.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match name {
            "adapter" => Some(&self.adapter),
            "config" => Some(&self.config),
            "env" => Some(&self.env),
            "event" => Some(&self.subject.data),
            "resources" => Some(&self.resources),
            // A parameter of the same name is what its author meant.
            "is_deleting" => Some(self.values.get(name).unwrap_or(match self.deleting {
                true => &Json::Bool(true),
                false => &Json::Bool(false),
            })),
            "now" => Some(self.values.get(name).unwrap_or(&self.now_text)),
            _ => self.values.get(name),
        }
    }

    /// Names and values for CEL.
    pub fn bindings(&self) -> Bindings<'_> {
        let mut bindings = Bindings::new(self.now).bind_all(&self.values);
        for name in BUILT_IN {
            if let Some(value) = self.get(name) {
                bindings = bindings.bind(name, value);
            }
        }
        bindings
    }

    /// Names and values for templates.
    pub fn data(&self) -> Data<'_> {
        let values = self.values.iter();
        let values = values.map(|(name, value)| (name.as_str(), value));
        let built_in = BUILT_IN
            .iter()
            .filter_map(|name| Some((*name, self.get(name)?)));
        values.chain(built_in).collect()
    }

    /// Sets a value.
    pub fn set(&mut self, name: &str, value: Json) {
        self.absent.remove(name);
        self.values.insert(name.to_owned(), value);
    }

    /// Sets a value that must never be shown.
    pub fn set_secret(&mut self, name: &str, value: Json) {
        self.set(name, value);
        self.secrets.insert(name.to_owned());
    }

    /// Whether a value must never be shown.
    pub fn is_secret(&self, name: &str) -> bool {
        self.secrets.contains(name)
    }

    /// Takes every value that must never be shown out of a document that is shown.
    pub fn hide_secrets(&self, document: &mut Json) {
        let secrets = self.secrets.iter();
        let secrets: Vec<&str> = secrets
            .filter_map(|name| self.values.get(name)?.as_str())
            .filter(|secret| !secret.is_empty())
            .collect();
        if !secrets.is_empty() {
            hide(document, &secrets);
        }
    }

    /// Notes that there is no such value, and why.
    pub fn set_absent(&mut self, name: &str, why: String) {
        self.values.remove(name);
        self.absent.insert(name.to_owned(), why);
    }

    /// Why a name that something complained about has no value.
    pub fn why_absent(&self, complaint: &str) -> Option<String> {
        self.absent
            .iter()
            .find(|(name, _)| mentions(complaint, name))
            .map(|(name, why)| format!("`{name}` has no value: {why}"))
    }

    /// A complaint, with the cause if it is about a name that has no value.
    pub fn with_cause(&self, complaint: String) -> String {
        match self.why_absent(&complaint) {
            Some(why) => format!("{complaint}; {why}"),
            None => complaint,
        }
    }

    /// Learns from an answer about the resource itself: its generation, and whether it is being
    /// deleted.
    pub fn learn(&mut self, answer: &Json) {
        if answer.get("id").and_then(Json::as_str) != Some(&self.subject.id) {
            return;
        }
        if let Some(generation) = answer.get("generation").and_then(Json::as_i64) {
            self.generation = Some(generation);
        }
        self.deleting |= is_deleting(answer);
    }

    /// Sets or removes `resources.<name>`. Its labels and annotations are always there to be asked, if empty.
    pub fn set_resource(&mut self, name: &str, object: Option<Json>) {
        let Some(resources) = self.resources.as_object_mut() else {
            return;
        };
        match object {
            Some(mut object) => {
                if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
                    for key in ["labels", "annotations"] {
                        metadata.entry(key).or_insert_with(|| json!({}));
                    }
                }
                resources.insert(name.to_owned(), object);
            }
            None => {
                resources.remove(name);
            }
        }
    }

    /// `resources.<name>`.
    pub fn resource(&self, name: &str) -> Option<&Json> {
        self.resources.get(name)
    }

    /// Nothing is applied, for this reason; the first one counts.
    pub fn skip(&mut self, reason: &str) {
        if self.adapter["resourcesSkipped"] != json!(true) {
            self.adapter["resourcesSkipped"] = json!(true);
            self.adapter["skipReason"] = json!(reason);
        }
    }

    /// The resource is being deleted, and nothing of ours is left.
    pub fn finalize(&mut self) {
        self.adapter["finalized"] = json!(true);
    }

    /// What would be reported if the configuration had no payload of its own.
    pub fn set_report(&mut self, report: Json) {
        self.adapter["report"] = report;
    }

    /// Something went wrong; the first fault is the one that is told.
    pub fn fail(&mut self, fault: &Fault) {
        let told = json!({
            "phase": fault.phase,
            "step": fault.step,
            "message": fault.message,
        });
        if fault.phase == "resources" {
            self.adapter["resourceErrors"][&fault.step] = told.clone();
        }
        if self.adapter["executionStatus"] == json!("failed") {
            return;
        }
        self.adapter["executionStatus"] = json!("failed");
        self.adapter["errorReason"] = json!(fault.reason);
        self.adapter["errorMessage"] = json!(fault.message);
        self.adapter["executionError"] = told;
    }
}

/// Names that are always there.
pub(crate) const BUILT_IN: [&str; 7] = [
    "adapter",
    "config",
    "env",
    "event",
    "is_deleting",
    "now",
    "resources",
];

fn is_deleting(resource: &Json) -> bool {
    matches!(resource.get("deleted_time"), Some(Json::String(time)) if !time.is_empty())
}

fn hide(document: &mut Json, secrets: &[&str]) {
    match document {
        Json::String(text) => {
            for secret in secrets
                .iter()
                .filter(|secret| text.contains(**secret))
                .collect::<Vec<_>>()
            {
                *text = text.replace(*secret, "(hidden)");
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| hide(item, secrets)),
        Json::Object(entries) => entries.values_mut().for_each(|value| hide(value, secrets)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).any(|word| word == name)
}
