//! What templates, conditions and rules cost. `cargo bench -p hyperfleet-expr --bench template`

#![expect(clippy::unwrap_used, reason = "a benchmark stops by panicking")]

use std::hint::black_box;

use chrono::{DateTime, Utc};
use criterion::{Criterion, criterion_group, criterion_main};
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use hyperfleet_expr::path::Path;
use hyperfleet_expr::rules::Rule;
use hyperfleet_expr::structured::{Condition, Operator};
use hyperfleet_expr::template::{Data, Manifest, Template, is_text_place};
use serde_json::{Value, json};

const JOB: &str = r#"apiVersion: batch/v1
kind: Job
metadata:
  name: "validate-{{ .clusterId | lower }}-{{ .generation }}"
  namespace: {{ .clusterId | quote }}
  labels:
    app.kubernetes.io/managed-by: hyperfleet
    hyperfleet.io/cluster-id: "{{ .clusterId }}"
    {{- range $k, $v := .labels }}
    example.io/{{ $k }}: {{ $v | quote }}
    {{- end }}
  annotations:
    hyperfleet.io/generation: "{{ .generation }}"
    example.io/at: '{{ now | date "2006-01-02T15:04:05Z07:00" }}'
spec:
  backoffLimit: {{ .retries | default 3 }}
  template:
    spec:
      restartPolicy: Never
      {{- if .serviceAccount }}
      serviceAccountName: {{ .serviceAccount }}
      {{- end }}
      containers:
        - name: validate
          image: "quay.io/example/validate:{{ .version | trimPrefix "v" }}"
          env:
            - name: REGION
              value: {{ .cluster.spec.region | quote }}
            - name: NAME
              value: {{ printf "%s/%s" .cluster.metadata.namespace .cluster.metadata.name | quote }}
          args: ["--cluster", "{{ .clusterId }}"]
"#;

fn now() -> DateTime<Utc> {
    "2026-11-15T08:30:05Z".parse().unwrap()
}

/// A cluster of about 50 KB, of which a template reads a few fields.
fn data() -> Value {
    let padding: Vec<Value> = (0..500)
        .map(|i| json!({"name": format!("item-{i}"), "value": "x".repeat(60)}))
        .collect();
    json!({
        "clusterId": "C-1234", "generation": 17, "labels": {"tier": "gold", "zone": "eu"},
        "retries": null, "serviceAccount": "runner", "version": "v1.2.3",
        "cluster": {"spec": {"region": "eu-1", "items": padding}, "metadata": {"name": "n", "namespace": "ns"}},
        "phase": "Pending",
    })
}

fn templates(c: &mut Criterion) {
    let data = data();
    let data = Data::from(data.as_object().unwrap());
    let template = Template::parse("job", JOB).unwrap();
    c.bench_function("template/render_30_lines", |b| {
        b.iter(|| template.render(black_box(&data), now()).unwrap());
    });
    c.bench_function("template/parse_30_lines", |b| {
        b.iter(|| Template::parse("job", black_box(JOB)).unwrap());
    });
    let url = Template::parse("url", "/clusters/{{ .clusterId }}/statuses").unwrap();
    c.bench_function("template/render_url", |b| {
        b.iter(|| url.render(black_box(&data), now()).unwrap());
    });
    let rendered = template.render_yaml(&data, now()).unwrap();
    c.bench_function("template/render_and_read_yaml", |b| {
        b.iter(|| template.render_yaml(black_box(&data), now()).unwrap());
    });
    let mut tree = rendered;
    tree["metadata"]["name"] = json!("validate-{{ .clusterId | lower }}-{{ .generation }}");
    tree["spec"]["backoffLimit"] = json!("{{ .generation }}");
    let tree = Manifest::parse("job", &tree, is_text_place).unwrap();
    c.bench_function("template/render_structure", |b| {
        b.iter(|| tree.render(black_box(&data), now()).unwrap());
    });
}

fn others(c: &mut Criterion) {
    let data = data();
    let path = Path::parse("{.cluster.spec.items[?(@.name=='item-3')].value}").unwrap();
    c.bench_function("path/filter_of_500", |b| {
        b.iter(|| path.get(black_box(&data)).is_some())
    });
    let condition =
        Condition::new("phase", Operator::In, Some(json!(["Ready", "Installing"]))).unwrap();
    c.bench_function("structured/in", |b| {
        b.iter(|| condition.evaluate_on(black_box(&data)))
    });
    let adapters: Vec<Value> = (0..5)
        .map(|_| json!({"available": "True", "health": "True"}))
        .collect();
    let adapters = Value::from(adapters);
    let environment = Environment::standard().with_variables([("requiredAdapters", Type::List)]);
    let text = r#"all(requiredAdapters, {.available == "True" && .health == "True"})"#;
    let rule = Rule::compile(text, &environment).unwrap();
    c.bench_function("rules/all_of_5", |b| {
        b.iter(|| {
            let bindings = Bindings::new(now()).bind("requiredAdapters", &adapters);
            rule.evaluate(black_box(&bindings)).unwrap()
        });
    });
}

criterion_group!(benches, templates, others);
criterion_main!(benches);
