use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

fn compiled(document: Value) -> SpecSchema {
    SpecSchema::new("Thing spec".to_owned(), document).unwrap()
}

fn wrong(schema: &SpecSchema, spec: &Value) -> Vec<[String; 3]> {
    let errors = schema.check(spec.as_object().unwrap()).unwrap_err();
    let row = |error: FieldError| {
        [
            error.field,
            error.message,
            error.constraint.unwrap_or_default(),
        ]
    };
    errors.into_iter().map(row).collect()
}

#[test]
fn every_error_is_told_with_its_path_and_rule() {
    let schema = compiled(json!({
        "type": "object",
        "required": ["region", "gcp"],
        "additionalProperties": false,
        "properties": {
            "region": {"enum": ["us", "eu"]},
            "gcp": {"type": "object"},
            "name": {"type": "string", "minLength": 3, "maxLength": 5, "pattern": "^[a-z]+$"},
            "nodes": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 2},
            "pools": {
                "type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true,
                "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": ["string", "null"]}}},
            },
            "time": {"format": "date-time"},
            "version": {"const": "v1"},
            "either": {"oneOf": [{"type": "string"}, {"type": "object", "required": ["ref"]}]},
        },
    }));
    let fits = json!({"region": "us", "gcp": {}, "nodes": 4, "either": {"ref": 1}, "time": "2026-01-01T00:00:00Z"});
    assert_eq!(schema.check(fits.as_object().unwrap()), Ok(()));
    let spec = json!({
        "region": "mars", "name": "A", "nodes": 11, "pools": [{"name": 1}, {}, {}], "time": "noon", "version": 2,
        "either": {}, "regoin": "us", "zzzz": 1,
    });
    let rows = wrong(&schema, &spec);
    let mut rows: Vec<[&str; 3]> = rows
        .iter()
        .map(|row| row.each_ref().map(String::as_str))
        .collect();
    rows.sort_unstable();
    assert_eq!(
        rows,
        [
            [
                "spec.either",
                "spec.either fits none of the allowed forms: spec.either must be a string; or spec.either needs ref",
                ""
            ],
            ["spec.gcp", "spec.gcp is required", "required"],
            [
                "spec.name",
                "spec.name must be at least 3 characters",
                "min_length"
            ],
            [
                "spec.name",
                "spec.name must match the pattern ^[a-z]+$",
                "pattern"
            ],
            ["spec.nodes", "spec.nodes must be a multiple of 2", ""],
            ["spec.nodes", "spec.nodes must be less than 10", "max"],
            ["spec.pools", "spec.pools must have at most 2 items", "max"],
            [
                "spec.pools",
                "spec.pools must not have the same item twice",
                "unique"
            ],
            [
                "spec.pools[0].name",
                "spec.pools[0].name must be null or a string",
                ""
            ],
            [
                "spec.pools[1].name",
                "spec.pools[1].name is required",
                "required"
            ],
            [
                "spec.pools[2].name",
                "spec.pools[2].name is required",
                "required"
            ],
            ["spec.region", "spec.region must be one of us, eu", "enum"],
            [
                "spec.regoin",
                "spec.regoin is not known; did you mean spec.region?",
                ""
            ],
            ["spec.time", "spec.time must be a valid date-time", "format"],
            ["spec.version", "spec.version must be v1", "enum"],
            ["spec.zzzz", "spec.zzzz is not known", ""],
        ]
    );
}

#[test]
fn what_the_caller_sent_is_not_repeated() {
    let schema = compiled(json!({"additionalProperties": {"type": "integer"}}));
    let rows = wrong(&schema, &json!({"password": "hunter2"}));
    assert!(!format!("{rows:?}").contains("hunter2"), "{rows:?}");
}

#[test]
fn the_number_of_errors_is_bounded() {
    let schema = compiled(json!({"properties": {"list": {"items": {"type": "string"}}}}));
    let rows = wrong(&schema, &json!({"list": vec![1; 250]}));
    assert_eq!(rows.len(), 101);
    assert_eq!(rows[100][1], "spec has 150 more errors");
}

#[test]
fn the_words_of_openapi_3_0_mean_what_they_say_there() {
    let old = json!({
        "type": "object",
        "properties": {
            "none": {"type": "string", "nullable": true},
            "some": {"type": "string"},
            "more": {"type": "number", "minimum": 3, "exclusiveMinimum": true},
            "most": {"type": "number", "maximum": 3, "exclusiveMaximum": false},
            "small": {"type": "integer", "format": "int32"},
            "list": {"type": "array", "items": {"type": "integer", "nullable": true}},
            "nullable": {"type": "boolean"},
        },
    });
    let schema = compiled(from_openapi_3_0(&old));
    let fits = json!({"none": null, "more": 3.5, "most": 3, "small": 7, "list": [1, null], "nullable": true});
    assert_eq!(schema.check(fits.as_object().unwrap()), Ok(()));
    let spec = json!({"some": null, "more": 3, "most": 4, "small": 2_147_483_648_u64, "list": ["a"], "nullable": null});
    let mut fields: Vec<String> = wrong(&schema, &spec)
        .into_iter()
        .map(|[field, ..]| field)
        .collect();
    fields.sort();
    assert_eq!(
        fields,
        [
            "spec.list[0]",
            "spec.more",
            "spec.most",
            "spec.nullable",
            "spec.small",
            "spec.some"
        ]
    );
}

#[test]
fn a_schema_that_doubles_with_every_level_of_a_spec_costs_no_time() {
    let either = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]});
    let schema = compiled(json!({
        "$ref": "#/$defs/A",
        "$defs": {
            "A": {"type": "object", "properties": {"c": either}},
            "B": {"type": "object", "required": ["never"], "properties": {"c": either}},
        },
    }));
    let nested = |levels: usize| {
        let mut spec = json!(7);
        for _ in 0..levels {
            spec = json!({"c": spec});
        }
        spec
    };
    let shallow = wrong(&schema, &nested(3));
    assert_eq!(shallow[0][0], "spec.c");
    assert!(shallow[0][1].contains("must be an object"), "{shallow:?}");
    let started = Instant::now();
    let deep = wrong(&schema, &nested(100));
    assert_eq!(
        deep[0][1],
        "spec does not fit Thing spec; it is too large and too deep to say where"
    );
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_schema_cannot_make_the_server_read_anything() {
    for target in [
        "http://example.com/x",
        "file:///etc/passwd",
        "/etc/passwd",
        "other.json",
        "#/$defs/none",
    ] {
        let remarks = SpecSchema::new(
            String::new(),
            json!({"properties": {"a": {"$ref": target}}}),
        )
        .unwrap_err();
        assert_eq!(remarks[0].pointer, "/properties/a/$ref", "{target}");
    }
    let known_by_id = json!({"$id": "http://example.com/a", "properties": {"a": {"$ref": "http://example.com/b"}}});
    assert!(SpecSchema::new(String::new(), known_by_id).is_err());
}
