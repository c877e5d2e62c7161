use serde_json::json;

use super::*;

fn now() -> Time {
    Time::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000)
}

fn body() -> Value {
    json!({
        "adapter": "dns",
        "observed_generation": 2,
        "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Applied", "status": "True", "reason": "Created"},
            {"type": "Health", "status": "True"},
        ],
    })
}

fn report(change: impl FnOnce(&mut Value)) -> Result<Report, ReportError> {
    let mut body = body();
    change(&mut body);
    Report::decode(&body, now())
}

fn message(change: impl FnOnce(&mut Value)) -> String {
    report(change).unwrap_err().message
}

fn generation(number: i64) -> Generation {
    Generation::try_from(number).unwrap()
}

#[test]
fn both_spellings_of_every_field_are_read() {
    let snake = report(|body| body["observed_time"] = json!("2023-11-14T22:13:00Z")).unwrap();
    let camel = Report::decode(
        &json!({
            "adapter": "dns",
            "observedGeneration": 2,
            "lastUpdated": "2023-11-14T23:13:00+01:00",
            "conditions": [
                {"type": "Available", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"},
                {"type": "Applied", "status": "True", "reason": "Created"},
                {"type": "Health", "status": "True"},
            ],
        }),
        now(),
    );
    assert_eq!(camel.unwrap(), snake);
}

#[test]
fn every_mistake_is_named() {
    assert_eq!(message(|b| b["adapter"] = json!("")), "adapter is required");
    assert_eq!(
        message(|b| b["adapter"] = json!(3)),
        "field 'adapter' must be a string"
    );
    assert_eq!(
        message(|b| b["observed_generation"] = json!(0)),
        "observed_generation must be at least 1"
    );
    assert_eq!(
        message(|b| b["observed_generation"] = json!("2")),
        "field 'observed_generation' must be a whole number"
    );
    assert_eq!(
        message(|b| b["conditions"][1]["type"] = json!("")),
        "condition type cannot be empty at index 1"
    );
    assert_eq!(
        message(|b| b["conditions"][2]["type"] = json!("Applied")),
        "duplicate condition type 'Applied' at index 2"
    );
    assert_eq!(
        message(|b| b["conditions"][0]["status"] = json!("true")),
        "invalid status value 'true' for condition at index 0 (type: Available): must be 'True', 'False', or 'Unknown'"
    );
    assert_eq!(
        message(|b| b["data"] = json!([])),
        "field 'data' must be an object"
    );
    assert_eq!(
        message(|b| b["observed_time"] = json!("yesterday")),
        "field 'observed_time' must be an RFC 3339 timestamp"
    );
    assert_eq!(
        message(|b| b["observed_time"] = json!("2023-11-14T22:18:21Z")),
        "observed_time must not be more than 5m0s in the future"
    );
    assert_eq!(
        message(|b| b["observed_time"] = json!("2023-11-14T21:43:19Z")),
        "observed_time must not be more than 30m0s in the past"
    );
}

fn accepted(report: Report, stored: Option<&AdapterStatus>) -> AdapterStatus {
    match report.judge(generation(2), stored).unwrap() {
        Verdict::Accept(status) => status,
        other => panic!("not accepted: {other:?}"),
    }
}

#[test]
fn a_transition_time_moves_only_with_the_status() {
    let stored = accepted(report(|_| {}).unwrap(), None);
    let later = report(|body| {
        body["observed_time"] = json!("2023-11-14T22:14:00Z");
        body["conditions"][0]["status"] = json!("False");
    });
    let next = accepted(later.unwrap(), Some(&stored));
    assert_eq!(
        next.condition("Available").unwrap().last_transition_time,
        next.last_report_time
    );
    assert_eq!(
        next.condition("Applied").unwrap().last_transition_time,
        stored.last_report_time
    );
    assert_eq!(next.created_time, stored.created_time);
}

#[test]
fn stale_future_and_undecided_reports_are_discarded_in_this_order() {
    let stored = accepted(report(|_| {}).unwrap(), None);
    let verdict = |stored: Option<&AdapterStatus>, change: fn(&mut Value)| {
        report(change).unwrap().judge(generation(2), stored)
    };
    let empty_conditions = |b: &mut Value| {
        b["observed_generation"] = json!(3);
        b["conditions"] = json!([]);
    };
    assert_eq!(
        verdict(None, empty_conditions),
        Ok(Verdict::Discard(Discarded::FutureGeneration))
    );
    assert_eq!(
        verdict(Some(&stored), |b| b["observed_generation"] = json!(1)),
        Ok(Verdict::Discard(Discarded::OlderGeneration))
    );
    assert_eq!(
        verdict(Some(&stored), |b| b["observed_time"] =
            json!("2023-11-14T22:13:19Z")),
        Ok(Verdict::Discard(Discarded::OlderObservation))
    );
    assert_eq!(verdict(Some(&stored), |_| {}), Ok(Verdict::Repeated));
    assert_eq!(
        verdict(Some(&stored), |b| {
            b["observed_time"] = json!("2023-11-14T22:14:00Z");
            b["conditions"][0]["status"] = json!("Unknown");
        }),
        Ok(Verdict::Discard(Discarded::Undecided))
    );
    assert!(matches!(
        verdict(None, |b| b["conditions"][0]["status"] = json!("Unknown")),
        Ok(Verdict::Accept(_))
    ));
}

#[test]
fn the_three_mandatory_conditions_must_be_there() {
    let error =
        report(|body| body["conditions"] = json!([{"type": "Available", "status": "True"}]))
            .unwrap()
            .judge(generation(2), None)
            .unwrap_err();
    assert_eq!(
        error.message,
        "missing mandatory condition 'Applied': all adapters must report Available, Applied, and Health"
    );
}

fn nested(change: impl FnOnce(&mut Value)) -> Result<Vec<Report>, ReportError> {
    let mut other = body();
    other["adapter"] = json!("validation");
    other.as_object_mut().unwrap().remove("observed_generation");
    let mut body = json!({"generation": 1, "adapter_statuses": [body(), other]});
    change(&mut body);
    Report::decode_all(&body, now())
}

#[test]
fn a_body_may_hold_several_reports() {
    let reports = nested(|_| {}).unwrap();
    assert_eq!(reports[0], report(|_| {}).unwrap());
    assert_eq!(reports[1].adapter.as_str(), "validation");
    assert_eq!(
        reports[1].observed_generation,
        generation(1),
        "the generation around it stands in for its own"
    );
    let one = Report::decode_all(&body(), now()).unwrap();
    assert_eq!(one, [report(|_| {}).unwrap()]);
}

#[test]
fn several_reports_are_refused_together_and_the_wrong_one_is_named() {
    let error = |change: fn(&mut Value)| {
        let error = nested(change).unwrap_err();
        (error.field, error.message)
    };
    let (field, message) = error(|b| {
        b["adapter_statuses"][1]["conditions"][2]["type"] = json!("Sound");
    });
    assert_eq!(field, "adapter_statuses[1].conditions");
    assert!(
        message.starts_with("adapter_statuses[1]: missing mandatory condition 'Health'"),
        "{message}"
    );
    let (field, _) = error(|b| b["adapter_statuses"][0]["conditions"][0]["status"] = json!(1));
    assert_eq!(field, "adapter_statuses[0].conditions[0].status");
    let (field, message) = error(|b| b["adapter_statuses"][1]["adapter"] = json!("dns"));
    assert_eq!(field, "adapter_statuses[1].adapter");
    assert_eq!(message, "adapter 'dns' reports twice");
    let (_, message) = error(|b| b["adapter_statuses"] = json!([]));
    assert_eq!(
        message,
        "field 'adapter_statuses' must hold 1 to 100 reports"
    );
    let (_, message) = error(|b| b["generation"] = json!("1"));
    assert_eq!(message, "field 'generation' must be a whole number");
    let (field, _) = error(|b| b["adapter_statuses"][1] = json!("x"));
    assert_eq!(field, "adapter_statuses[1]");
}
