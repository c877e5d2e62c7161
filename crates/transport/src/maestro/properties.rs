//! What holds for every work.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::event::{Request, event};
use super::wire::AttributeValue;
use super::{applied, bundle};

fn texts() -> impl Strategy<Value = BTreeMap<String, String>> {
    proptest::collection::btree_map("[a-z./]{1,8}", ".{0,8}", 0..4)
}

/// Any JSON that an author can write.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[a-zA-Z]{1,4}", inner, 0..3)
                .prop_map(Value::from_iter),
        ]
    })
}

prop_compose! {
    fn work()(labels in texts(), annotations in texts(), carried in proptest::collection::vec(json(), 1..3),
        option in json()) -> Value
    {
        let manifests: Vec<Value> = carried
            .into_iter()
            .map(|data| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}))
            .collect();
        json!({
            "apiVersion": bundle::API_VERSION,
            "kind": bundle::KIND,
            "metadata": {"name": "w", "namespace": "c1", "uid": "an-id", "labels": labels, "annotations": annotations},
            "spec": {"workload": {"manifests": manifests}, "deleteOption": option, "executor": {"subject": {}}},
        })
    }
}

/// As the server keeps an event, and shows what it keeps.
fn kept(work: &Value, version: i32) -> Value {
    let event = event(Request::Create, "source", work, 0);
    let metadata = match event.attributes["ce-metadata"].value.clone() {
        Some(AttributeValue::Text(metadata)) => metadata,
        other => panic!("{other:?}"),
    };
    let payload: Value = serde_json::from_slice(&event.binary_data.unwrap()).unwrap();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    bundle::work(
        json!({"id": "an-id", "consumer_name": "c1", "version": version, "metadata": metadata,
        "manifests": payload["manifests"], "delete_option": payload["deleteOption"]}),
    )
    .unwrap()
}

proptest! {
    #[test]
    fn what_is_read_back_is_what_was_sent(work in work()) {
        let kept = kept(&work, 1);
        let expected = bundle::shown(work);
        prop_assert_eq!(&kept["spec"], &expected["spec"]);
        for key in ["name", "namespace", "uid", "labels", "annotations"] {
            prop_assert_eq!(&kept["metadata"][key], &expected["metadata"][key]);
        }
    }

    #[test]
    fn applying_a_second_time_changes_nothing(live in work(), manifest in work()) {
        let live = kept(&live, 1);
        let once = bundle::shown(applied(&live, &manifest));
        let twice = bundle::shown(applied(&once, &manifest));
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(&once["spec"], &bundle::shown(manifest)["spec"]);
        for (key, value) in live["metadata"]["labels"].as_object().unwrap() {
            let ours = once["metadata"]["labels"].get(key);
            prop_assert!(ours.is_some(), "{} was {}", key, value);
        }
    }
}
