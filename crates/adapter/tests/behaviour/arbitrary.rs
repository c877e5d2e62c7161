//! Whatever comes in, nothing panics.

use std::path::Path;

use chrono::Utc;
use hyperfleet_adapter::config::parse_task;
use hyperfleet_adapter::event::Subject;
use hyperfleet_broker::Event;
use hyperfleet_source::SourceFile;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const SHIPPED: &str = include_str!("../../../../adapters/validation/adapter-task-config.yaml");

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        ".{0,8}".prop_map(Json::from),
    ];
    let key = prop_oneof![
        Just("id".to_owned()),
        Just("kind".to_owned()),
        Just("href".to_owned()),
        Just("generation".to_owned()),
        Just("resource_type".to_owned()),
        "[a-z]{1,4}",
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(key.clone(), inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_damaged_task_configuration_is_read_or_refused(
        cut in 0..SHIPPED.len(),
        length in 0..40_usize,
        put in "[ \\n:{}\\[\\]\"'.&*|>a-z-]{0,6}",
    ) {
        let end = (cut + length).min(SHIPPED.len());
        prop_assume!(SHIPPED.is_char_boundary(cut) && SHIPPED.is_char_boundary(end));
        let text = format!("{}{put}{}", &SHIPPED[..cut], &SHIPPED[end..]);
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/validation/x");
        if let Err(found) = parse_task(&SourceFile::new("task.yaml", text), &directory) {
            prop_assert!(!found.to_string().is_empty());
        }
    }

    #[test]
    fn any_event_names_a_resource_or_is_malformed(data in json_value()) {
        let event = Event::reconcile("Cluster", "test", data, Utc::now(), "1");
        if let Ok(subject) = Subject::of(&event) {
            prop_assert!(!subject.id.is_empty());
            prop_assert!(subject.statuses_url().ends_with("/statuses"));
        }
    }
}
