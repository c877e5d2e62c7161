//! Conditions as older documents compute with them: camelCase names, and times as seconds since 1970.

use chrono::{DateTime, Utc};
use serde_json::{Value as Json, json};

/// Adds `lastTransitionTime`, `lastUpdatedTime` and `observedGeneration` to every condition of a resource.
pub(crate) fn add(resource: &mut Json) {
    let conditions = resource.pointer_mut("/status/conditions");
    let conditions = conditions.and_then(Json::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        let times = [
            ("last_transition_time", "lastTransitionTime"),
            ("last_updated_time", "lastUpdatedTime"),
        ];
        for (name, older) in times {
            let time = condition[name].as_str();
            let time = time.and_then(|time| time.parse::<DateTime<Utc>>().ok());
            if let Some(time) = time {
                condition[older] = json!(time.timestamp());
            }
        }
        if condition["observed_generation"].is_i64() {
            condition["observedGeneration"] = condition["observed_generation"].clone();
        }
    }
}
