use proptest::prelude::*;
use serde_json::json;

use super::*;

fn fleet() -> Value {
    json!({"items": [
        {"name": "a", "generation": 1, "labels": {"hyperfleet.io/env": "prod"},
         "status": {"conditions": [{"type": "Reconciled", "status": "True"}, {"type": "Other", "status": "False"}]}},
        {"name": "b", "generation": 3, "labels": {}, "status": {"conditions": []}},
    ]})
}

fn rendered(template: &str) -> String {
    Template::parse(template).unwrap().render(&fleet())
}

#[test]
fn templates_print_what_kubectls_would() {
    let cases = [
        ("{.items[*].name}", "a b"),
        ("{$.items[0].name}", "a"),
        ("{.items[-1].name}", "b"),
        ("{.items[0:1].name}", "a"),
        ("{.items[1:].name}", "b"),
        ("{..name}", "a b"),
        ("{.items[0].labels.hyperfleet\\.io/env}", "prod"),
        ("{.items[0].labels['hyperfleet.io/env']}", "prod"),
        ("{.items[?(@.generation > 2)].name}", "b"),
        ("{.items[?(@.name==\"a\")].generation}", "1"),
        ("{.items[?(@.name != 'a')].name}", "b"),
        (
            "{.items[0].status.conditions[?(@.type==\"Reconciled\")].status}",
            "True",
        ),
        (
            "{range .items[*]}{.name}{\"\\t\"}{.generation}{\"\\n\"}{end}",
            "a\t1\nb\t3\n",
        ),
        ("{range .items[*]}<{.name}>{end}!", "<a><b>!"),
        ("name: {.items[0].name}", "name: a"),
        ("{.items[9].name}{.nothing}", ""),
        ("{.items[0].labels}", "{\"hyperfleet.io/env\":\"prod\"}"),
    ];
    for (template, expected) in cases {
        assert_eq!(rendered(template), expected, "{template}");
    }
}

#[test]
fn a_path_needs_neither_braces_nor_its_first_dot() {
    for text in [
        "items[1].name",
        ".items[1].name",
        "{.items[1].name}",
        "$.items[1].name",
    ] {
        let found = Path::parse(text).unwrap();
        assert_eq!(found.text(&fleet()), "b", "{text}");
    }
    let all = Path::parse(".items[*].name").unwrap();
    assert_eq!(all.text(&fleet()), "a,b");
}

#[test]
fn mistakes_are_told() {
    let wrong = |text: &str| Template::parse(text).unwrap_err();
    assert!(wrong("{.a").contains("does not end"));
    assert!(wrong("{range .items}").contains("without {end}"));
    assert!(wrong("{end}").contains("without {range}"));
    assert!(wrong("{.a[}").contains("missing"));
    assert!(wrong("{.items[?(name)]}").contains("no value"));
    assert!(wrong("{.a..}").contains("missing"));
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "[{}\\[\\].*?()@$'\"\\\\a-z0-9:=<> -]{0,40}") {
        if let Ok(template) = Template::parse(&text) {
            template.render(&fleet());
        }
        if let Ok(path) = Path::parse(&text) {
            path.select(&fleet());
        }
    }
}
