//! Whatever comes in, nothing panics: what the fuzz targets `task` and `event` do for hours, in a second with every test.

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

fn read_and_written_again(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(event) = Event::decode(bytes) else {
        return Ok(());
    };
    // More is read than may be written: an id may be missing, an extension may have an odd name.
    if let Ok(written) = event.encode() {
        let again = Event::decode(&written);
        prop_assert!(again.is_ok(), "{again:?}");
        let again = again.unwrap();
        prop_assert_eq!((again.id, again.data), (event.id, event.data));
        prop_assert_eq!(again.extensions, event.extensions);
    }
    Ok(())
}

proptest! {
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
    fn any_text_as_a_task_configuration_is_read_or_refused(text in "\\PC{0,80}(\n[ a-z:{}\\[\\],|>&*!#\"'-]{0,40}){0,12}") {
        if let Err(found) = parse_task(&SourceFile::new("task.yaml", text), Path::new("/nonexistent/t.yaml")) {
            prop_assert!(!found.to_string().is_empty());
        }
    }

    #[test]
    fn any_bytes_as_a_message_are_an_event_or_none(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        read_and_written_again(&bytes)?;
    }

    #[test]
    fn a_damaged_message_is_an_event_or_none(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let data = json!({"id": "c1", "kind": "Cluster", "generation": 1, "href": "/clusters/c1"});
        let event = Event::reconcile("Cluster", "test", data, Utc::now(), "1");
        let mut bytes = event.encode().unwrap().to_vec();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_and_written_again(&bytes)?;
        bytes.truncate(cut.index(bytes.len()));
        read_and_written_again(&bytes)?;
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
