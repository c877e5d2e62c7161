//! AggregationConfig: what it reads, what it refuses, and what its rules say.

use super::*;

/// The example of the status guide, in its envelope.
const GUIDE: &str = r#"
apiVersion: hyperfleet.io/v1alpha1
kind: AggregationConfig
metadata:
  name: default-aggregation
  namespace: hyperfleet-system
spec:
  requiredAdapters: [validation, dns]
  optionalAdapters: [monitoring]
  phases:
    ready:
      description: "All required adapters completed successfully"
  clusterConditions:
    - type: "AllAdaptersReady"
      evaluate:
        expr: 'all(requiredAdapters, {.available == "True"})'
      templates:
        true:
          reason: "AllRequiredAdaptersAvailable"
          message: "All required adapters completed successfully"
        false:
          reason: "RequiredAdaptersNotReady"
          message: "One or more required adapters not ready"
"#;

#[test]
fn a_rule_says_what_its_templates_say() {
    let rules = configured(&[], GUIDE);
    assert_eq!(rules.required(), adapters(&["validation", "dns"]));
    let half = status(&resource(1), &[done("dns", 1, 1)], None, at(1), &rules);
    let condition = find(&half, "AllAdaptersReady");
    assert_eq!(condition.status, ConditionStatus::False);
    assert_eq!(
        condition.reason.as_deref(),
        Some("RequiredAdaptersNotReady")
    );
    let both = [done("dns", 1, 1), done("validation", 1, 2)];
    let ready = status(&resource(1), &both, Some(&half), at(2), &rules);
    let condition = find(&ready, "AllAdaptersReady");
    assert!(condition.status.is_true());
    assert_eq!(
        condition.message.as_deref(),
        Some("All required adapters completed successfully")
    );
    assert_eq!(
        ready.phase_description,
        "All required adapters completed successfully"
    );
    let order: Vec<&str> = ready.conditions.iter().map(|c| c.kind.as_str()).collect();
    assert_eq!(
        order,
        [
            "Reconciled",
            "LastKnownReconciled",
            "ValidationSuccessful",
            "DnsSuccessful",
            "AllAdaptersReady"
        ]
    );
}

#[test]
fn the_envelope_may_be_left_out_and_keys_may_be_written_with_underscores() {
    let bare = r#"
required_adapters: [validation, dns]
cluster_conditions:
  - type: A
    evaluate: {cel: 'requiredAdapters.all(a, a.available == "True")'}
"#;
    let rules = configured(&[], bare);
    let status = status(&resource(1), &[], None, at(1), &rules);
    let unsaid = find(&status, "A");
    assert_eq!(unsaid.reason.as_deref(), Some("RuleDoesNotHold"));
    assert_eq!(
        unsaid.message.as_deref(),
        Some("`requiredAdapters.all(a, a.available == \"True\")` does not hold")
    );
}

#[test]
fn nobody_having_reported_is_not_everybody_being_ready() {
    let rules = configured(&[], GUIDE);
    let new = status(&resource(1), &[], None, at(1), &rules);
    assert_eq!(
        find(&new, "AllAdaptersReady").status,
        ConditionStatus::False
    );
}

#[test]
fn a_rule_that_fails_on_the_data_is_false_and_says_why() {
    let rules = configured(
        &["dns"],
        r#"
clusterConditions:
  - {type: Dynamic, evaluate: {expr: 'adapters[resource.name].available == "True"'}}
  - {type: Named, evaluate: {expr: 'adapters["backup"].available == "True"'}}
  - {type: Text, evaluate: {expr: 'adapters["dns"].available + 1 == 2'}}
"#,
    );
    let status = status(&resource(1), &[], None, at(1), &rules);
    let dynamic = find(&status, "Dynamic");
    assert_eq!(dynamic.status, ConditionStatus::False);
    assert_eq!(dynamic.reason.as_deref(), Some("RuleFailed"));
    assert_eq!(
        dynamic.message.as_deref(),
        Some(
            "The rule could not be evaluated: nil has no field `available`, in \
             `adapters[resource.name].available`"
        )
    );
    assert_eq!(
        find(&status, "Named").reason.as_deref(),
        Some("RuleDoesNotHold"),
        "an adapter that a rule names and that has not reported is Unknown"
    );
    assert_eq!(find(&status, "Text").reason.as_deref(), Some("RuleFailed"));
}

#[test]
fn phases_can_be_made_worse_but_never_better() {
    let config = r#"
phases:
  degraded: {requiredConditions: [{type: Never, status: "False"}, {type: Bad, status: True}]}
  ready: {requiredConditions: [{type: Good}]}
  provisioning: {requiredConditions: [{type: Reconciled, status: False}], description: "At it"}
clusterConditions:
  - {type: Never, evaluate: {expr: 'false'}}
  - {type: Bad, evaluate: {expr: 'adapters["monitoring"].available == "False"'}}
  - {type: Good, evaluate: {expr: 'adapters["monitoring"].available == "True"'}}
"#;
    let rules = configured(&["dns"], config);
    let phase = |reports: &[AdapterStatus]| {
        let status = status(&resource(1), reports, None, at(9), &rules);
        (status.phase, status.phase_description)
    };
    let working_is = |phase: Phase, text: &str| (phase, text.to_owned());
    assert_eq!(phase(&[]), working_is(Phase::Provisioning, "At it"));
    assert_eq!(
        phase(&[done("dns", 1, 1)]).0,
        Phase::Provisioning,
        "Ready asks for Good as well; dns has applied"
    );
    let good = done("monitoring", 1, 1);
    assert_eq!(phase(&[done("dns", 1, 1), good.clone()]).0, Phase::Ready);
    let bad = working("monitoring", 1, 1);
    assert_eq!(phase(&[done("dns", 1, 1), bad]).0, Phase::Degraded);
    assert_eq!(
        phase(&[working("dns", 1, 1), good]).0,
        Phase::Provisioning,
        "Good alone makes nothing Ready"
    );
}

#[test]
fn two_phases_are_ready_and_not_ready() {
    for config in [
        "phases: two",
        "phases: {ready: {description: Yes}, notReady: {description: No}}",
    ] {
        let rules = configured(&["dns"], config);
        let ready = status(&resource(1), &[done("dns", 1, 1)], None, at(1), &rules);
        assert_eq!(ready.phase, Phase::Ready);
        let not = status(&resource(1), &[], None, at(1), &rules);
        assert_eq!(not.phase.as_str(), "Not Ready");
        assert_eq!(json!(not.phase), json!("Not Ready"));
        let going = status(&deleting(1), &[done("dns", 1, 1)], None, at(1), &rules);
        assert_eq!(going.phase, Phase::NotReady);
    }
}

#[test]
fn the_reasons_that_mean_still_at_it_are_configurable() {
    let mut waiting = working("dns", 1, 1);
    waiting.conditions[0].reason = Some("AwaitingQuota".to_owned());
    let default = status(
        &resource(1),
        &[waiting.clone()],
        None,
        at(1),
        &plain(&["dns"]),
    );
    assert_eq!(default.phase, Phase::Failed);
    let rules = configured(&["dns"], "policies: {inProgressReasons: [AwaitingQuota]}");
    let patient = status(&resource(1), &[waiting], None, at(1), &rules);
    assert_eq!(patient.phase, Phase::Provisioning);
    let strict = status(&resource(1), &[working("dns", 1, 1)], None, at(1), &rules);
    assert_eq!(strict.phase, Phase::Failed, "JobRunning is not in the list");
}

#[test]
fn several_kinds_have_a_document_each() {
    let config = "kind: NodePool\nrequiredAdapters: [np]\n---\nrequiredAdapters: [dns]\n";
    let kinds = Kind::defaults();
    let configs = AggregationConfig::read(&SourceFile::new("a.yaml", config)).unwrap();
    let (book, _) = Rulebook::new(&kinds, &configs).unwrap();
    assert_eq!(book.rules("NodePool").required(), adapters(&["np"]));
    assert_eq!(book.rules("Cluster").required(), adapters(&["dns"]));
    assert!(book.rules("Gone").required().is_empty());
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let config = r#"
requiredAdapters: [dns, dns, ""]
optionalAdapters: [dns]
clusterCondition: []
phases:
  reddy: {}
  pending: {requiredConditions: [{type: A}]}
  ready: {requiredConditions: [{type: A, status: Maybe}], colour: green}
clusterConditions:
  - type: A
    evaluate: {expr: 'any(allAdapter, {.health == "False"})'}
  - type: B
    evaluate: {expr: 'true', cel: 'true'}
  - type: C
    evaluate: {cel: 'timestamp(now()) > timestamp("2026-01-01T00:00:00Z")'}
  - type: D
    evaluate: {expr: 'len(allAdapters)'}
    templates: {true: {message: x}, maybe: {}}
defaultBehavior: {missingAdapter: ready, timeout: 10}
policies: {staleAction: degraded, staleTreshold: 10m}
"#;
    let error = try_configured(&[], config).unwrap_err();
    let first_lines: Vec<&str> = error
        .lines()
        .filter(|line| line.starts_with("a.yaml") || line.trim_start().starts_with("help:"))
        .map(str::trim)
        .collect();
    assert_eq!(
        first_lines,
        [
            "a.yaml:2:25: error: adapter `dns` is listed twice",
            "a.yaml:2:30: error: adapter is required",
            "a.yaml:3:20: error: adapter `dns` is both required and optional",
            "a.yaml:4:1: error: an aggregation configuration has no key `clusterCondition`",
            "help: did you mean `clusterConditions`?",
            "a.yaml:6:3: error: there is no phase `reddy`",
            "help: did you mean `ready`?",
            "a.yaml:7:33: error: `pending` cannot ask for conditions: it is what is left when no other phase fits",
            "a.yaml:8:50: error: `status` is \"True\" or \"False\"",
            "a.yaml:8:59: error: a phase has no key `colour`",
            "help: known names here: `description`, `requiredConditions`",
            "a.yaml:11:27: error: in the rule: unknown variable `allAdapter`",
            "help: did you mean `allAdapters`?",
            "a.yaml:13:15: error: a rule has either `expr` or `cel`",
            "a.yaml:15:32: error: in the rule: `now` depends on the time, which is not known here",
            "a.yaml:17:23: error: in the rule: a condition must be true or false, but `len(allAdapters)` is int",
            "a.yaml:18:23: error: a template needs the key `reason`",
            "a.yaml:18:37: error: `templates` has no key `maybe`",
            "help: known names here: `true`, `false`",
            "a.yaml:19:35: error: `missingAdapter` is one of `pending`, `provisioning`, `failed`, `degraded`",
            "a.yaml:19:51: error: `timeout` is a duration of at least 1s, for example `10m`",
            "a.yaml:20:25: error: `staleAction` needs `staleThreshold`: how old is stale?",
            "a.yaml:20:35: error: `policies` has no key `staleTreshold`",
            "help: did you mean `staleThreshold`?",
        ]
    );
}

#[test]
fn what_does_not_fit_the_kinds_is_told_too() {
    let wrong = |config: &str| try_configured(&["dns"], config).unwrap_err();
    assert!(wrong("kind: Clutser").contains("there is no kind `Clutser`"));
    assert!(wrong("{}\n---\n{}").contains("there is another configuration for kind `Cluster`"));
    let reserved = "clusterConditions: [{type: Ready, evaluate: {expr: 'true'}}]";
    assert!(wrong(reserved).contains("the type `Ready` is reserved"));
    let asks = "phases: {ready: {requiredConditions: [{type: DnsSuccesful}]}}";
    assert!(wrong(asks).contains("did you mean `DnsSuccessful`?"));
    assert!(wrong("# nothing").contains("there is no AggregationConfig in this file"));
    assert!(wrong("apiVersion: v1\nkind: Secret\nspec: {}").contains("`kind` must be"));
}

#[test]
fn a_misspelt_adapter_in_a_rule_is_a_warning() {
    let config = r#"clusterConditions: [{type: A, evaluate: {expr: 'adapters["dsn"].available == "True"'}}]"#;
    let (_, odd) = try_configured(&["dns"], config).unwrap();
    assert_eq!(odd.len(), 1);
    assert!(odd[0].contains("adapter `dsn` is neither required nor optional"));
    assert!(odd[0].contains("did you mean `dns`?"), "{}", odd[0]);
}
