//! Paths into JSON.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyperfleet_expr::path::Path;
use proptest::prelude::*;
use serde_json::{Value, json};

fn data() -> Value {
    json!({
        "id": "c1",
        "kind": "Cluster",
        "generation": 3,
        "nothing": null,
        "metadata": {"labels": {"region": "eu", "app.kubernetes.io/name": "x", "a-b": "dash"}},
        "status": {"phase": "Ready"},
        "items": [
            {"adapter": "dns", "weight": 1, "conditions": [
                {"type": "Available", "status": "True"}, {"type": "Health", "status": "False"}]},
            {"adapter": "validation", "weight": 5, "conditions": [
                {"type": "Available", "status": "False"}, {"type": "Health", "status": "True"}]},
            {"adapter": "nodepool", "weight": 2.5, "conditions": []},
        ],
        "numbers": [10, 11, 12, 13, 14],
    })
}

fn get(path: &str) -> Option<Value> {
    let data = data();
    Path::parse(path)
        .unwrap()
        .get(&data)
        .map(std::borrow::Cow::into_owned)
}

fn error(path: &str) -> (usize, String) {
    let error = Path::parse(path).unwrap_err();
    (error.offset, error.message)
}

#[test]
fn dot_paths_work_with_and_without_leading_dot_and_braces() {
    for path in [
        "status.phase",
        ".status.phase",
        "{.status.phase}",
        "{status.phase}",
        "$.status.phase",
        "{$.status.phase}",
    ] {
        assert_eq!(get(path), Some(json!("Ready")), "{path}");
    }
    // seed 002, message_data
    assert_eq!(get(".metadata.labels.region"), Some(json!("eu")));
    assert_eq!(get(".id"), Some(json!("c1")));
    assert_eq!(get(".generation"), Some(json!(3)));
}

#[test]
fn what_is_missing_gives_nothing_and_null_gives_null() {
    assert_eq!(get("status.missing"), None);
    assert_eq!(get("missing.phase"), None);
    assert_eq!(get("id.phase"), None);
    assert_eq!(get("nothing"), Some(Value::Null));
    assert_eq!(get("nothing.x"), None);
}

#[test]
fn keys_with_dots_are_quoted_or_escaped() {
    for path in [
        r"metadata.labels.app\.kubernetes\.io/name",
        "metadata.labels['app.kubernetes.io/name']",
        r#"{.metadata.labels["app.kubernetes.io/name"]}"#,
    ] {
        assert_eq!(get(path), Some(json!("x")), "{path}");
    }
    assert_eq!(get("metadata.labels.a-b"), Some(json!("dash")));
}

#[test]
fn lists_are_indexed_sliced_and_united() {
    assert_eq!(get("items[0].adapter"), Some(json!("dns")));
    assert_eq!(get("items[-1].adapter"), Some(json!("nodepool")));
    assert_eq!(get("items.1.adapter"), Some(json!("validation")));
    assert_eq!(get("items[9].adapter"), None);
    assert_eq!(get("numbers[1:3]"), Some(json!([11, 12])));
    assert_eq!(get("numbers[:2]"), Some(json!([10, 11])));
    assert_eq!(get("numbers[-2:]"), Some(json!([13, 14])));
    assert_eq!(get("numbers[0:5:2]"), Some(json!([10, 12, 14])));
    assert_eq!(get("numbers[0,3]"), Some(json!([10, 13])));
    assert_eq!(get("['id','kind']"), Some(json!(["c1", "Cluster"])));
}

#[test]
fn wildcards_and_descent_collect_and_one_hit_is_a_scalar() {
    assert_eq!(
        get("{.items[*].adapter}"),
        Some(json!(["dns", "validation", "nodepool"]))
    );
    assert_eq!(get("{..phase}"), Some(json!("Ready")));
    assert_eq!(
        get("{..type}"),
        Some(json!(["Available", "Health", "Available", "Health"]))
    );
    assert_eq!(get("{.status.*}"), Some(json!("Ready")));
    assert_eq!(get("{.items[*].nothing}"), None);
    assert_eq!(
        get("{.items..conditions[0].status}"),
        Some(json!(["True", "False"]))
    );
}

#[test]
fn filters_select_items() {
    assert_eq!(
        get("{.items[?(@.adapter=='dns')].conditions[?(@.type=='Available')].status}"),
        Some(json!("True"))
    );
    assert_eq!(
        get("items[?(@.weight>2)].adapter"),
        Some(json!(["validation", "nodepool"]))
    );
    assert_eq!(
        get("items[?(@.weight<=2.5)].adapter"),
        Some(json!(["dns", "nodepool"]))
    );
    assert_eq!(
        get("items[?(@.weight!=1.0)].adapter"),
        Some(json!(["validation", "nodepool"]))
    );
    assert_eq!(
        get(r#"items[?(@.adapter=="x" || @.weight==5)].adapter"#),
        Some(json!("validation"))
    );
    assert_eq!(
        get("items[?(@.weight>1 && !(@.adapter=='nodepool'))].adapter"),
        Some(json!("validation"))
    );
    assert_eq!(
        get("items[?(@.conditions[0])].adapter"),
        Some(json!(["dns", "validation"]))
    );
    assert_eq!(get("items[?(@.nope)].adapter"), None);
    assert_eq!(get("numbers[?(@>12)]"), Some(json!([13, 14])));
}

#[test]
fn a_path_knows_its_keys_and_its_root() {
    let path = Path::parse("resources.job.status").unwrap();
    assert_eq!(path.keys(), Some(vec!["resources", "job", "status"]));
    assert_eq!(path.root(), Some("resources"));
    assert_eq!(Path::parse("a[0]").unwrap().keys(), None);
}

#[test]
fn paths_over_named_variables_need_no_common_object() {
    let job = json!({"status": "x"});
    let path = Path::parse("job.status").unwrap();
    let hit = path.get_in(|name| (name == "job").then_some(&job));
    assert_eq!(hit.unwrap().as_ref(), "x");
    assert!(path.get_in(|_| None).is_none());
}

#[test]
fn mistakes_say_where_and_what() {
    assert_eq!(error(""), (0, "the path is empty".to_owned()));
    assert_eq!(error("a..").0, 3);
    assert_eq!(
        error("a[").1,
        "expected an index, a name in quotes, * or ?(…)"
    );
    assert_eq!(error("a[1").1, "expected , or ]");
    assert_eq!(
        error("a['b"),
        (2, "this text has no closing quote".to_owned())
    );
    assert_eq!(error("{.a"), (0, "a { without its }".to_owned()));
    assert_eq!(error("a b"), (1, "unexpected ' '".to_owned()));
    assert_eq!(
        error("a[?(@.x=)]").1,
        "expected @…, a text in quotes or a number"
    );
    assert_eq!(error("a[?(@.x=='y']").1, "expected \")\"");
    assert_eq!(error("a[0:9:0]").1, "the step of a slice must be positive");
    assert_eq!(
        Path::parse("status..").unwrap_err().to_string(),
        "bad path \"status..\" at position 9: a name is missing"
    );
}

proptest! {
    #[test]
    fn any_text_parses_or_fails_without_panic(text in ".{0,40}") {
        if let Ok(path) = Path::parse(&text) {
            path.get(&data());
        }
    }

    #[test]
    fn any_arrangement_of_path_pieces_parses_or_fails_without_panic(
        pieces in prop::collection::vec(prop_oneof![
            Just("{"), Just("}"), Just("."), Just(".."), Just("["), Just("]"), Just("*"), Just("?("),
            Just(")"), Just("@"), Just("=="), Just("items"), Just("'a'"), Just("-1"), Just(":"), Just(","),
            Just("&&"), Just("||"), Just("!"), Just("\\"), Just("$"), Just(" "), Just("é"),
        ], 0..16)
    ) {
        if let Ok(path) = Path::parse(&pieces.concat()) {
            path.get(&data());
        }
    }

    #[test]
    fn a_quoted_key_is_found_whatever_it_contains(key in "[^'\\\\]{1,10}") {
        let value = json!({&key: 1});
        let path = Path::parse(&format!("['{key}']")).unwrap();
        prop_assert_eq!(path.get(&value).map(|v| v.into_owned()), Some(json!(1)));
    }
}
