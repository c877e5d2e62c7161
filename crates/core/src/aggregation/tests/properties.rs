//! What holds whatever the adapters say.

use proptest::prelude::*;

use super::*;

pub(super) fn any_report() -> impl Strategy<Value = AdapterStatus> {
    (
        prop::sample::select(vec!["a", "b", "c", "d"]),
        1..4i64,
        0..50i64,
        prop::array::uniform4(0..3u8),
    )
        .prop_map(|(name, observed, seconds, statuses)| {
            let word = |index: usize| ["True", "False", "Unknown"][usize::from(statuses[index])];
            report(
                name,
                observed,
                seconds,
                &[
                    ("Available", word(0)),
                    ("Applied", word(1)),
                    ("Health", word(2)),
                    ("Finalized", word(3)),
                ],
            )
        })
}

/// Reports as the store holds them: at most one per adapter.
fn any_reports() -> impl Strategy<Value = Vec<AdapterStatus>> {
    prop::collection::vec(any_report(), 0..5).prop_map(|mut reports| {
        reports.sort_by(|a, b| a.adapter.cmp(&b.adapter));
        reports.dedup_by(|a, b| a.adapter == b.adapter);
        reports
    })
}

/// Rules of every sort: order-sensitive ones, failing ones, ones that look at the clock.
fn any_rules() -> impl Strategy<Value = Rules> {
    let config = r#"
optionalAdapters: [d]
clusterConditions:
  - type: First
    evaluate: {expr: 'first(allAdapters)?.adapter == "b"'}
  - type: Fails
    evaluate: {expr: 'allAdapters[0].available.nothing == 1'}
  - type: Fresh
    evaluate: {cel: 'allAdapters.all(a, !a.stale)'}
  - type: Names
    evaluate: {cel: 'statuses.map(s, s.adapter).join() == resource.name'}
"#;
    let two = "phases: two\n";
    let asking = "phases: {ready: {requiredConditions: [{type: Fresh}]}, failed: {requiredConditions: [{type: First}]}}\n";
    let late = "policies: {staleThreshold: 20s}\ndefaultBehavior: {timeout: 30s}\n";
    prop::sample::select(vec![
        plain(&["a", "b", "c"]),
        plain(&[]),
        configured(&["c", "a"], config),
        configured(&["a", "b"], &format!("{config}{two}{late}")),
        configured(&["a", "b"], &format!("{config}{asking}{late}")),
    ])
}

fn any_resource() -> impl Strategy<Value = Resource> {
    (1..4i64, prop::bool::weighted(0.2), 0..60i64).prop_map(|(current, gone, updated)| Resource {
        deleted_time: gone.then(|| at(updated)),
        updated_time: at(updated),
        ..resource(current)
    })
}

proptest! {
    #[test]
    fn the_order_of_the_reports_does_not_matter(
        (reports, shuffled) in any_reports().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        rules in any_rules(),
        resource in any_resource(),
        has_children: bool,
    ) {
        let subject = Subject { resource: &resource, has_children };
        prop_assert_eq!(
            aggregate(&subject, &reports, at(60), &rules),
            aggregate(&subject, &shuffled, at(60), &rules)
        );
    }

    #[test]
    fn what_is_aggregated_again_stays_as_it_is(
        reports in any_reports(), rules in any_rules(), resource in any_resource()
    ) {
        let once = status(&resource, &reports, None, at(60), &rules);
        prop_assert_eq!(&once, &status(&resource, &reports, Some(&once), at(60), &rules));
    }

    #[test]
    fn transition_times_move_only_with_what_they_speak_of(
        first in any_reports(), second in any_reports(), rules in any_rules(), resource in any_resource()
    ) {
        let before = status(&resource, &first, None, at(60), &rules);
        let after = status(&resource, &second, Some(&before), at(61), &rules);
        prop_assert_eq!(
            after.phase == before.phase,
            after.last_transition_time == before.last_transition_time
        );
        for condition in &after.conditions {
            let Some(previous) = condition::find(&before.conditions, &condition.kind) else { continue };
            prop_assert_eq!(previous.created_time, condition.created_time);
            if previous.status == condition.status {
                prop_assert_eq!(previous.last_transition_time, condition.last_transition_time);
            } else if ["First", "Fails", "Fresh", "Names", "AdaptersReporting"].contains(&&*condition.kind) {
                prop_assert_eq!(condition.last_transition_time, at(61));
            }
        }
    }

    #[test]
    fn there_is_always_a_phase_and_ready_means_reconciled(
        reports in any_reports(), rules in any_rules(), resource in any_resource()
    ) {
        let status = status(&resource, &reports, None, at(60), &rules);
        if status.phase == Phase::Ready && !rules.required().is_empty() {
            prop_assert!(find(&status, "Reconciled").status.is_true());
        }
        prop_assert_eq!(rules.phases.two, matches!(status.phase, Phase::NotReady)
            || rules.phases.two && status.phase == Phase::Ready);
        prop_assert!(!status.phase_description.is_empty());
        prop_assert!(status.conditions.iter().all(|c| c.status != ConditionStatus::Unknown));
    }

    #[test]
    fn nothing_changes_before_the_recheck(
        reports in any_reports(), rules in any_rules(), resource in any_resource(), wait in 0..120i64
    ) {
        let then = aggregated(&resource, &reports, None, at(60), &rules);
        let now = at(60 + wait);
        let later = aggregated(&resource, &reports, Some(&then.status), now, &rules);
        if then.recheck.is_none_or(|recheck| now < recheck) {
            prop_assert_eq!(&then.status, &later.status);
            prop_assert_eq!(then.recheck, later.recheck);
        }
        prop_assert!(later.recheck.is_none_or(|recheck| recheck > now));
    }
}
