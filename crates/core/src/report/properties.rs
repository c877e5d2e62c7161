//! What holds for any stream of reports.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn now() -> Time {
    Time::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000)
}

const STATUSES: [ConditionStatus; 3] = [
    ConditionStatus::True,
    ConditionStatus::False,
    ConditionStatus::Unknown,
];

/// A report of one adapter; `words` are Available, Applied and Health.
fn report(generation: i64, second: i64, words: [usize; 3], data: u8) -> Report {
    let conditions = types::MANDATORY.iter().zip(words);
    Report {
        adapter: "dns".try_into().unwrap(),
        observed_generation: generation.try_into().unwrap(),
        observed_time: now() + TimeDelta::seconds(second),
        conditions: conditions
            .map(|(kind, word)| ReportedCondition {
                kind: (*kind).to_owned(),
                status: STATUSES[word],
                reason: None,
                message: None,
            })
            .collect(),
        data: json!({"n": data}).as_object().unwrap().into(),
        metadata: None,
    }
}

fn any_report(words: std::ops::Range<usize>) -> impl Strategy<Value = Report> {
    let words = prop::array::uniform3(words);
    (1..5i64, 0..6i64, words, 0..2u8)
        .prop_map(|(generation, second, words, data)| report(generation, second, words, data))
}

/// What is stored after the reports came in one after the other.
fn stored(reports: impl IntoIterator<Item = Report>) -> Option<AdapterStatus> {
    let current = 3.try_into().unwrap();
    reports.into_iter().fold(None, |stored, report| {
        match report.judge(current, stored.as_ref()).unwrap() {
            Verdict::Accept(status) => Some(status),
            Verdict::Repeated | Verdict::Discard(_) => stored,
        }
    })
}

/// Without the times that tell when something was first or last otherwise.
fn believed(status: &AdapterStatus) -> (Generation, Time, Vec<ConditionStatus>) {
    let words = status.conditions.iter().map(|c| c.status).collect();
    (status.observed_generation, status.last_report_time, words)
}

proptest! {
    #[test]
    fn in_whatever_order_reports_arrive_the_newest_is_believed(
        (reports, shuffled) in prop::collection::vec(any_report(0..2), 1..8)
            .prop_map(|mut reports| {
                // Two observations of one moment differ in nothing an adapter could mean.
                reports.sort_by_key(|r| (r.observed_generation, r.observed_time));
                reports.dedup_by_key(|r| (r.observed_generation, r.observed_time));
                reports
            })
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
    ) {
        let newest = reports
            .iter()
            .rfind(|report| report.observed_generation.get() <= 3)
            .map(|report| (report.observed_generation, report.observed_time));
        let one = stored(reports);
        let other = stored(shuffled);
        prop_assert_eq!(one.as_ref().map(believed), other.as_ref().map(believed));
        prop_assert_eq!(one.map(|s| (s.observed_generation, s.last_report_time)), newest);
    }

    #[test]
    fn a_transition_time_moves_only_with_the_status_and_then_to_the_time_of_the_report(
        reports in prop::collection::vec(any_report(0..3), 1..10)
    ) {
        let mut before: Option<AdapterStatus> = None;
        for report in reports {
            let current = 3.try_into().unwrap();
            let Verdict::Accept(after) = report.judge(current, before.as_ref()).unwrap() else {
                continue;
            };
            for condition in &after.conditions {
                let earlier = before.as_ref().and_then(|before| before.condition(&condition.kind));
                match earlier.filter(|earlier| earlier.status == condition.status) {
                    Some(earlier) => prop_assert_eq!(
                        earlier.last_transition_time, condition.last_transition_time
                    ),
                    None => prop_assert_eq!(condition.last_transition_time, after.last_report_time),
                }
            }
            if let Some(before) = &before {
                prop_assert_eq!(before.created_time, after.created_time);
                prop_assert!(before.available().is_none() || after.available().is_some());
            }
            before = Some(after);
        }
    }

    #[test]
    fn no_body_makes_the_decoder_panic(body in any_json(), now_offset in -10_000..10_000i64) {
        let at = now() + TimeDelta::seconds(now_offset);
        let _ = Report::decode(&body, at);
        let _ = Report::decode_all(&body, at);
    }
}

/// Documents that look like reports, with anything in any place.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "True",
            "False",
            "Unknown",
            "Available",
            "Applied",
            "Health",
            "dns",
            "",
            "2023-11-14T22:13:20Z",
            "9999-12-31T23:59:59.999999999+14:00",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let keys = prop::sample::select(vec![
            "adapter",
            "observed_generation",
            "observedGeneration",
            "observed_time",
            "conditions",
            "type",
            "status",
            "data",
            "metadata",
            "adapter_statuses",
            "generation",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys.prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
