//! Random searches and resources out of one small world, so that they often meet.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::Search;
use super::decimal::Decimal;
use super::expr::{Check, Comparison, Expr, LetterCase, Literal, Test};
use super::field::{ConditionPart, Field};
use crate::column::Column;
use crate::condition::ConditionStatus;
use crate::resource::Resource;
use crate::time::Time;

const IDS: [&str; 4] = [
    "00000000-0000-7000-8000-000000000001",
    "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b",
    "a192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b",
    "ffffffff-ffff-7fff-bfff-ffffffffffff",
];
const KEYS: [&str; 5] = ["env", "hyperfleet.io/cluster-id", "A_b", "é", "a=b"];
const CONDITIONS: [&str; 4] = ["Reconciled", "DnsSuccessful", "A", "odd-Type"];
const TEXTS: [&str; 16] = [
    "",
    "a",
    "b",
    "ab",
    "A",
    "a-b",
    "it's",
    r"back\slash",
    "10",
    "9",
    "1.0",
    "true",
    "é",
    "a%",
    "Ready",
    "Cluster",
];
const PATTERNS: [&str; 10] = ["%", "a%", "%b", "_", "A_", r"a\%", "%e%", "1%", "", "É"];
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-5",
    "9.5",
    "10",
    "1e21",
    "0.1",
    "9007199254740993",
    "1.5e-7",
    "-1e300",
    "18446744073709551615",
    "1024",
];
const TIMES: [&str; 4] = [
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.000001Z",
    "2026-03-06T14:00:00.5Z",
    "1969-12-31T23:59:59.999999Z",
];

fn time() -> impl Strategy<Value = Time> {
    select(&TIMES[..]).prop_map(|text| text.parse().expect("a time"))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![8 => select(&TEXTS[..]), 1 => select(&IDS[..])].prop_map(str::to_owned)
}

fn status() -> impl Strategy<Value = ConditionStatus> {
    select(&ConditionStatus::ALL[..])
}

fn key() -> impl Strategy<Value = String> {
    select(&KEYS[..]).prop_map(str::to_owned)
}

fn condition() -> impl Strategy<Value = String> {
    select(&CONDITIONS[..]).prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = Literal> {
    select(&NUMBERS[..]).prop_map(|text| Literal::Number(Decimal::parse(text).expect("a number")))
}

/// A search, well typed.
pub fn search() -> impl Strategy<Value = Search> {
    let leaf = test().prop_map(Expr::Test);
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Expr::And),
            vec(inner.clone(), 2..4).prop_map(Expr::Or),
            inner.prop_map(|expr| Expr::Not(Box::new(expr))),
        ]
    })
    .prop_map(|expr| Search { expr })
}

fn test() -> impl Strategy<Value = Test> {
    let columns = |wanted: fn(Column) -> bool| {
        let columns: Vec<Column> = Column::ALL
            .into_iter()
            .filter(|column| wanted(*column))
            .collect();
        select(columns).prop_map(Field::Column)
    };
    let is_time = |c: Column| c.as_str().ends_with("_time");
    let texts = prop_oneof![
        columns(|c| !c.as_str().ends_with("_time") && c != Column::Generation),
        Just(Field::Phase),
        key().prop_map(Field::Label),
        key().prop_map(Field::Tenancy),
    ];
    let times = prop_oneof![
        columns(is_time),
        (condition(), select(&ConditionPart::ALL[..2]))
            .prop_map(|(kind, part)| Field::ConditionPart(kind, part)),
    ];
    let integers = prop_oneof![
        Just(Field::Column(Column::Generation)),
        condition().prop_map(|kind| Field::ConditionPart(kind, ConditionPart::ObservedGeneration)),
    ];
    let statuses = status().prop_map(Literal::Status).boxed();
    prop_oneof![
        (texts, texts_check()).prop_map(pair),
        (times, ordered(time().prop_map(Literal::Time).boxed())).prop_map(pair),
        (
            integers,
            ordered((-1..4).prop_map(Literal::Integer).boxed())
        )
            .prop_map(pair),
        (condition().prop_map(Field::Condition), equality(statuses)).prop_map(pair),
        (spec_field(), texts_check()).prop_map(pair),
        (spec_field(), ordered(number().boxed())).prop_map(pair),
        (
            spec_field(),
            equality(any::<bool>().prop_map(Literal::Bool).boxed())
        )
            .prop_map(pair),
    ]
}

fn pair((field, check): (Field, Check)) -> Test {
    Test { field, check }
}

fn spec_field() -> impl Strategy<Value = Field> {
    const PATHS: [&str; 10] = [
        "a", "b", "a.a", "a.b", "a.0", "a.-1", "a.1.b", "missing", "Odd-Name", "a. 0",
    ];
    select(&PATHS[..])
        .prop_map(|path: &str| Field::Spec(path.split('.').map(str::to_owned).collect()))
}

fn equality(literal: BoxedStrategy<Literal>) -> impl Strategy<Value = Check> {
    let equal = select(&[Comparison::Equal, Comparison::NotEqual][..]);
    prop_oneof![
        (equal, literal.clone())
            .prop_map(|(comparison, literal)| Check::Compare(comparison, literal)),
        vec(literal, 0..3).prop_map(Check::In),
        Just(Check::IsNull),
    ]
}

fn ordered(literal: BoxedStrategy<Literal>) -> impl Strategy<Value = Check> {
    prop_oneof![
        (select(&Comparison::ALL[..]), literal.clone())
            .prop_map(|(comparison, literal)| Check::Compare(comparison, literal)),
        (literal.clone(), literal.clone()).prop_map(|(low, high)| Check::Between(low, high)),
        equality(literal),
    ]
}

fn texts_check() -> impl Strategy<Value = Check> {
    let case = select(&[LetterCase::Exact, LetterCase::Ignored][..]);
    let like = (select(&PATTERNS[..]), case).prop_map(|(pattern, case)| Check::Like {
        pattern: pattern.to_owned(),
        case,
    });
    prop_oneof![3 => ordered(text().prop_map(Literal::Text).boxed()), 1 => like]
}

fn labels() -> impl Strategy<Value = BTreeMap<String, String>> {
    // No `=` in a key: the API refuses it, so no resource has one.
    let keys = select(&KEYS[..4]).prop_map(str::to_owned);
    btree_map(keys, text(), 0..3)
}

fn json_value() -> impl Strategy<Value = Value> {
    let numbers = select(&NUMBERS[..]).prop_map(|text| serde_json::from_str(text).expect("JSON"));
    let strings = select(&["01", "1.0", "1e5", " 1", "-5", "99999999999999999999", "1."][..]);
    let leaf = prop_oneof![
        3 => numbers,
        3 => text().prop_map(Value::from),
        2 => strings.prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!(-0.0)),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let names = select(&["a", "b", "0", "Odd-Name"][..]).prop_map(str::to_owned);
    btree_map(names, value, 0..4).prop_map(|members| members.into_iter().collect())
}

/// A resource as the store holds one. Several may have one id, and an owner need not exist.
pub fn resource() -> impl Strategy<Value = Resource> {
    let conditions = btree_map(condition(), (status(), 1..4, time(), time()), 0..4);
    let plain = (
        select(&IDS[..]),
        text(),
        text(),
        1..4,
        select(&["Ready", "Pending", "Failed"][..]),
    );
    let times = (time(), time(), option::of((time(), text())));
    let nested = (
        labels(),
        labels(),
        members(json_value()),
        option::of(select(&IDS[..])),
    );
    (plain, times, nested, conditions).prop_map(|(plain, times, nested, conditions)| {
        let (id, name, kind, generation, phase) = plain;
        let (created, updated, deleted) = times;
        let (labels, tenancy, spec, owner) = nested;
        let conditions: Vec<Value> = conditions
            .into_iter()
            .map(|(kind, (status, generation, updated, transition))| {
                json!({
                    "type": kind, "status": status, "observed_generation": generation, "created_time": created,
                    "last_updated_time": updated, "last_transition_time": transition,
                })
            })
            .collect();
        let mut resource = json!({
            "id": id, "kind": kind, "name": name, "href": format!("/{name}"), "spec": spec, "labels": labels,
            "tenancy": tenancy, "generation": generation,
            "status": {
                "phase": phase, "phaseDescription": "", "conditions": conditions, "adapters": [],
                "last_updated_time": updated, "last_transition_time": updated,
            },
            "created_time": created, "updated_time": updated, "created_by": name, "updated_by": kind,
        });
        if let Some((time, by)) = deleted {
            resource["deleted_time"] = json!(time);
            resource["deleted_by"] = json!(by);
        }
        if let Some(owner) = owner {
            resource["owner_references"] = json!({"id": owner, "kind": kind, "href": "/a"});
        }
        serde_json::from_value(resource).expect("a resource")
    })
}
