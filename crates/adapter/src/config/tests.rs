use super::*;

fn parsed(text: &str) -> Result<(Task, Vec<Diagnostic>), Diagnostics> {
    parse_task(&SourceFile::new("task.yaml", text), Path::new("task.yaml"))
}

/// Each mistake as `line:column message [help]`.
fn mistakes(text: &str) -> Vec<String> {
    let found = match parsed(text) {
        Ok((_, remarks)) => remarks,
        Err(found) => found.into_vec(),
    };
    let told = found.iter().map(|one| {
        let place = one.location().replace("task.yaml:", "");
        let help = one.help.as_ref().map(|help| format!(" [{help}]"));
        format!("{place} {}{}", one.message, help.unwrap_or_default())
    });
    told.collect()
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_each_at_its_place() {
    let found = mistakes(
        r#"
params:
  - name: clusterId
    source: event.id
    requird: true
preconditions:
  - name: ready
    expression: clusterID == "x" && lenght(clusterId) > 0
resources:
  - name: cfg
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ .clustrId }}"
    discovery:
      by_nme: x
"#,
    );
    let expected = [
        ("5:5", "requird", "required"),
        ("8:17", "clusterID", "clusterId"),
        ("8:37", "lenght", ""),
        ("15:", "clustrId", "clusterId"),
        ("17:7", "by_nme", "by_name"),
        ("17:7", "exactly one of", ""),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (told, (place, what, help)) in found.iter().zip(expected) {
        assert!(
            told.starts_with(place) && told.contains(what) && told.contains(help),
            "{told} should be at {place} about {what}"
        );
    }
}

#[test]
fn a_stage_sees_only_what_comes_before_it() {
    let found = mistakes(
        r"
params:
  - {name: a, source: {expression: b + 1}}
  - {name: b, source: event.id}
",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains('b'), "{found:?}");
}

#[test]
fn the_wrapped_camel_case_form_of_older_files_is_read() {
    let (task, remarks) = parsed(
        r#"
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterTaskConfig
metadata: {name: dns, namespace: hyperfleet-system}
spec:
  params:
    - {name: clusterId, source: event.id, type: string, required: true}
  preconditions:
    - name: clusterStatus
      apiCall: {method: GET, url: "clusters/{{ .clusterId }}", timeout: 10s, retryAttempts: 3, retryBackoff: exponential}
      capture:
        - {name: phase, field: "{.status.conditions[?(@.type=='Ready')].status}"}
      conditions:
        - {field: phase, operator: equals, value: "True"}
  resources:
    - name: cfg
      recreateOnChange: true
      manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}}
      discovery: {namespace: default, bySelectors: {labelSelector: {a: "{{ .clusterId }}"}}}
  post:
    payloads: [{name: p, build: {a: 1}}]
    postActions: [{name: report, apiCall: {method: POST, url: x, body: "{{ .p }}"}}]
"#,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        remarks.len(),
        1,
        "only about the call in a precondition: {remarks:?}"
    );
    assert!(task.resources[0].recreate_on_change);
    assert_eq!(task.preconditions[0].captures.len(), 1);
    assert_eq!(task.post.unwrap().actions[0].payloads, ["p"]);
}

#[test]
fn a_misspelt_resource_member_or_variable_is_found_although_it_would_only_look_absent() {
    let found = mistakes(
        r#"
params:
  - {name: region, source: env.REGION}
  - {name: a, source: {expression: 'env.REGION + adapter.name'}}
preconditions:
  - name: first
    expression: env.ZONE == "x" || adapter.executionStat == "success"
  - name: second
    conditions: [{field: resources.jobb.status, operator: exists}]
resources:
  - name: job
    manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, "{{ .regoin }}": y}}
    lifecycle:
      delete: {when: {expression: '!resources.?jobx.hasValue() && resources.?job.hasValue()'}}
"#,
    );
    let wanted = [
        "`env.ZONE`",
        "`adapter` has no `executionStat`",
        "`jobb`",
        "`regoin`",
        "`jobx`",
    ];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (told, wanted) in found.iter().zip(wanted) {
        assert!(told.contains(wanted), "{told}");
    }
    assert!(
        found[4].starts_with("14:") && found[4].contains("did you mean `job`?"),
        "{found:?}"
    );
}

#[test]
fn one_wrapped_file_of_an_older_version_is_both_deployment_and_task() {
    let text = r#"
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterConfig
metadata: {name: dns, namespace: hyperfleet-system}
spec:
  adapter: {version: "0.1.0"}
  hyperfleetApi: {baseUrl: http://api:8000, timeout: 2s, retryAttempts: 5, retryBackoff: linear}
  kubernetes: {apiVersion: v1}
  messageBroker: {maxConcurrency: 100}
  params: [{name: clusterId, source: event.id}]
"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let (task, _) = load_task(file.path()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(task.params.len(), 1);
    let variable = ("HYPERFLEET_API_TIMEOUT".to_owned(), "3s".to_owned());
    let loader = deployment_loader(Some(file.path().to_owned())).env([variable]);
    let loaded = load_deployment(&loader).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.adapter.name, "dns");
    let api = &loaded.clients.hyperfleet_api;
    assert_eq!(
        (api.base_url.as_str(), api.retry_attempts),
        ("http://api:8000", 5)
    );
    assert_eq!(api.timeout.to_string(), "3s", "the environment wins");
    assert_eq!(loaded.message_broker.max_concurrency, 100);
    assert_eq!(loaded.redacted().get("spec"), None);

    std::fs::write(file.path(), text.replace("baseUrl", "baseUri")).unwrap();
    let error = load_deployment(&deployment_loader(Some(file.path().to_owned())));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("did you mean `baseUrl`?")
    );
}

#[test]
fn what_excludes_each_other_is_refused() {
    let cases = [
        (
            "params: [{name: a, source: {expression: '1', file: {path: /x}}}]",
            "exactly one",
        ),
        (
            "params: [{name: a, source: secret.x}]",
            "needs a namespace, a name and a key",
        ),
        (
            "params: [{name: a, source: event.id, type: integer}]",
            "expected one of",
        ),
        ("preconditions: [{name: a}]", "needs one of"),
        (
            "preconditions: [{name: a-b, expression: 'true'}]",
            "cannot be used in expressions",
        ),
        ("preconditions: [{name: a, expression: '1 + 1'}]", ""),
        (
            "preconditions: [{name: a, conditions: [{field: event.id, operator: is}]}]",
            "operator",
        ),
        (
            "preconditions: [{name: a, conditions: [{field: evnt.id, operator: exists}]}]",
            "evnt",
        ),
        ("post: {payloads: [{name: p}]}", "exactly one of `build`"),
        ("resources: [{name: a}]", "needs a `manifest`"),
        (
            "resources: [{name: a, manifest: {ref: ../x.yaml}}]",
            "outside",
        ),
        (
            "resources: [{name: a, manifest: {kind: Job}}]",
            "literal `apiVersion`",
        ),
        ("nonsense: 1", "has no key `nonsense`"),
        ("[]", "is a mapping"),
    ];
    for (text, wanted) in cases {
        let found = mistakes(text);
        assert!(
            found.iter().any(|told| told.contains(wanted)) && parsed(text).is_err(),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "adapter: {name: dns}\nclients: {broker: {topic: file, subscription_id: file}}\n";
    std::fs::write(file.path(), text).unwrap();
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let loader = deployment_loader(Some(file.path().to_owned()))
        .env([
            variable("BROKER_TOPIC", "legacy"),
            variable("HYPERFLEET_BROKER_SUBSCRIPTION_ID", "environment"),
            variable("HYPERFLEET_API_TIMEOUT", "3s"),
            variable("LOG_LEVEL", "debug"),
        ])
        .flag_named("--broker-topic", "clients.broker.topic", Some("flag"));
    let loaded = load_deployment(&loader).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.clients.broker.topic, "flag");
    assert_eq!(loaded.clients.broker.subscription_id, "environment");
    assert_eq!(loaded.clients.hyperfleet_api.timeout.to_string(), "3s");
    assert_eq!(loaded.log.level, hyperfleet_runtime::log::LogLevel::Debug);
}

#[test]
fn the_environment_alone_can_say_where_maestro_is() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "adapter: {name: dns}").unwrap();
    let set = [
        ("GRPC_SERVER_ADDRESS", "maestro:8090"),
        ("HTTP_SERVER_ADDRESS", "http://maestro:8000"),
        ("SOURCE_ID", "hyperfleet"),
        ("AUTH_TYPE", "none"),
        ("RETRY_ATTEMPTS", "2"),
        ("KEEPALIVE_TIME", "30s"),
        ("INSECURE", "true"),
    ];
    let set = set.map(|(name, value)| (format!("HYPERFLEET_MAESTRO_{name}"), value.to_owned()));
    let loader = deployment_loader(Some(file.path().to_owned())).env(set);
    let loader = loader.flag_named(
        "--maestro-client-id",
        "clients.maestro.client_id",
        Some("replica-1"),
    );
    let loaded = load_deployment(&loader).unwrap_or_else(|error| panic!("{error}"));
    let target = loaded.clients.maestro.target();
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(target.grpc_address, "maestro:8090");
    assert_eq!(target.client_id, "replica-1");
    assert_eq!(target.attempts, 2);
    let secured = loader.flag_named(
        "--maestro-insecure",
        "clients.maestro.insecure",
        Some("false"),
    );
    let error = load_deployment(&secured).unwrap_err().to_string();
    assert!(error.contains("clients.maestro.auth.type"), "{error}");
}

#[test]
fn an_adapter_without_a_name_or_for_another_version_is_refused() {
    let mut deployment = Deployment::default();
    assert!(deployment.check("1.2.3").is_err());
    deployment.adapter.name = "dns".to_owned();
    for (version, fits) in [
        ("", true),
        ("1.2.9", true),
        ("v1.2.0-rc1", true),
        ("1.3.0", false),
    ] {
        deployment.adapter.version = version.to_owned();
        assert_eq!(deployment.check("1.2.3").is_ok(), fits, "{version}");
    }
}

#[test]
fn headers_are_not_shown_to_anybody() {
    let mut deployment = Deployment::default();
    let headers = &mut deployment.clients.hyperfleet_api.default_headers;
    headers.insert("authorization".to_owned(), "Basic c2VjcmV0".into());
    assert!(!deployment.redacted().to_string().contains("c2VjcmV0"));
}

#[test]
fn every_flag_and_variable_sets_a_key_that_exists() {
    let schema = schemars::schema_for!(Deployment);
    let keys: Vec<String> = hyperfleet_source::schema::leaves(&schema)
        .iter()
        .map(|leaf| leaf.dotted())
        .collect();
    let named = VARIABLES
        .iter()
        .chain(&MAESTRO_VARIABLES)
        .chain(&LOG_VARIABLES);
    for (name, path) in named.chain(&FLAGS) {
        assert!(keys.iter().any(|key| key == path), "{name} sets {path}");
    }
}

/// A Job with these keys beside its manifest.
fn job(keys: &str) -> String {
    format!(
        "resources:\n  - name: job\n    {keys}\n    manifest: {{apiVersion: batch/v1, kind: Job, metadata: {{name: \"j-{{{{ .event.id }}}}\", \
         namespace: a}}}}\n"
    )
}

#[test]
fn lifecycles_that_cannot_work_are_refused() {
    let by_labels = "discovery: {by_selectors: {label_selector: {a: b}}}";
    let cases = [
        (job("retention: {historyLimit: 3}"), "by_selectors"),
        (job("retention: {}"), "needs `history_limit`, `ttl` or both"),
        (job(&format!("{by_labels}\n    retention: {{historyLimit: -1}}")), "whole number"),
        (job(&format!("{by_labels}\n    retention: {{ttl: soon}}")), "soon"),
        (
            job(&format!("{by_labels}\n    retention: {{historyLimit: 3}}")).replace("j-{{ .event.id }}", "j"),
            "all would be named `j`",
        ),
        (job("owner: {resource: jib}"), "no earlier resource"),
        (job("owner: {resource: job}"), "no earlier resource"),
        (job("lifecycle: {patch: [{when: {expression: 'true'}}]}"), "needs the key `document`"),
        (job("lifecycle: {patch: [{when: {expression: 'true'}, document: {}}]}"), "a patch is a mapping"),
        (
            job("lifecycle: {patch: [{when: {expression: 'true'}, document: {a: \"{{ .nobody }}\"}}]}"),
            "nothing is named `nobody`",
        ),
        (
            job("lifecycle: {orphan: {when: {expression: 'true'}}, detach: {when: {expression: 'true'}}}"),
            "are the same",
        ),
        (job("lifecycle: {apply: {}}"), "needs the key `when`"),
        (job("lifecycle: {remove: {when: {expression: 'true'}}}"), "has no key `remove`"),
        (
            "resources: [{name: a, discovery: {api_version: v1, kind: ConfigMap, by_name: x}, \
             lifecycle: {recreate: {when: {expression: 'true'}}}}]"
                .to_owned(),
            "`lifecycle.recreate` needs a `manifest`",
        ),
        (
            "resources: [{name: a, discovery: {kind: ConfigMap, by_name: x}}]".to_owned(),
            "belong together",
        ),
        (
            "resources:\n  - {name: one, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: b}}}\n"
                .to_owned()
                + job("owner: {resource: one}").trim_start_matches("resources:\n"),
            "the same namespace only",
        ),
    ];
    for (text, wanted) in cases {
        let found = mistakes(&text);
        assert!(
            found.iter().any(|told| told.contains(wanted)) && parsed(&text).is_err(),
            "{text}: wanted {wanted}: {found:?}"
        );
    }
}

#[test]
fn the_whole_lifecycle_is_read() {
    let text = r#"
params:
  - {name: clusterId, source: event.id}
  - {name: status, source: event.status, default: x}
resources:
  - alias: anotherAlias
    manifest: {apiVersion: v1, kind: Namespace, metadata: {name: "{{ .clusterId }}-parent"}}
  - alias: "example"
    when:
      expression: >
        !resources.?example.hasValue()
        || timestamp(resources.example.metadata.creationTimestamp)
           < timestamp(now()) - duration("10m")
    transport:
      client: "kubernetes"
      maestro:
        target_cluster: "{{ .clusterId }}"
    manifest:
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .clusterId }}-{{ .event.generation }}"
        labels:
        annotations:
          hyperfleet.io/generation: "{{ .event.generation }}"
    discovery:
      namespace: "*"
      by_selectors:
        label_selector:
          hyperfleet.io/resource-id: "{{ .clusterId }}"
    owner:
      resource: anotherAlias
    retention:
      historyLimit: 3
      ttl: 24h
    lifecycle:
      apply:
        when:
          expression: "!resources.?example.hasValue()"
      patch:
        - when:
            expression: >
              resources.?example.hasValue()
              && dig(resources.example.metadata.annotations, "example.io/status") != status
          document:
            metadata:
              annotations:
                example.io/status: "{{ .status }}"
      orphan:
        when:
          expression: >
            is_deleting
            && resources.?example.hasValue()
            && "hyperfleet.io/adapter" in resources.example.metadata.labels
      recreate:
        when:
          expression: "resources.?example.hasValue() && is_deleting"
      delete:
        when:
          expression: "is_deleting"
        propagationPolicy: "Background"
"#;
    let task = parsed(text).unwrap_or_else(|error| panic!("{error}")).0;
    let example = &task.resources[1];
    let lifecycle = &example.lifecycle;
    assert!(example.when.is_some() && lifecycle.apply.is_some() && lifecycle.recreate.is_some());
    assert!(lifecycle.detach.is_some() && lifecycle.delete.is_some());
    assert_eq!(lifecycle.patch.len(), 1);
    assert_eq!(example.owner.as_deref(), Some("anotherAlias"));
    assert_eq!(
        example.retention,
        Some(hyperfleet_core::retention::Retention {
            history_limit: Some(3),
            ttl: Some(chrono::TimeDelta::hours(24)),
        })
    );
}

const POD: &str = r#"
resources:
  - name: probe
    manifest:
      apiVersion: v1
      kind: Pod
      metadata: {name: probe, namespace: default}
      spec:
        hostNetwork: true
        volumes: [{name: root, hostPath: {path: /}}]
"#;

#[test]
fn a_manifest_that_asks_for_dangerous_powers_must_say_so_by_name() {
    let found = mistakes(POD);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].contains("asks for `hostPath` [if that is meant, say `allow: [hostPath]`"),
        "{found:#?}"
    );
    assert!(found[1].contains("asks for `hostNetwork`"), "{found:#?}");
    let allowed = POD.replace(
        "- name: probe\n",
        "- name: probe\n    allow: [hostPath, hostNetwork]\n",
    );
    assert_eq!(mistakes(&allowed), Vec::<String>::new());
    let half = POD.replace("- name: probe\n", "- name: probe\n    allow: [hostPath]\n");
    assert_eq!(mistakes(&half).len(), 1);
    let wrong = POD.replace(
        "- name: probe\n",
        "- name: probe\n    allow: [hostPaht, hostNetwork]\n",
    );
    let found = mistakes(&wrong);
    assert!(
        found
            .iter()
            .any(|one| one.contains("`hostPaht`") && one.contains("`hostPath`")),
        "{found:#?}"
    );
}

#[test]
fn a_text_manifest_is_looked_through_as_far_as_it_can_be_read() {
    let text = r#"
resources:
  - name: admin
    manifest: |
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRoleBinding
      metadata: {name: all}
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
"#;
    let found = mistakes(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("`clusterAdmin`"), "{found:#?}");
}
