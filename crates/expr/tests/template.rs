//! What templates promise beyond printing what Go prints.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use chrono::{DateTime, Utc};
use hyperfleet_expr::template::{
    Data, Limits, Manifest, RenderError, RenderErrorKind, Template, TemplateError, is_text_place,
};
use serde_json::{Value, json};

fn now() -> DateTime<Utc> {
    "2026-11-15T08:30:05Z".parse().unwrap()
}

fn parse_error(text: &str) -> TemplateError {
    Template::parse("job.yaml", text).unwrap_err()
}

fn render(text: &str, data: &Value) -> Result<String, RenderError> {
    let template = Template::parse("job.yaml", text).unwrap();
    template.render(&Data::from(data.as_object().unwrap()), now())
}

fn roots(text: &str) -> Vec<String> {
    let template = Template::parse("t", text).unwrap();
    template
        .roots()
        .iter()
        .map(|root| root.name.clone())
        .collect()
}

#[test]
fn an_unknown_function_is_reported_where_it_stands_with_the_nearest_known_one() {
    let error = parse_error("a\n  {{ .name | uper }}");
    assert_eq!((error.line, error.column), (2, 14));
    assert_eq!(
        error.to_string(),
        "job.yaml:2:14: the function uper is not defined; did you mean \"upper\"?"
    );
}

#[test]
fn a_function_that_would_not_be_repeatable_is_refused_by_name() {
    let error = parse_error("{{ randAlphaNum 5 }}");
    assert!(error.message.contains("not available"), "{error}");
}

#[test]
fn a_wrong_number_of_arguments_is_found_at_load_also_through_a_pipe() {
    assert_eq!(
        parse_error("{{ trunc 5 }}").message,
        "trunc takes 2 arguments, got 1"
    );
    assert_eq!(
        parse_error("{{ .x | trunc 5 6 }}").message,
        "trunc takes 2 arguments, got 3"
    );
    assert!(Template::parse("t", "{{ .x | trunc 5 }}").is_ok());
}

#[test]
fn a_block_without_end_points_at_its_beginning() {
    let error = parse_error("x\n{{ if .a }}\ny\n");
    assert_eq!((error.line, error.column), (2, 1));
    assert_eq!(error.message, "this {{if}} has no {{end}}");
}

#[test]
fn text_after_a_stray_end_is_not_dropped_silently() {
    assert_eq!(parse_error("abc{{ end }}def").message, "unexpected {{end}}");
}

#[test]
fn an_undefined_variable_and_template_are_found_at_load() {
    assert!(
        parse_error("{{ $cluster := .c }}{{ $clustr.id }}")
            .message
            .contains("$cluster")
    );
    assert!(
        parse_error("{{ template \"x\" . }}")
            .message
            .contains("not defined")
    );
}

#[test]
fn a_bad_literal_pattern_is_found_at_load() {
    assert!(
        parse_error("{{ regexMatch \"a(\" .x }}")
            .message
            .starts_with("bad pattern")
    );
}

#[test]
fn a_missing_key_names_its_path_position_and_the_nearest_key() {
    let data = json!({"cluster": {"spec": {"region": "eu"}}});
    let error = render("x: 1\ny: {{ .cluster.spec.regoin }}", &data).unwrap_err();
    assert_eq!((error.line, error.column), (2, 7));
    assert_eq!(
        error.kind,
        RenderErrorKind::MissingKey {
            path: ".cluster.spec.regoin".to_owned()
        }
    );
    assert_eq!(
        error.message,
        ".cluster.spec.regoin: .cluster.spec has no key \"regoin\"; did you mean \"region\"?"
    );
}

#[test]
fn a_key_of_null_says_what_is_null() {
    let error = render("{{ .a.b }}", &json!({"a": null})).unwrap_err();
    assert_eq!(error.message, ".a.b: .a is null, so it has no field \"b\"");
}

#[test]
fn a_failing_function_is_named() {
    let error = render("{{ .a | b64dec }}", &json!({"a": "%"})).unwrap_err();
    assert!(
        error.message.starts_with("b64dec: no valid base64"),
        "{error}"
    );
}

#[test]
fn roots_are_the_names_read_from_the_top_of_the_data() {
    assert_eq!(roots("{{ .b }}{{ .a.c }}{{ .b.d }}"), ["a", "b"]);
    assert_eq!(
        roots("{{ if .a }}{{ .b }}{{ else }}{{ $.c }}{{ end }}"),
        ["a", "b", "c"]
    );
    assert_eq!(
        roots("{{ printf \"%s\" .a | quote }}{{ (.b).x }}"),
        ["a", "b"]
    );
    assert!(roots("no actions").is_empty());
}

#[test]
fn a_dot_rebound_by_range_or_with_is_no_root() {
    assert_eq!(
        roots("{{ range .items }}{{ .name }}{{ $.id }}{{ end }}"),
        ["id", "items"]
    );
    assert_eq!(
        roots("{{ with .spec }}{{ .region }}{{ else }}{{ .other }}{{ end }}"),
        ["other", "spec"]
    );
    assert_eq!(
        roots("{{ range $i, $x := .items }}{{ $x.name }}{{ end }}"),
        ["items"]
    );
    assert_eq!(roots("{{ with . }}{{ .a }}{{ end }}"), ["a"]);
    assert_eq!(
        roots("{{ $top := . }}{{ with .x }}{{ $top.a }}{{ end }}"),
        ["a", "x"]
    );
}

#[test]
fn a_named_template_reads_roots_only_if_it_is_given_the_whole_data() {
    let define = "{{ define \"x\" }}{{ .a }}{{ end }}";
    assert_eq!(roots(&format!("{define}{{{{ template \"x\" . }}}}")), ["a"]);
    assert_eq!(
        roots(&format!("{define}{{{{ template \"x\" .b }}}}")),
        ["b"]
    );
    assert_eq!(
        roots(&format!("{define}{{{{ include \"x\" $ | nindent 2 }}}}")),
        ["a"]
    );
    assert!(roots(define).is_empty());
}

#[test]
fn include_gives_the_text_of_a_named_template_to_a_function() {
    let text =
        "{{ define \"l\" }}a: {{ .x }}\nb: 2{{ end }}labels: {{- include \"l\" . | nindent 2 }}";
    assert_eq!(
        render(text, &json!({"x": 1})).unwrap(),
        "labels:\n  a: 1\n  b: 2"
    );
}

#[test]
fn named_values_from_several_places_are_read_without_copying_them_together() {
    let (cluster, generation) = (json!({"id": "c1"}), json!(7));
    let data: Data<'_> = [("cluster", &cluster), ("generation", &generation)]
        .into_iter()
        .collect();
    let template =
        Template::parse("t", "{{ .cluster.id }}-{{ .generation }} {{ toJson . }}").unwrap();
    assert_eq!(
        template.render(&data, now()).unwrap(),
        r#"c1-7 {"cluster":{"id":"c1"},"generation":7}"#
    );
}

#[test]
fn large_numbers_never_become_exponents() {
    let data =
        json!({"a": 1_000_000, "b": 123_456_789_012_345_i64, "c": 1_000_000.0, "d": u64::MAX});
    let text = "{{ .a }} {{ .b }} {{ .c }} {{ .d }} {{ toJson .a }} {{ print .a }} {{ quote .b }}";
    assert_eq!(
        render(text, &data).unwrap(),
        "1000000 123456789012345 1000000 18446744073709551615 1000000 1000000 \"123456789012345\""
    );
}

#[test]
fn dates_accept_rfc3339_text_and_unix_seconds() {
    let data = json!({"t": "2026-01-02T03:04:05Z", "u": 0});
    let text = "{{ .t | date \"02.01.2006 15:04\" }} {{ date \"2006\" .u }} {{ ago .t }} {{ unixEpoch .t }}";
    assert_eq!(
        render(text, &data).unwrap(),
        "02.01.2026 03:04 1970 7613h26m0s 1767323045"
    );
}

#[test]
fn what_a_template_sets_does_not_reach_the_callers_data() {
    let data = json!({"m": {"a": 1}});
    let text =
        "{{ $n := set .m \"b\" 2 }}{{ $n }}{{ .m }}{{ $x := merge .m (dict \"z\" 1) }}{{ .m }}";
    assert_eq!(render(text, &data).unwrap(), "map[a:1 b:2]map[a:1]map[a:1]");
}

#[test]
fn endless_work_deep_recursion_and_huge_texts_hit_a_limit() {
    for text in [
        "{{ range 100000000 }}{{ end }}",
        "{{ range until 1000000000 }}{{ end }}",
        "{{ define \"r\" }}{{ template \"r\" . }}{{ end }}{{ template \"r\" . }}",
        "{{ repeat 1000000000 \"x\" }}",
        "{{ $x := \"x\" }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}",
        "{{ range 10000 }}{{ repeat 1000 \"x\" }}{{ end }}",
        "{{ printf \"%999999999d\" 1 }}",
        "{{ indent 1000000000 \"x\" }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ toJson $d }}",
        "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}{{ $d }}",
        "{{ $d := dict }}{{ range 60 }}{{ $d = dict \"a\" $d \"b\" $d }}{{ end }}{{ toJson $d }}",
        "{{ $l := list }}{{ range 100000 }}{{ $l = list $l }}{{ end }}{{ $l }}",
        "{{ define \"r\" }}{{ if . }}{{ if . }}{{ if . }}{{ if . }}{{ if . }}{{ if . }}{{ if . }}{{ if . }}{{ template \"r\" . }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ template \"r\" 1 }}",
        "{{ define \"r\" }}{{ print (print (print (print (include \"r\" .)))) }}{{ end }}{{ template \"r\" 1 }}",
        "{{ regexReplaceAll \"\" (repeat 1000000 \"a\") (repeat 1000000 \"b\") }}",
    ] {
        let error = render(text, &json!({})).unwrap_err();
        assert_eq!(error.kind, RenderErrorKind::Limit, "{text}: {error}");
    }
}

#[test]
fn a_very_long_pipeline_is_refused_and_a_long_one_renders() {
    let pipeline = |stages: usize| format!("{{{{ 1{} }}}}", " | print".repeat(stages));
    assert_eq!(render(&pipeline(150), &json!({})).unwrap(), "1");
    assert!(
        parse_error(&pipeline(10_000))
            .message
            .contains("inside each other")
    );
    let nested = format!("{{{{ {}1{} }}}}", "(print ".repeat(90), ")".repeat(90));
    assert_eq!(render(&nested, &json!({})).unwrap(), "1");
    assert!(Template::parse("t", &"{{ if . }}".repeat(10_000)).is_err());
}

#[test]
fn a_deeply_nested_value_is_dropped_without_recursion() {
    let text = "{{ $l := list }}{{ range 100000 }}{{ $l = list $l }}{{ end }}ok";
    assert_eq!(render(text, &json!({})).unwrap(), "ok");
}

#[test]
fn limits_can_be_lowered() {
    let template = Template::parse("t", "{{ range 100 }}x{{ end }}").unwrap();
    let data = serde_json::Map::new();
    let limits = Limits {
        output: 50,
        ..Limits::default()
    };
    let error = template
        .render_within(&Data::from(&data), now(), limits)
        .unwrap_err();
    assert_eq!(error.kind, RenderErrorKind::Limit);
}

#[test]
fn a_manifest_as_text_is_read_as_one_yaml_document() {
    let template = Template::parse(
        "job.yaml",
        "a: {{ .n }}\nb: \"{{ .n }}\"\nc:\n{{- range .l }}\n- {{ . }}\n{{- end }}",
    )
    .unwrap();
    let data = json!({"n": 5, "l": ["x", "y"]});
    let value = template
        .render_yaml(&Data::from(data.as_object().unwrap()), now())
        .unwrap();
    assert_eq!(value, json!({"a": 5, "b": "5", "c": ["x", "y"]}));
}

#[test]
fn bad_yaml_points_at_the_rendered_line() {
    let template = Template::parse("job.yaml", "a: 1\nb: {{ .v }}\n").unwrap();
    let data = json!({"v": "x: y: z"});
    let error = template
        .render_yaml(&Data::from(data.as_object().unwrap()), now())
        .unwrap_err();
    assert_eq!((error.kind.clone(), error.line), (RenderErrorKind::Yaml, 2));
    assert!(error.message.contains("b: x: y: z"), "{error}");
}

#[test]
fn a_second_document_or_a_doubled_key_is_refused() {
    let data = serde_json::Map::new();
    for text in ["a: 1\n---\nb: 2\n", "a: 1\na: 2\n"] {
        let template = Template::parse("t", text).unwrap();
        let error = template.render_yaml(&Data::from(&data), now()).unwrap_err();
        assert_eq!(error.kind, RenderErrorKind::Yaml, "{error}");
    }
}

fn manifest(value: &Value, data: &Value) -> Value {
    let manifest = Manifest::parse("job", value, is_text_place).unwrap();
    manifest
        .render(&Data::from(data.as_object().unwrap()), now())
        .unwrap()
}

#[test]
fn a_single_action_of_a_number_or_bool_keeps_its_type_in_a_structure() {
    let value = json!({"spec": {
        "replicas": "{{ .n }}", "paused": "{{ .b }}", "name": "{{ .s }}", "text": "n={{ .n }}",
        "ratio": "{{ .f }}", "sum": "{{ add .n 1 }}", "none": "{{ .z }}", "list": ["{{ .n }}", 3],
    }});
    let data = json!({"n": 3, "b": true, "s": "5", "f": 0.5, "z": null});
    assert_eq!(
        manifest(&value, &data),
        json!({"spec": {
            "replicas": 3, "paused": true, "name": "5", "text": "n=3",
            "ratio": 0.5, "sum": 4, "none": null, "list": [3, 3],
        }})
    );
}

#[test]
fn labels_annotations_and_environment_stay_text() {
    let value = json!({
        "metadata": {"name": "{{ .n }}", "annotations": {"hyperfleet.io/generation": "{{ .n }}"}},
        "data": {"n": "{{ .n }}"},
        "spec": {"containers": [{"env": [{"name": "N", "value": "{{ .n }}"}], "args": ["{{ .n }}"]}],
                 "backoffLimit": "{{ .n }}"},
    });
    assert_eq!(
        manifest(&value, &json!({"n": 7})),
        json!({
            "metadata": {"name": "7", "annotations": {"hyperfleet.io/generation": "7"}},
            "data": {"n": "7"},
            "spec": {"containers": [{"env": [{"name": "N", "value": "7"}], "args": ["7"]}],
                     "backoffLimit": 7},
        })
    );
}

#[test]
fn keys_of_a_structure_are_templates_too() {
    let value = json!({"labels": {"{{ .k }}/x": "{{ .v }}"}, "fixed": [1, {"a": null}]});
    assert_eq!(
        manifest(&value, &json!({"k": "io", "v": "w"})),
        json!({"labels": {"io/x": "w"}, "fixed": [1, {"a": null}]})
    );
}

#[test]
fn every_mistake_of_a_structure_is_reported_with_its_place() {
    let value = json!({"a": [{"b/c": "{{ .x "}], "d": "{{ nope }}"});
    let errors = Manifest::parse("job", &value, is_text_place).unwrap_err();
    let paths: Vec<_> = errors.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, ["/a/0/b~1c", "/d"]);
    assert!(
        errors[1].to_string().starts_with("job/d:1:4: "),
        "{}",
        errors[1]
    );
}

#[test]
fn values_cannot_change_the_shape_of_a_structure() {
    let value = json!({"name": "{{ .evil }}"});
    let evil = "x\nadmin: true";
    assert_eq!(
        manifest(&value, &json!({"evil": evil})),
        json!({"name": evil})
    );
}

#[test]
fn the_job_name_of_the_lifecycle_document_renders() {
    // seed 000, "Example — provisioning job with history"
    let text = r#"{{ .clusterId }}-job-{{ .now | replace ":" "-" }}"#;
    let data = json!({"clusterId": "c1", "now": "2026-11-15T08:30:05Z"});
    assert_eq!(render(text, &data).unwrap(), "c1-job-2026-11-15T08-30-05Z");
}
