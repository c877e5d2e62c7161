//! `defaultBehavior` and `policies`: what it means when adapters say nothing.

use super::*;

const POLICIES: &str = r#"
optionalAdapters: [monitoring]
defaultBehavior: {missingAdapter: pending, timeout: 10m}
policies: {staleThreshold: 40m, staleAction: degraded}
clusterConditions:
  - type: Fresh
    evaluate: {expr: 'none(allAdapters, {.stale})'}
"#;

fn at_minute(
    minutes: i64,
    reports: &[AdapterStatus],
    previous: Option<&ResourceStatus>,
    rules: &Rules,
) -> Aggregated {
    aggregated(&resource(1), reports, previous, at(minutes * 60), rules)
}

#[test]
fn a_missing_adapter_is_pending_until_the_timeout_and_failed_after_it() {
    let rules = configured(&["validation", "dns"], POLICIES);
    let new = at_minute(0, &[], None, &rules);
    assert_eq!(new.status.phase, Phase::Pending);
    assert_eq!(new.recheck, Some(at(600)));

    let reports = [done("validation", 1, 60)];
    let before = at_minute(9, &reports, Some(&new.status), &rules);
    assert_eq!(before.status.phase, Phase::Provisioning);
    let after = at_minute(10, &reports, Some(&before.status), &rules);
    assert_eq!(after.status.phase, Phase::Failed);
    let late = find(&after.status, "AdaptersReporting");
    assert_eq!(late.status, ConditionStatus::False);
    assert_eq!(late.last_transition_time, at(600));
    assert_eq!(late.reason.as_deref(), Some("AdaptersOverdue"));
    assert_eq!(
        late.message.as_deref(),
        Some("No report on generation 1 within 10m from required adapters [dns]")
    );
    assert_eq!(
        after.recheck,
        Some(at(60 + 40 * 60)),
        "when validation gets stale"
    );

    let both = [done("validation", 1, 60), done("dns", 1, 660)];
    let recovered = at_minute(11, &both, Some(&after.status), &rules);
    assert_eq!(recovered.status.phase, Phase::Ready);
    assert!(
        find(&recovered.status, "AdaptersReporting")
            .status
            .is_true()
    );
}

#[test]
fn a_report_that_is_too_old_degrades_and_a_new_one_heals() {
    let rules = configured(&["dns"], POLICIES);
    let reports = [done("dns", 1, 60), done("monitoring", 1, 0)];
    let fresh = at_minute(39, &reports, None, &rules);
    assert_eq!(fresh.status.phase, Phase::Ready);
    assert!(find(&fresh.status, "Fresh").status.is_true());
    assert_eq!(fresh.recheck, Some(at(40 * 60)));

    let one = at_minute(40, &reports, Some(&fresh.status), &rules);
    assert_eq!(
        one.status.phase,
        Phase::Degraded,
        "an optional adapter counts"
    );
    assert_eq!(
        find(&one.status, "AdaptersReporting").message.as_deref(),
        Some("No report within 40m from [monitoring]")
    );
    assert!(!find(&one.status, "Fresh").status.is_true());
    assert_eq!(one.recheck, Some(at(41 * 60)));

    let two = at_minute(41, &reports, Some(&one.status), &rules);
    assert_eq!(
        find(&two.status, "AdaptersReporting").message.as_deref(),
        Some("No report within 40m from [dns, monitoring]")
    );
    assert_eq!(two.recheck, None, "nothing left to wait for");

    let again = [done("dns", 1, 42 * 60), done("monitoring", 1, 42 * 60)];
    let healed = at_minute(42, &again, Some(&two.status), &rules);
    assert_eq!(healed.status.phase, Phase::Ready);
}

#[test]
fn an_adapter_that_nobody_expects_is_never_stale() {
    let rules = configured(&["dns"], POLICIES);
    let reports = [done("dns", 1, 50 * 60), done("gone", 1, 0)];
    assert_eq!(
        at_minute(51, &reports, None, &rules).status.phase,
        Phase::Ready
    );
}

#[test]
fn staleness_can_fail_or_be_left_to_the_rules() {
    let with = |action: &str| configured(&["dns"], &POLICIES.replace("degraded", action));
    let reports = [done("dns", 1, 0)];
    let phase = |action| at_minute(50, &reports, None, &with(action)).status.phase;
    assert_eq!(phase("failed"), Phase::Failed);
    assert_eq!(phase("none"), Phase::Ready);
    let two = configured(&["dns"], &format!("{POLICIES}phases: two\n"));
    assert_eq!(
        at_minute(50, &reports, None, &two).status.phase,
        Phase::NotReady
    );
}

#[test]
fn a_missing_adapter_can_count_as_working_or_as_broken_at_once() {
    let with = |word: &str| {
        configured(
            &["dns"],
            &format!("defaultBehavior: {{missingAdapter: {word}}}"),
        )
    };
    let phase = |word| at_minute(0, &[], None, &with(word)).status.phase;
    assert_eq!(phase("provisioning"), Phase::Provisioning);
    assert_eq!(phase("failed"), Phase::Failed);
    assert_eq!(phase("degraded"), Phase::Degraded);
}

#[test]
fn without_policies_time_changes_nothing() {
    let rules = plain(&["dns"]);
    let old = at_minute(0, &[done("dns", 1, 0)], None, &rules);
    assert_eq!(old.recheck, None);
    assert!(condition::find(&old.status.conditions, "AdaptersReporting").is_none());
}
