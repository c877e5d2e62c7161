//! Every rule and every tie of deciding by backoffs, from the resource as an API shows it.

use hyperfleet_client::RemoteResource;
use hyperfleet_core::due::MOST_PROGRESS;
use proptest::prelude::*;

use super::*;
use crate::view::view;

/// Seconds from now; negative is past.
fn at(seconds: f64) -> Time {
    now() + TimeDelta::microseconds((seconds * 1e6) as i64)
}

struct Case {
    generation: i64,
    changed: f64,
    /// Status of `Reconciled`, phase, and when the oldest required adapter reported.
    status: Option<(&'static str, Option<&'static str>, f64)>,
    deleted: bool,
    /// When an event was sent about this version, or about one before it.
    sent: Option<(f64, Version)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    This,
    /// This one, before reports changed its status.
    Unreported,
    /// The same, after many events for the same reason.
    Restless,
    Before,
}

const READY: Option<&str> = Some("Ready");
const MINUTES: f64 = 60.0;

/// Not ready, and reported on after its last change.
fn case() -> Case {
    Case {
        generation: 1,
        changed: -3600.0,
        status: Some(("False", Some("Provisioning"), -5.0)),
        deleted: false,
        sent: None,
    }
}

impl Case {
    fn resource(&self) -> RemoteResource {
        let mut json = json!({
            "id": "c1", "generation": self.generation, "created_time": at(-86_400.0), "updated_time": at(self.changed),
        });
        if let Some((status, phase, reported)) = self.status {
            let condition = json!({
                "type": "Reconciled", "status": status, "last_updated_time": at(reported),
                "observed_generation": self.generation,
            });
            json["status"] = json!({"phase": phase, "conditions": [condition]});
        }
        if self.deleted {
            json["deleted_time"] = json!(at(self.changed));
        }
        RemoteResource::from_json(json).unwrap()
    }

    fn next(&self, jitter: f64, spread: f64) -> Next {
        let view = view(&self.resource());
        let published = self.sent.map(|(seconds, version)| {
            let mut sent = Published::after(None, &view, at(seconds));
            match version {
                Version::This => {}
                Version::Unreported => sent.progress ^= 1,
                Version::Restless => {
                    sent.progress ^= 1;
                    sent.progressed = MOST_PROGRESS;
                }
                Version::Before => sent.updated_time -= TimeDelta::hours(1),
            }
            sent
        });
        let decision = Decision::Backoff {
            backoff: Backoff::default(),
            jitter: Jitter(jitter),
        };
        let known = Known {
            view: &view,
            published: published.as_ref(),
            changed: true,
            spread,
        };
        decision.next(&known, now(), || Cow::Owned(json!({})))
    }
}

fn publish(reason: &'static str, due: f64) -> Next {
    Next::Publish {
        reason,
        due: at(due),
    }
}

fn wait(seconds: f64) -> Next {
    Next::Wait {
        until: at(seconds),
        skip: Skip::NotDue,
    }
}

#[test]
fn what_time_makes_due_is_due_at_the_very_moment_and_not_before() {
    let not_ready = |age: f64| Case {
        status: Some(("False", Some("Provisioning"), -age)),
        ..case()
    };
    let ready = |age: f64| Case {
        status: Some(("True", READY, -age)),
        ..case()
    };
    for (name, case, expected) in [
        ("not ready, fresh", not_ready(5.0), wait(5.0)),
        ("not ready, a blink before", not_ready(9.999), wait(0.001)),
        (
            "not ready, at the moment",
            not_ready(10.0),
            publish("backoff-expired", 0.0),
        ),
        (
            "not ready, after it",
            not_ready(12.0),
            publish("backoff-expired", -2.0),
        ),
        ("ready, fresh", ready(10.0), wait(30.0 * MINUTES - 10.0)),
        (
            "ready, a blink before",
            ready(30.0 * MINUTES - 0.001),
            wait(0.001),
        ),
        (
            "ready, at the moment",
            ready(30.0 * MINUTES),
            publish("max-age-expired", 0.0),
        ),
        (
            "a report from the future is waited for",
            not_ready(-60.0),
            wait(70.0),
        ),
    ] {
        assert_eq!(case.next(0.0, 1.0), expected, "{name}");
    }
}

#[test]
fn ready_is_reconciled_and_the_phase_where_there_is_one() {
    let of = |status, phase| {
        let case = Case {
            status: Some((status, phase, -20.0)),
            ..case()
        };
        case.next(0.0, 0.0)
    };
    let due = publish("backoff-expired", -10.0);
    let later = wait(30.0 * MINUTES - 20.0);
    assert_eq!(of("True", READY), later);
    assert_eq!(of("True", None), later, "an API without phases");
    for (status, phase) in [
        ("True", Some("Degraded")),
        ("False", READY),
        ("False", None),
        ("Unknown", READY),
        ("true", READY),
    ] {
        assert_eq!(of(status, phase), due, "{status} {phase:?}");
    }
}

#[test]
fn what_nobody_has_reported_on_since_it_changed_is_due_at_once() {
    let silent = |generation, changed: f64, deleted| Case {
        generation,
        changed,
        deleted,
        // The API stamps the condition with the time of the change until somebody reports.
        status: Some(("False", Some("Pending"), changed)),
        sent: None,
    };
    for (name, case, expected) in [
        ("new", silent(1, -2.0, false), publish("created", -2.0)),
        (
            "changed",
            silent(2, -2.0, false),
            publish("generation-changed", -2.0),
        ),
        ("deleted", silent(2, -2.0, true), publish("deleted", -2.0)),
        (
            "long ago",
            silent(1, -86_400.0, false),
            publish("created", -86_400.0),
        ),
        ("just now", silent(1, 0.0, false), publish("created", 0.0)),
        (
            "stamped by a clock that is ahead",
            silent(1, 30.0, false),
            publish("created", 0.0),
        ),
    ] {
        assert_eq!(case.next(1.0, 1.0), expected, "{name}");
    }
    let bare = Case {
        status: None,
        ..silent(3, -1.0, false)
    };
    assert_eq!(
        bare.next(0.0, 0.0),
        publish("generation-changed", -1.0),
        "no status"
    );
    let older = Case {
        status: Some(("True", READY, -5.0)),
        ..silent(2, -2.0, false)
    };
    assert_eq!(
        older.next(0.0, 0.0),
        publish("generation-changed", -5.0),
        "the report is about the version before"
    );
}

#[test]
fn an_event_is_followed_by_silence_until_its_backoff_or_a_change() {
    let silent = |sent| Case {
        changed: -8.0,
        status: Some(("False", Some("Pending"), -8.0)),
        sent: Some(sent),
        ..case()
    };
    let reported = |reported, sent| Case {
        status: Some(("False", Some("Provisioning"), reported)),
        sent: Some(sent),
        ..case()
    };
    let ready = Case {
        status: Some(("True", READY, -40.0 * MINUTES)),
        sent: Some((-1.0, Version::This)),
        ..case()
    };
    for (name, case, expected) in [
        ("nobody answered", silent((-3.0, Version::This)), wait(7.0)),
        (
            "nobody answered in time",
            silent((-10.0, Version::This)),
            publish("backoff-expired", 0.0),
        ),
        (
            "changed since",
            silent((-3.0, Version::Before)),
            publish("created", -3.0),
        ),
        ("answered", reported(-2.0, (-3.0, Version::This)), wait(8.0)),
        (
            "answered long before",
            reported(-20.0, (-3.0, Version::This)),
            wait(7.0),
        ),
        (
            "answered about a version since",
            reported(-2.0, (-300.0, Version::Before)),
            publish("created", -300.0),
        ),
        ("ready and refreshed", ready, wait(30.0 * MINUTES - 1.0)),
    ] {
        assert_eq!(case.next(0.0, 0.0), expected, "{name}");
    }
}

#[test]
fn a_report_that_others_may_wait_for_is_due_as_soon_as_its_burst_has_settled() {
    let reported = |sent| Case {
        status: Some(("False", Some("Provisioning"), -0.01)),
        sent: Some(sent),
        ..case()
    };
    let ready = |sent| Case {
        status: Some(("True", READY, -0.01)),
        sent: Some(sent),
        ..case()
    };
    let told = |due| publish("status-changed", due);
    for (name, case, expected) in [
        (
            "at once",
            reported((-3.0, Version::Unreported)),
            told(-2.95),
        ),
        (
            "in the burst",
            reported((-0.02, Version::Unreported)),
            wait(0.03),
        ),
        (
            "and ready by it",
            ready((-3.0, Version::Unreported)),
            told(-2.95),
        ),
        ("already told", reported((-3.0, Version::This)), wait(9.99)),
        (
            "again and again",
            reported((-3.0, Version::Restless)),
            wait(9.99),
        ),
        (
            "and its owner changed it",
            reported((-0.02, Version::Before)),
            publish("created", -0.02),
        ),
    ] {
        assert_eq!(case.next(0.0, 0.0), expected, "{name}");
    }
}

#[test]
fn what_others_may_wait_for_is_what_was_reported_and_not_when_or_in_which_words() {
    let status = |phase: &str, adapters: Value, conditions: Value| {
        let status = json!({"phase": phase, "adapters": adapters, "conditions": conditions});
        let json = json!({"id": "c1", "generation": 2, "status": status});
        view(&RemoteResource::from_json(json).unwrap()).progress
    };
    let adapter = |available: &str, generation: i64| json!([{"available": available, "observed_generation": generation}]);
    let condition = |status: &str, time: &str, message: &str| json!([{"type": "Custom", "status": status, "last_updated_time": time, "message": message}]);
    let before = status("Pending", adapter("True", 1), condition("False", NOW, "a"));
    let later = "2026-01-01T12:00:07Z";
    let same = status(
        "Pending",
        adapter("True", 1),
        condition("False", later, "b"),
    );
    assert_eq!(before, same, "times and words");
    let finalized = json!([{"available": "True", "observed_generation": 1, "finalized": "True"}]);
    let mut seen = vec![
        before,
        status("Failed", adapter("True", 1), condition("False", NOW, "a")),
        status("Pending", adapter("False", 1), condition("False", NOW, "a")),
        status("Pending", adapter("True", 2), condition("False", NOW, "a")),
        status("Pending", adapter("True", 1), condition("True", NOW, "a")),
        status("Pending", finalized, condition("False", NOW, "a")),
        status("Pending", json!([]), condition("False", NOW, "a")),
    ];
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), all, "each is another");
}

#[test]
fn of_an_api_that_does_not_sum_up_its_adapters_their_conditions_tell_the_generation() {
    let of = |generation: i64| {
        let condition =
            json!({"type": "DnsSuccessful", "status": "True", "observed_generation": generation});
        let json = json!({"id": "c1", "generation": 2, "status": {"conditions": [condition]}});
        view(&RemoteResource::from_json(json).unwrap()).progress
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn the_last_child_of_a_deleted_parent_going_is_a_change() {
    // The API moves `updated_time` of the parent, not its generation.
    let parent = Case {
        generation: 2,
        changed: -1.0,
        deleted: true,
        status: Some(("False", Some("Terminating"), -4.0)),
        sent: Some((-5.0, Version::Before)),
    };
    assert_eq!(parent.next(1.0, 1.0), publish("deleted", -5.0));
}

proptest! {
    #[test]
    fn jitter_only_lengthens_a_wait_and_by_no_more_than_its_part(
        age in 0.0..5000.0_f64,
        jitter in 0.0..=1.0_f64,
        spread in 0.0..=1.0_f64,
        ready in any::<bool>(),
    ) {
        let status = if ready { ("True", READY, -age) } else { ("False", Some("Pending"), -age) };
        let case = Case { status: Some(status), changed: -10_000.0, ..case() };
        let moment = |next: Next| match next {
            Next::Publish { due, .. } => due,
            Next::Wait { until, .. } => until,
        };
        let (exact, spread_out) = (moment(case.next(0.0, spread)), moment(case.next(jitter, spread)));
        let longest = if ready { 30.0 * MINUTES } else { 10.0 } * jitter;
        let more = (spread_out - exact).as_seconds_f64();
        prop_assert!((0.0..=longest + 1e-6).contains(&more), "{more} of {longest}");
        prop_assert_eq!(spread_out, moment(case.next(jitter, spread)), "always the same");
    }
}
