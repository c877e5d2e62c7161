//! `entities[].conditions`: conditions mapped from reports.

use super::*;

fn mapping(when: &str, status: &str, reason: &str, message: &str) -> serde_json::Value {
    json!({
        "type": "DNSReady",
        "when": {"expression": when},
        "output": {
            "status": {"expression": status},
            "reason": {"expression": reason},
            "message": {"expression": message},
        },
    })
}

fn rules(conditions: serde_json::Value) -> Result<Rules, String> {
    let mut kinds = Kind::defaults();
    kinds[0].required_adapters = adapters(&["dns"]);
    kinds[0].conditions = serde_json::from_value(conditions).unwrap();
    let (book, _) = Rulebook::new(&kinds, &[]).map_err(|error| error.to_string())?;
    Ok(book.rules("Cluster").clone())
}

fn mapped(
    mapping: serde_json::Value,
    reports: &[AdapterStatus],
) -> Option<(ConditionStatus, String, String)> {
    let rules = rules(json!([mapping])).unwrap();
    let status = status(&resource(1), reports, None, at(9), &rules);
    condition::find(&status.conditions, "DNSReady").map(|found| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (found.status, text(&found.reason), text(&found.message))
    })
}

const DNS: &str = "statuses.filter(s, s.adapter == 'dns')[0]";

#[test]
fn a_mapping_copies_what_an_adapter_said() {
    let of = |part: &str| format!("{DNS}.conditions.filter(c, c.type == 'Available')[0].{part}");
    let mapping = mapping(
        "statuses.exists(s, s.adapter == 'dns')",
        &of("status"),
        &of("reason"),
        &format!("'zone ' + {DNS}.data.zone + ' in ' + resource.spec.region"),
    );
    assert_eq!(mapped(mapping.clone(), &[]), None, "nobody has reported");
    let mut dns = done("dns", 1, 5);
    dns.data = serde_json::from_value(json!({"zone": "z1"})).unwrap();
    assert_eq!(
        mapped(mapping, &[dns]),
        Some((
            ConditionStatus::True,
            "AvailableBecause".to_owned(),
            "zone z1 in eu".to_owned()
        ))
    );
}

#[test]
fn what_cannot_be_evaluated_is_false_and_says_why() {
    let failed = |when: &str, status: &str, reason: &str| {
        let (status, reason, message) = mapped(mapping(when, status, reason, "''"), &[]).unwrap();
        assert_eq!(status, ConditionStatus::False);
        assert_eq!(reason, "ConditionMappingFailed");
        message
    };
    assert_eq!(
        failed("true", "statuses[0].adapter", "'R'"),
        "`status` could not be evaluated: index 0 is out of range: `statuses` has 0 elements"
    );
    assert_eq!(
        failed("resource.spec.nope == 1", "true", "'R'"),
        "`when` could not be evaluated: no such key: `nope` in `resource.spec`"
    );
    assert_eq!(
        failed("true", "'maybe'", "'R'"),
        "`status` could not be evaluated: it must give \"True\" or \"False\""
    );
    assert_eq!(
        failed("true", "true", "dyn(1)"),
        "`reason` could not be evaluated: it gave int, not text"
    );
}

#[test]
fn a_long_reason_drops_the_condition_and_a_long_message_is_cut_between_characters() {
    let reason = format!("'{}'", "r".repeat(257));
    assert_eq!(mapped(mapping("true", "true", &reason, "''"), &[]), None);
    let message = format!("'{}'", "é".repeat(1500));
    let (_, _, message) = mapped(mapping("true", "'false'", "'R'", &message), &[]).unwrap();
    assert_eq!(message.len(), 2048);
    let odd = format!("'x{}'", "é".repeat(1500));
    let (_, _, message) = mapped(mapping("true", "'TRUE'", "'R'", &odd), &[]).unwrap();
    assert_eq!(message.len(), 2047);
}

#[test]
fn undecided_reports_and_secrets_are_not_seen() {
    let undecided = report("dns", 1, 5, &[("Available", "True"), ("Other", "Unknown")]);
    let seen = mapping(
        "true",
        "true",
        "string(size(statuses))",
        "resource.spec.db.password",
    );
    let (_, reason, message) = mapped(seen, &[undecided, done("x", 1, 1)]).unwrap();
    assert_eq!(reason, "1");
    assert_eq!(message, "***REDACTED***");
}

#[test]
fn times_stand_still_while_a_condition_says_the_same() {
    let rules = rules(json!([mapping("true", "statuses.size() > 0", "'R'", "''")])).unwrap();
    let first = status(&resource(1), &[], None, at(1), &rules);
    let second = status(
        &resource(1),
        &[done("dns", 1, 5)],
        Some(&first),
        at(6),
        &rules,
    );
    let third = status(
        &resource(1),
        &[done("dns", 1, 8)],
        Some(&second),
        at(9),
        &rules,
    );
    assert_eq!(find(&first, "DNSReady").last_transition_time, at(1));
    assert_eq!(find(&second, "DNSReady").last_transition_time, at(6));
    assert_eq!(find(&second, "DNSReady").created_time, at(1));
    assert_eq!(find(&third, "DNSReady"), find(&second, "DNSReady"));
}

#[test]
fn every_mistake_in_a_mapping_is_told_at_once() {
    let mut wrong = mapping("1", "statues[0]", "reason(", "now()");
    wrong["type"] = json!("DnsSuccessful");
    let twice = mapping("true", "true", "'R'", "''");
    assert_eq!(
        rules(json!([wrong, twice, twice])).unwrap_err(),
        "\
entities/0/conditions/0/type: the type `DnsSuccessful` is reserved
entities/0/conditions/0/when/expression: in the expression: a condition must be true or false, but `1` is int
entities/0/conditions/0/output/status/expression: in the expression: unknown variable `statues`
  help: did you mean `statuses`?
entities/0/conditions/0/output/reason/expression: in the expression: expected a value, found the end of the expression
entities/0/conditions/0/output/message/expression: in the expression: `now` depends on the time, which is not known here
entities/0/conditions/2/type: condition `DNSReady` is there twice"
    );
}
