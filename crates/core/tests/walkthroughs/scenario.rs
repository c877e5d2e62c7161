//! The scenarios as they are written down. The core walks them purely, the API over HTTP.

use std::path::Path;

use hyperfleet_core::time::Time;
use hyperfleet_source::{SourceFile, yaml};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) guide: String,
    pub(crate) created: Time,
    pub(crate) stages: Vec<Stage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stage {
    pub(crate) guide: String,
    /// When its owner changed the cluster, before the reports.
    pub(crate) updated: Option<Time>,
    #[serde(default)]
    pub(crate) reports: Vec<Value>,
    /// As in the guide.
    pub(crate) status: Value,
    #[serde(default)]
    pub(crate) differs: Vec<Difference>,
}

/// Where we answer otherwise than the guide.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    pub(crate) at: String,
    pub(crate) ours: Value,
    pub(crate) why: String,
}

pub(crate) fn read(name: &str) -> SourceFile {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/walkthroughs");
    SourceFile::new(name, std::fs::read_to_string(directory.join(name)).unwrap())
}

pub(crate) fn document<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let json = yaml::parse(&read(name)).unwrap().to_json();
    serde_json::from_value(json).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The guide's status with our differences in it.
pub(crate) fn expected(stage: &Stage) -> Value {
    let mut status = stage.status.clone();
    for difference in &stage.differs {
        assert!(!difference.why.is_empty());
        let place = status
            .pointer_mut(&difference.at)
            .unwrap_or_else(|| panic!("{}: nothing at {}", stage.guide, difference.at));
        assert_ne!(*place, difference.ours, "{}: no difference", stage.guide);
        *place = difference.ours.clone();
    }
    status
}

/// What our status says where the guide's says something: of each condition it shows, the fields it shows.
pub(crate) fn shown(ours: &Value, guide: &Value) -> Value {
    let mut shown = json!({});
    for (field, value) in guide.as_object().unwrap() {
        shown[field] = match (field.as_str(), value) {
            ("conditions", Value::Array(conditions)) => conditions
                .iter()
                .map(|wanted| {
                    let kind = wanted["type"].as_str().unwrap();
                    let mut conditions = ours["conditions"].as_array().unwrap().iter();
                    let found = conditions.find(|one| one["type"] == kind);
                    let found = found.unwrap_or(&Value::Null);
                    let fields = wanted.as_object().unwrap().keys();
                    fields
                        .map(|key| (key.clone(), found[key].clone()))
                        .collect::<Value>()
                })
                .collect(),
            // The guide lists adapters in the order of their reports, we by name.
            ("adapters", Value::Array(wanted)) => {
                let mut adapters = ours["adapters"].as_array().unwrap().clone();
                adapters.sort_by_key(|ours| wanted.iter().position(|one| one == ours));
                Value::Array(adapters)
            }
            _ => ours[field].clone(),
        };
    }
    shown
}
