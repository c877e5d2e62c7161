use proptest::prelude::*;
use serde_json::json;

use super::*;

fn decode(value: Value) -> Result<Event, EventError> {
    Event::decode(value.to_string().as_bytes())
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 250_000_000).unwrap()
}

fn sample() -> Event {
    Event::reconcile(
        "NodePool",
        "sentinel-operator/np",
        json!({"id": "np-1"}),
        now(),
        "e-1",
    )
}

#[test]
fn a_reconcile_event_is_written_in_the_order_of_the_go_sdk() {
    let mut event = sample().with_traceparent("00-1-2-01");
    event.subject = Some("np-1".into());
    assert_eq!(
        String::from_utf8(event.encode().unwrap()).unwrap(),
        r#"{"specversion":"1.0","id":"e-1","source":"sentinel-operator/np","type":"com.redhat.hyperfleet.nodepool.reconcile.v1","subject":"np-1","datacontenttype":"application/json","time":"2026-09-21T14:13:20.250Z","data":{"id":"np-1"},"traceparent":"00-1-2-01"}"#
    );
}

#[test]
fn an_event_of_a_go_sentinel_is_understood() {
    let event = decode(json!({
        "specversion": "1.0", "id": "x", "source": "hyperfleet-sentinel",
        "type": "com.redhat.hyperfleet.cluster.reconcile",
        "datacontenttype": "application/json", "data": {"id": "c-1"},
        "traceparent": "00-a-b-01",
    }))
    .unwrap();
    assert_eq!(event.kind(), Some("cluster"));
    assert_eq!(event.time, None);
    assert_eq!(event.traceparent(), Some("00-a-b-01"));
}

#[test]
fn only_the_specversion_is_required_when_reading() {
    let event = decode(json!({"specversion": "1.0"})).unwrap();
    assert_eq!(
        (event.id.as_str(), event.source.as_str(), event.ty.as_str()),
        ("", "", "")
    );
    assert_eq!(event.data, Value::Null);
    assert_eq!(event.datacontenttype, JSON_CONTENT_TYPE);
}

#[test]
fn a_message_that_is_no_event_is_refused_with_its_cause() {
    let cases: [(&[u8], EventError); 8] = [
        (b"", EventError::NoBody),
        (b"[]", EventError::NotAnObject("array")),
        (b"{}", EventError::NoSpecVersion),
        (
            br#"{"specversion":"0.3"}"#,
            EventError::SpecVersion("0.3".into()),
        ),
        (
            br#"{"specversion":1.0}"#,
            EventError::NotAString {
                name: "specversion",
                found: "number",
            },
        ),
        (
            br#"{"specversion":"1.0","id":7}"#,
            EventError::NotAString {
                name: "id",
                found: "number",
            },
        ),
        (
            br#"{"specversion":"1.0","time":"noon"}"#,
            EventError::Time("noon".into()),
        ),
        (
            br#"{"specversion":"1.0","data":1,"data_base64":"MQ=="}"#,
            EventError::TwoPayloads,
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(
            Event::decode(body),
            Err(expected),
            "{}",
            String::from_utf8_lossy(body)
        );
    }
    assert!(matches!(Event::decode(b"{"), Err(EventError::NotJson(_))));
}

#[test]
fn an_event_to_be_sent_needs_id_source_and_type() {
    for (name, strip) in [
        ("id", (|e| e.id.clear()) as fn(&mut Event)),
        ("source", |e| e.source.clear()),
        ("type", |e| e.ty.clear()),
    ] {
        let mut event = sample();
        strip(&mut event);
        assert_eq!(event.encode(), Err(EventError::Empty(name)));
    }
}

#[test]
fn an_extension_cannot_shadow_an_attribute_or_carry_an_odd_name() {
    for name in ["data", "id", "Trace", "a-b", ""] {
        let mut event = sample();
        event.extensions.insert(name.into(), "x".into());
        assert_eq!(event.encode(), Err(EventError::ExtensionName(name.into())));
    }
}

#[test]
fn an_event_over_the_limit_is_neither_sent_nor_read() {
    let mut event = sample();
    event.data = Value::String("x".repeat(MAX_SENT_BYTES));
    assert!(matches!(
        event.encode(),
        Err(EventError::TooLarge {
            limit: MAX_SENT_BYTES,
            ..
        })
    ));
    let body = vec![b' '; MAX_ACCEPTED_BYTES + 1];
    assert!(matches!(
        Event::decode(&body),
        Err(EventError::TooLarge {
            limit: MAX_ACCEPTED_BYTES,
            ..
        })
    ));
}

#[test]
fn unknown_attributes_become_extensions_in_their_text_form() {
    let event = decode(json!({
        "specversion": "1.0", "partitionkey": "k", "sequence": 7, "sampled": true, "gone": null,
    }))
    .unwrap();
    let expected = [
        ("partitionkey", "k"),
        ("sampled", "true"),
        ("sequence", "7"),
    ];
    assert!(
        event
            .extensions
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .eq(expected)
    );
}

#[test]
fn base64_data_is_read_as_json_or_as_text_by_its_content_type() {
    let read = |content_type: &str, data: &[u8]| {
        use base64::Engine as _;
        let data = base64::engine::general_purpose::STANDARD.encode(data);
        decode(json!({"specversion": "1.0", "datacontenttype": content_type, "data_base64": data}))
            .map(|event| event.data)
    };
    assert_eq!(
        read("application/json; charset=utf-8", b"{\"a\":1}"),
        Ok(json!({"a": 1}))
    );
    assert_eq!(read("application/merge-patch+json", b"1"), Ok(json!(1)));
    assert_eq!(read("text/plain", b"hello"), Ok(json!("hello")));
    assert!(matches!(
        read("image/png", &[0xff, 0xfe]),
        Err(EventError::Base64 { .. })
    ));
    assert!(matches!(
        read("application/json", b"{"),
        Err(EventError::Base64 { .. })
    ));
}

#[test]
fn both_spellings_of_the_type_name_the_kind_and_others_do_not() {
    assert_eq!(
        reconcile_kind("com.redhat.hyperfleet.nodepool.reconcile.v1"),
        Some("nodepool")
    );
    assert_eq!(
        reconcile_kind("com.redhat.hyperfleet.nodepool.reconcile"),
        Some("nodepool")
    );
    for other in [
        "",
        "com.redhat.hyperfleet.reconcile.v1",
        "com.redhat.hyperfleet..reconcile",
        "com.redhat.hyperfleet.a.b.reconcile",
        "com.redhat.hyperfleet.cluster.reconcile.v2",
        "org.example.cluster.reconcile",
    ] {
        assert_eq!(reconcile_kind(other), None, "{other}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

prop_compose! {
    fn event()(
        id in ".{1,20}",
        source in ".{1,20}",
        ty in ".{1,20}",
        // Years 1970 to 9999: what RFC 3339 can write with four digits.
        time in prop::option::of((0..253_402_300_799_i64, 0..1_000_000_000_u32)),
        subject in prop::option::of(".{0,20}"),
        dataschema in prop::option::of(".{0,20}"),
        datacontenttype in "[a-z]{1,8}/[a-z+]{1,8}",
        data in json_value(),
        extensions in prop::collection::btree_map("x[a-z0-9]{0,19}", ".{0,20}", 0..5),
    ) -> Event {
        let time = time.and_then(|(secs, nanos)| DateTime::from_timestamp(secs, nanos));
        Event { id, source, ty, time, subject, datacontenttype, dataschema, data, extensions }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_unchanged(event in event()) {
        let body = event.encode().unwrap();
        prop_assert_eq!(Event::decode(&body).unwrap(), event);
    }

    #[test]
    fn no_message_body_makes_the_reader_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Event::decode(&body);
    }
}
