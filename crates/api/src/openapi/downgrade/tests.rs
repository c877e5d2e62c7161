use proptest::prelude::*;

use super::*;
use crate::schema::from_openapi_3_0;

#[test]
fn schemas_say_in_the_words_of_3_0_what_they_can() {
    let to = |schema: Value| {
        to_openapi_3_0(&schema, &|target| {
            (target == "#/$defs/A").then(|| "#/components/schemas/A".to_owned())
        })
    };
    for (new, old) in [
        (json!(true), json!({})),
        (json!(false), json!({"not": {}})),
        (
            json!({"type": ["string", "null"]}),
            json!({"type": "string", "nullable": true}),
        ),
        (json!({"type": ["string", "integer"]}), json!({})),
        (
            json!({"type": "null"}),
            json!({"enum": [null], "nullable": true}),
        ),
        (json!({"const": 1}), json!({"enum": [1]})),
        (
            json!({"exclusiveMinimum": 3}),
            json!({"minimum": 3, "exclusiveMinimum": true}),
        ),
        (
            json!({"exclusiveMaximum": 3, "maximum": 2}),
            json!({"maximum": 2}),
        ),
        (
            json!({"exclusiveMaximum": 3, "maximum": 4}),
            json!({"maximum": 3, "exclusiveMaximum": true}),
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "items": {}}),
        ),
        (
            json!({"prefixItems": [{"type": "null"}], "items": false}),
            json!({"items": {}}),
        ),
        (
            json!({"patternProperties": {"a": {}}, "additionalProperties": false}),
            json!({}),
        ),
        (
            json!({"additionalProperties": {"const": 1}}),
            json!({"additionalProperties": {"enum": [1]}}),
        ),
        (
            json!({"if": {}, "then": {}, "else": {}, "$comment": "x"}),
            json!({}),
        ),
        (
            json!({"$ref": "#/$defs/A"}),
            json!({"$ref": "#/components/schemas/A"}),
        ),
        (
            json!({"$ref": "#/$defs/B", "title": "t"}),
            json!({"title": "t"}),
        ),
        (
            json!({"$ref": "#/$defs/A", "title": "t"}),
            json!({"allOf": [{"$ref": "#/components/schemas/A"}], "title": "t"}),
        ),
        (
            json!({"properties": {"const": {"const": 1}}}),
            json!({"properties": {"const": {"enum": [1]}}}),
        ),
        (json!({"examples": [7, 8]}), json!({"example": 7})),
        // What had to leave something out is not turned round, and not told apart.
        (json!({"not": {"const": 1}}), json!({"not": {"enum": [1]}})),
        (json!({"not": {"if": {}}}), json!({})),
        (
            json!({"oneOf": [{"const": 1}, {}]}),
            json!({"oneOf": [{"enum": [1]}, {}]}),
        ),
        (
            json!({"oneOf": [{"if": {}}, {}]}),
            json!({"anyOf": [{}, {}]}),
        ),
    ] {
        assert_eq!(to(new.clone()), old, "{new}");
    }
}

/// Values of few kinds, so that schemas and values meet.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..4_i64).prop_map(Value::from),
        Just(json!(1.5)),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab]{1,2}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn keyword(
    inner: impl Strategy<Value = Value> + Clone + 'static,
) -> impl Strategy<Value = (String, Value)> {
    let types = prop::sample::subsequence(
        vec![
            "null", "boolean", "integer", "number", "string", "array", "object",
        ],
        1..3,
    );
    let named = |word: &'static str| move |value: Value| (word.to_owned(), value);
    let numbers = prop::sample::select(vec![
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ]);
    let sizes = prop::sample::select(vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
    ]);
    let single = prop::sample::select(vec![
        "not",
        "if",
        "then",
        "else",
        "items",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
    ]);
    let lists = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
    let maps = prop::sample::select(vec!["properties", "patternProperties", "dependentSchemas"]);
    prop_oneof![
        types.prop_map(move |types| ("type".to_owned(), json!(types))),
        prop::sample::select(vec!["null", "integer", "string", "object", "array"])
            .prop_map(|kind| ("type".to_owned(), json!(kind))),
        value().prop_map(named("const")),
        prop::collection::vec(value(), 1..3)
            .prop_map(|values| ("enum".to_owned(), Value::from(values))),
        (numbers, -2..4_i64).prop_map(|(word, limit)| (word.to_owned(), json!(limit))),
        (sizes, 0..3_u64).prop_map(|(word, limit)| (word.to_owned(), json!(limit))),
        "[ab]".prop_map(|pattern| ("pattern".to_owned(), json!(pattern))),
        "[ab]".prop_map(|name| ("required".to_owned(), json!([name]))),
        (single, inner.clone()).prop_map(|(word, schema)| (word.to_owned(), schema)),
        (lists, prop::collection::vec(inner.clone(), 1..3))
            .prop_map(|(word, schemas)| (word.to_owned(), Value::from(schemas))),
        (maps, prop::collection::btree_map("[ab]", inner, 1..3))
            .prop_map(|(word, schemas)| (word.to_owned(), json!(schemas))),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!({})), any::<bool>().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::vec(keyword(inner), 1..4)
            .prop_map(|words| Value::Object(words.into_iter().collect()))
    })
}

proptest! {
    /// A client that believes the document is never told off for what it left out.
    #[test]
    fn what_a_schema_allows_its_form_in_3_0_allows_too(schema in schema(), values in prop::collection::vec(value(), 8)) {
        let old = from_openapi_3_0(&to_openapi_3_0(&schema, &|_| None));
        let (new, old) = (
            jsonschema::validator_for(&schema).unwrap(),
            jsonschema::validator_for(&old).unwrap(),
        );
        for value in values {
            prop_assert!(!new.is_valid(&value) || old.is_valid(&value), "{value}");
        }
    }
}
