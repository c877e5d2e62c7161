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
use libtest_mimic::{Arguments, Failed, Trial};
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

impl Case {
    fn full_name(&self) -> String {
        format!("{}/{}/{}", self.file, self.section, self.name)
    }

    fn exception(&self) -> Option<&'static str> {
        let name = self.full_name();
        EXCEPTIONS
            .iter()
            .find(|(excepted, _)| *excepted == name)
            .map(|(_, reason)| *reason)
    }
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
        (Err(problems), "eval_error") => return expected_rejection(&problems.to_string()),
        (Err(problems), _) => return Err(problems.to_string().into()),
    };
    if case.check_only {
        return Ok(());
    }
    let result = program.evaluate(&bindings);
    match (case.matcher.as_str(), result) {
        ("eval_error", Ok(value)) => Err(format!("expected an error, got {value:?}").into()),
        ("eval_error", Err(error)) => {
            let kinds = expected_kinds(&case.full_name());
            if kinds.contains(&error.kind) {
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

/// A case that must fail may be refused at compile time, but not because something is missing from the engine.
fn expected_rejection(problems: &str) -> Result<(), Failed> {
    match problems.contains("unknown") || problems.contains("not supported") {
        true => Err(problems.into()),
        false => Ok(()),
    }
}

/// The suite only says that a case fails; its name says how. The first entry whose words are all in the name counts.
const FAILURES: &[(&[&str], &[ErrorKind])] = &[
    (&["unbound"], &[ErrorKind::UndeclaredName]),
    (&["no_denotation"], &[ErrorKind::UndeclaredName]),
    (
        &["no_such_key"],
        &[ErrorKind::NoSuchKey, ErrorKind::NoSuchOverload],
    ),
    (&["lossy_double_key"], &[ErrorKind::NoSuchKey]),
    (&["repeat_key"], &[ErrorKind::InvalidArgument]),
    (
        &["string_ext", "out_of_range"],
        &[ErrorKind::IndexOutOfRange],
    ),
    (
        &["string_ext", "negative_index"],
        &[ErrorKind::IndexOutOfRange],
    ),
    (&["string_ext", "invalid"], &[ErrorKind::NoSuchOverload]),
    (&["not allowed"], &[ErrorKind::InvalidArgument]),
    (&["index_out_of_bounds"], &[ErrorKind::IndexOutOfRange]),
    (&["divide_zero"], &[ErrorKind::DivideByZero]),
    (&["mod_zero"], &[ErrorKind::DivideByZero]),
    (&["logic", "error"], &[ErrorKind::DivideByZero]),
    (&["macros", "type_exhaustive"], &[ErrorKind::NoSuchOverload]),
    (&["macros"], &[ErrorKind::DivideByZero]),
    (&["bad_shift"], &[ErrorKind::InvalidArgument]),
    (&["overflow"], &[ErrorKind::Overflow]),
    (&["negate"], &[ErrorKind::Overflow]),
    (&["range"], &[ErrorKind::Overflow]),
    (&["int_neg"], &[ErrorKind::Overflow]),
    (
        &["timestamps"],
        &[ErrorKind::Overflow, ErrorKind::InvalidArgument],
    ),
    // What is left applies something to a type it is not defined for.
    (&[], &[ErrorKind::NoSuchOverload]),
];

fn expected_kinds(name: &str) -> &'static [ErrorKind] {
    let entry = FAILURES
        .iter()
        .find(|(words, _)| words.iter().all(|word| name.contains(word)));
    entry.map_or(&[], |(_, kinds)| kinds)
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
        eprintln!("skipped: CEL conformance: {reason}");
        let trial = Trial::test(reason, || Ok(())).with_ignored_flag(true);
        return libtest_mimic::run(&args, vec![trial]).exit_code();
    };
    let cases: Vec<Case> =
        serde_json::from_str(&text).expect("the conformance cases are valid JSON");
    let cases: Vec<Case> = cases
        .into_iter()
        .filter(|case| !LEFT_OUT.contains(&case.file.as_str()))
        .collect();
    let excepted = cases
        .iter()
        .filter(|case| case.exception().is_some())
        .count();
    eprintln!(
        "skipped: CEL conformance: {excepted} cases that docs/expressions.md lists with their reasons"
    );
    let mut trials: Vec<Trial> = cases
        .iter()
        .cloned()
        .map(|case| {
            let excepted = case.exception().is_some();
            Trial::test(case.full_name(), move || run(&case)).with_ignored_flag(excepted)
        })
        .collect();
    let all = cases.clone();
    trials.push(Trial::test("the value tests reach the bar", move || {
        reach_the_bar(&all)
    }));
    trials.push(Trial::test("every exception is still one", move || {
        still_exceptions(&cases)
    }));
    libtest_mimic::run(&args, trials).exit_code()
}

fn reach_the_bar(cases: &[Case]) -> Result<(), Failed> {
    let counted = |case: &&Case| {
        case.matcher != "eval_error" && !case.check_only && case.exception() != Some(PROTOBUF)
    };
    let (passed, failed): (Vec<&Case>, Vec<&Case>) = cases
        .iter()
        .filter(counted)
        .partition(|case| run(case).is_ok());
    let share = 100.0 * passed.len() as f64 / (passed.len() + failed.len()) as f64;
    println!(
        "{} of {} value tests pass: {share:.2} %",
        passed.len(),
        passed.len() + failed.len()
    );
    if share >= BAR {
        Ok(())
    } else {
        Err(format!("{share:.2} % of the value tests pass, {BAR} % must").into())
    }
}

fn still_exceptions(cases: &[Case]) -> Result<(), Failed> {
    let healed: Vec<String> = cases
        .iter()
        .filter(|case| case.exception().is_some() && run(case).is_ok())
        .map(Case::full_name)
        .collect();
    if healed.is_empty() {
        Ok(())
    } else {
        Err(format!("these pass now: {healed:?}").into())
    }
}
