use std::io::Write;

use tempfile::NamedTempFile;

use super::*;
use crate::decision::Decision;
use crate::projection::Projection;

const SEED: &str = "
resource_type: clusters
poll_interval: 5s
backoff_not_ready: 15s
backoff_ready: 1h
resource_selector:
  - label: region
    value: us-east
hyperfleet_api:
  endpoint: http://hyperfleet-api:8080
  timeout: 30s
message_data:
  resource_id: .id
  resource_type: .kind
  generation: .generation
  region: .metadata.labels.region
";

const V1: &str = r#"
sentinel:
  name: east
debug_config: true
log: {level: debug, format: text}
clients:
  hyperfleet_api:
    base_url: http://api:8000/
    version: v1
    timeout: 7s
    page_size: 50
    auth: {token_path: /var/run/token, token_cache_ttl: 30s}
  broker:
    topic: ns-clusters
resource_type: clusters
poll_interval: 2s
resource_selector: []
message_decision:
  params:
    - name: is_reconciled
      expr: condition("Reconciled").status == "True"
  result: "!is_reconciled"
message_data:
  id: resource.id
  kind: resource.kind
  owner: {id: resource.owner_references.id}
"#;

fn load_with(text: &str, flags: Flags, env: &[(&str, &str)]) -> Result<Options, String> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let flags = Flags {
        config: Some(file.path().to_owned()),
        ..flags
    };
    let env = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let options = Options::load(flags, env)
        .map_err(|error| error.to_string())?
        .value;
    options.check().map_err(|error| error.to_string())?;
    Ok(options)
}

fn load(text: &str) -> Result<Options, String> {
    load_with(text, Flags::default(), &[])
}

#[test]
fn the_configuration_of_the_first_documents_is_read() {
    let options = load(SEED).unwrap();
    let plan = options.plans().unwrap().remove(0);
    let Decision::Backoff { backoff, .. } = plan.decision else {
        panic!("{:?}", plan.decision)
    };
    assert_eq!(
        (backoff.not_ready.as_secs(), backoff.ready.as_secs()),
        (15, 3600)
    );
    assert_eq!(
        plan.query.search.as_deref(),
        Some("labels.region='us-east'")
    );
    assert_eq!(plan.topic, "hyperfleet.clusters.changed.v1");
    assert_eq!(plan.form.source, "sentinel-operator/hyperfleet-sentinel");
    assert!(matches!(plan.projection, Projection::Paths(_)));
    assert_eq!(
        options.client().unwrap().base_url().to_string(),
        "http://hyperfleet-api:8080"
    );
}

#[test]
fn the_configuration_of_v1_is_read() {
    let options = load(V1).unwrap();
    let plan = options.plans().unwrap().remove(0);
    assert!(matches!(plan.decision, Decision::Rules { .. }));
    assert_eq!(
        (plan.topic.as_str(), plan.query.size),
        ("ns-clusters", Some(50))
    );
    assert_eq!(plan.selector, "all");
    assert_eq!(plan.form.source, "sentinel-operator/east");
    assert_eq!(plan.projection, Projection::All);
    assert_eq!(
        options.client().unwrap().base_url().to_string(),
        "http://api:8000"
    );
}

#[test]
fn max_age_is_another_name_for_backoff() {
    let options = load(&SEED.replace("backoff_", "max_age_")).unwrap();
    assert_eq!(options.backoff_ready, GoDuration::from_secs(3600));
    assert_eq!(options.backoff_not_ready, GoDuration::from_secs(15));
}

#[test]
fn the_standard_rules_are_asked_for_by_name_or_by_an_empty_block() {
    for text in ["default", "{}"] {
        let options = load(&format!("{SEED}message_decision: {text}\n")).unwrap();
        assert!(
            matches!(options.plans().unwrap()[0].decision, Decision::Rules { .. }),
            "{text}"
        );
    }
    let error = load(&format!("{SEED}message_decision: defualt\n")).unwrap_err();
    assert!(
        error.contains("message_decision: `defualt` is unknown; write `default`"),
        "{error}"
    );
}

#[test]
fn variables_and_flags_win_in_that_order() {
    let env = [
        ("HYPERFLEET_API_BASE_URL", "http://env:1"),
        ("HYPERFLEET_API_TIMEOUT", "3s"),
        ("HYPERFLEET_RESOURCE_TYPE", "nodepools"),
        ("HYPERFLEET_SENTINEL_NAME", "env"),
        ("HYPERFLEET_BROKER_TOPIC", "env-topic"),
        ("HYPERFLEET_POLL_INTERVAL", "9s"),
        ("HYPERFLEET_LOG_LEVEL", "warning"),
    ];
    let flags = Flags {
        name: Some("flag".to_owned()),
        poll_interval: Some("11s".to_owned()),
        health_bind: Some(":8181".to_owned()),
        ..Flags::default()
    };
    let options = load_with(SEED, flags, &env).unwrap();
    assert_eq!(
        options.client().unwrap().base_url().to_string(),
        "http://env:1",
        "beats the file's endpoint"
    );
    assert_eq!(
        options.clients.hyperfleet_api.timeout,
        GoDuration::from_secs(3)
    );
    assert_eq!(options.hyperfleet_api.timeout, None);
    assert_eq!(options.sentinel.name, "flag");
    assert_eq!(options.poll_interval, GoDuration::from_secs(11));
    assert_eq!(
        (options.health.host.as_str(), options.health.port),
        ("", 8181)
    );
    assert_eq!(options.log.level.to_string(), "warn");
    let plan = options.plans().unwrap().remove(0);
    assert_eq!(
        (plan.resource_type.as_str(), plan.topic.as_str()),
        ("nodepools", "env-topic")
    );
}

#[test]
fn several_kinds_inherit_what_they_do_not_say() {
    let options = load(
        "
clients: {hyperfleet_api: {base_url: 'http://api'}}
backoff_not_ready: 3s
sentinels:
  - resource_type: clusters
  - resource_type: nodepools
    backoff_not_ready: 4s
    topic: pools
    name: pools-sentinel
",
    )
    .unwrap();
    let plans = options.plans().unwrap();
    let backoff = |index: usize| match &plans[index].decision {
        Decision::Backoff { backoff, .. } => backoff.not_ready.as_secs(),
        Decision::Rules { .. } => panic!("rules"),
    };
    assert_eq!((backoff(0), backoff(1)), (3, 4));
    assert_eq!(
        (plans[0].topic.as_str(), plans[1].topic.as_str()),
        ("hyperfleet.clusters.changed.v1", "pools")
    );
    assert_eq!(plans[1].form.source, "sentinel-operator/pools-sentinel");
}

#[test]
fn unknown_keys_are_refused_with_a_suggestion() {
    let error = load(&format!("{SEED}pol_interval: 5s\n")).unwrap_err();
    assert!(
        error.contains("unknown key `pol_interval`")
            && error.contains("did you mean `poll_interval`?"),
        "{error}"
    );
    let error = load(&V1.replace("page_size", "pagesize")).unwrap_err();
    assert!(error.contains("unknown key `pagesize`"), "{error}");
    let error = load(&V1.replace("expr:", "expression:")).unwrap_err();
    assert!(error.contains("unknown key `expression`"), "{error}");
}

#[test]
fn mistakes_are_named_by_their_key() {
    let with = |from: &str, to: &str| load(&V1.replace(from, to)).unwrap_err();
    let error = with("base_url: http://api:8000/", "base_url: ''");
    assert!(
        error.starts_with(
            "clients.hyperfleet_api.base_url is required; give it as --hyperfleet-api-base-url"
        ),
        "{error}"
    );
    assert!(
        with("http://api:8000/", "ftp://api").contains("must begin with http"),
        "scheme"
    );
    assert!(
        with("page_size: 50", "page_size: 500").contains("must be 1 to 100, not 500"),
        "page size"
    );
    assert!(
        with("poll_interval: 2s", "poll_interval: 0s")
            .contains("poll_interval: must be more than zero"),
        "interval"
    );
    assert!(
        with("poll_interval: 2s", "poll_interval: 2").contains("has no unit"),
        "unit"
    );
    assert!(
        with("resource_type: clusters", "resource_type: a/b").contains("`a/b` is not the plural"),
        "plural"
    );
    assert!(
        with("resource_type: clusters\n", "").starts_with("resource_type is required"),
        "missing"
    );
    assert!(
        with("token_path: /var", "token_path: var").contains("is not an absolute path"),
        "token"
    );
    assert!(
        with("name: east", "name: ''").starts_with("sentinel.name is required"),
        "name"
    );
    assert!(
        with("timeout: 7s", "timeout: 0s").contains("must be more than zero"),
        "timeout"
    );
    assert!(
        with(
            "resource_selector: []",
            "resource_selector: [{label: \"a='b' or x\", value: y}]"
        )
        .contains("resource_selector")
    );
    let error = with("resource.id\n", "resuorce.id\n");
    assert!(
        error.contains("clusters: message_data.id: ") && error.contains("did you mean `resource`?"),
        "{error}"
    );
    let error = with("\"!is_reconciled\"", "is_recnciled");
    assert!(
        error.contains("clusters: message_decision.result: ")
            && error.contains("did you mean `is_reconciled`?"),
        "{error}"
    );
}

#[test]
fn the_same_kind_twice_would_send_every_event_twice() {
    let text = "
clients: {hyperfleet_api: {base_url: 'http://api'}}
resource_type: clusters
sentinels: [{resource_type: clusters}]
";
    assert!(load(text).unwrap_err().contains("are watched twice"));
    let apart = text.replace(
        "{resource_type: clusters}",
        "{resource_type: clusters, resource_selector: [{label: a, value: b}]}",
    );
    assert!(load(&apart).is_ok());
}

#[test]
fn options_made_in_code_are_as_good_as_a_file() {
    let options = Options::for_kinds("http://127.0.0.1:8000", ["clusters", "nodepools"]);
    options.check().unwrap();
    assert_eq!(options.plans().unwrap().len(), 2);
}

#[test]
fn replicas_are_asked_for_by_file_or_variable_and_checked() {
    let shares = |options: Options| options.plans().unwrap()[0].announcement.clone();
    let alone = shares(load(V1).unwrap());
    assert_eq!((alone.shares, alone.duration_seconds), (false, 15));
    let east = "name: east\n  replicas: api\n  lease_duration: 30s";
    let shared = shares(load(&V1.replace("name: east", east)).unwrap());
    assert_eq!((shared.shares, shared.duration_seconds), (true, 30));
    assert_eq!(shared.name, "east");
    let env = [("HYPERFLEET_SENTINEL_REPLICAS", "kubernetes")];
    let options = load_with(V1, Flags::default(), &env).unwrap();
    assert_eq!(options.sentinel.replicas, Replicas::Kubernetes);

    let with = |to: &str| load(&V1.replace("name: east", to)).unwrap_err();
    for wrong in ["2s", "1500ms", "2h", "0s"] {
        let error = with(&format!("name: east\n  lease_duration: {wrong}"));
        assert!(
            error.contains("sentinel.lease_duration: must be 3s to 1h"),
            "{error}"
        );
    }
    let error = with("name: east\n  replicas: many");
    assert!(error.contains("many"), "{error}");
    let error = load(&format!("jitter: 1.5\n{V1}")).unwrap_err();
    assert!(error.contains("jitter: must be 0 to 1"), "{error}");
}

#[test]
fn what_a_sentinel_tells_about_its_times_is_what_others_compute_with() {
    for text in [SEED, V1] {
        let options = load_with(text, Flags::default(), &[]).unwrap();
        let plan = options.plans().unwrap().remove(0);
        let told = Options::announced("clusters", &plan.announcement.decides).unwrap();
        assert_eq!(told.backoff_not_ready, options.backoff_not_ready);
        assert_eq!(told.backoff_ready, options.backoff_ready);
        assert_eq!(told.message_decision, options.message_decision);
        assert!(told.plans().is_ok());
    }
    assert_eq!(Options::announced("clusters", &Map::new()), None);
}

#[test]
fn rules_that_are_too_long_are_not_announced() {
    let rule = format!(
        "message_decision: {{result: \"true || '{}' == ''\"}}",
        "x".repeat(20_000)
    );
    let text = format!(
        "resource_type: clusters\nhyperfleet_api: {{endpoint: \"http://api:8000\"}}\n{rule}\n"
    );
    let options = load_with(&text, Flags::default(), &[]).unwrap();
    let plan = options.plans().unwrap().remove(0);
    assert!(plan.announcement.decides.is_empty());
}
