//! No expression may take the process with it: steps, sizes, nesting and the stack are bounded.

use chrono::DateTime;
use hyperfleet_expr::cel::{Bindings, Environment, ErrorKind, EvalError, Limits};
use serde_json::json;

fn run_with(limits: Limits, source: &str) -> Result<serde_json::Value, EvalError> {
    let data = json!({"items": (0..1000).collect::<Vec<_>>(), "text": "x".repeat(1000)});
    let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind("data", &data);
    let program = Environment::unchecked()
        .with_limits(limits)
        .compile(source)
        .unwrap_or_else(|p| panic!("{p}"));
    program.evaluate_json(&bindings)
}

fn exceeds(limits: Limits, source: &str) -> String {
    let error = run_with(limits, source).expect_err("a limit is exceeded");
    assert_eq!(error.kind, ErrorKind::LimitExceeded, "{source}: {error}");
    error.message
}

#[test]
fn steps_are_counted() {
    let limits = Limits {
        steps: 500,
        ..Limits::default()
    };
    assert_eq!(
        exceeds(limits.clone(), "data.items.map(x, x + 1)"),
        "the evaluation needs more than 500 steps"
    );
    assert!(run_with(limits, "data.items.size() + 1").is_ok());
}

#[test]
fn a_limit_is_never_absorbed() {
    let limits = Limits {
        steps: 500,
        ..Limits::default()
    };
    exceeds(limits.clone(), "data.items.all(x, x >= 0) || true");
    exceeds(
        limits.clone(),
        "data.items.exists(x, x < 0 || data.items.exists(y, y < 0))",
    );
    exceeds(limits, "[1].exists(z, data.items.all(x, x >= 0)) || true");
}

#[test]
fn comparing_large_values_is_paid_for() {
    let limits = Limits {
        steps: 500,
        ..Limits::default()
    };
    exceeds(limits.clone(), "data.items == data.items");
    exceeds(limits, "-1 in data.items");
}

#[test]
fn long_texts_cost_more_than_short_ones() {
    let long = |body: &str| {
        let double = "cel.bind(s, s + s, ".repeat(8);
        format!("cel.bind(s, data.text, {double}{body}{}", ")".repeat(9))
    };
    for body in [
        "data.items.map(i, s).sort()",
        "data.items.all(i, s <= s)",
        "data.items.all(i, s in {s: 1})",
        "data.items.all(i, {s: 1}[s] == 1)",
        "data.items.all(i, !s.startsWith('a'))",
        "data.items.all(i, conditionStatus([{'type': s}], s) == 'Unknown')",
        "data.items.all(i, s.matches('x$'))",
        "data.items.all(i, size(s) > 0)",
    ] {
        exceeds(Limits::default(), &long(body));
    }
}

#[test]
fn strings_have_a_longest_length() {
    let limits = Limits {
        string_bytes: 4096,
        ..Limits::default()
    };
    let message = exceeds(
        limits.clone(),
        "(data.text + data.text + data.text) + (data.text + data.text)",
    );
    assert_eq!(
        message,
        "a string of 5000 bytes would be produced, the limit is 4096"
    );
    exceeds(limits.clone(), "data.text.replace('x', data.text)");
    exceeds(limits.clone(), "data.items.map(i, data.text).join()");
    exceeds(
        limits.clone(),
        "'%s%s%s%s%s'.format([data.text, data.text, data.text, data.text, data.text])",
    );
    exceeds(
        limits,
        "toJson([data.text, data.text, data.text, data.text, data.text])",
    );
}

#[test]
fn lists_have_a_greatest_length() {
    let limits = Limits {
        collection_items: 1500,
        ..Limits::default()
    };
    exceeds(limits.clone(), "data.items + data.items");
    exceeds(limits.clone(), "lists.range(2000)");
    exceeds(limits.clone(), "[data.items, data.items].flatten()");
    exceeds(limits, "'a'.split('') + lists.range(1500)");
}

#[test]
fn a_small_value_that_is_huge_when_written_out_is_stopped() {
    // Each binding doubles the written size; nothing of it is copied until it is written or compared.
    let laughs = |levels: usize, body: &str| {
        let mut source = String::new();
        for i in 0..levels {
            let previous = if i == 0 {
                "data.text".to_owned()
            } else {
                format!("v{}", i - 1)
            };
            source += &format!("cel.bind(v{i}, [{previous}, {previous}], ");
        }
        source + &body.replace('$', &format!("v{}", levels - 1)) + &")".repeat(levels)
    };
    for body in [
        "$",
        "$ == $.map(x, x)",
        "toJson($)",
        "'%s'.format([$])",
        "[$] == [$]",
        "sets.contains([$], [$])",
    ] {
        exceeds(Limits::default(), &laughs(60, body));
    }
}

#[test]
fn loops_nest_only_so_deep() {
    let limits = Limits {
        comprehension_nesting: 2,
        ..Limits::default()
    };
    let env = Environment::unchecked().with_limits(limits);
    assert!(env.compile("a.all(x, x.all(y, true))").is_ok());
    let problems = env
        .compile("a.all(x, x.all(y, y.all(z, true)))")
        .unwrap_err();
    assert_eq!(
        problems.iter().next().unwrap().message,
        "loops are nested more than 2 deep"
    );
    assert!(
        env.compile("a.all(x, true) && a.all(x, true) && a.all(x, true)")
            .is_ok()
    );
}

#[test]
fn regular_expressions_are_bounded() {
    let env = Environment::unchecked();
    let problems = env.compile("'x'.matches('(a{1000}){1000}')").unwrap_err();
    assert!(
        problems.to_string().contains("larger than 262144 bytes"),
        "{problems}"
    );
    exceeds(
        Limits::default(),
        "'x'.matches('(a{1000}){' + string(size(data.items)) + '}')",
    );
    assert_eq!(
        run_with(Limits::default(), "data.text.matches('^x{1000}$')"),
        Ok(json!(true))
    );
}

#[test]
fn expressions_have_a_longest_length() {
    let limits = Limits {
        expression_bytes: 10,
        ..Limits::default()
    };
    let problems = Environment::unchecked()
        .with_limits(limits)
        .compile("1 + 1 + 1 + 1")
        .unwrap_err();
    assert_eq!(
        problems.iter().next().unwrap().message,
        "the expression has 13 bytes, the limit is 10"
    );
}

/// Every way to nest, as deep as the source allows: refused or evaluated, on half the stack a worker
/// thread has.
#[test]
fn no_nesting_exhausts_the_stack() {
    let shapes: [(&str, &str, &str); 16] = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{'a': ", "1", "}"),
        ("!", "true", ""),
        ("-", "x", ""),
        ("", "x", ".a"),
        ("", "x", "[0]"),
        ("", "x", ".?a"),
        ("", "1", " + 1"),
        ("true ? 1 : ", "2", ""),
        ("size([", "1", "])"),
        ("optional.of(", "1", ").value()"),
        ("cel.bind(x, 1, ", "x", ")"),
        ("", "'a'", ".replace('b', 'c')"),
        ("[1].map(x, ", "x", ")"),
        ("optional.of(1).optMap(x, ", "x", ")"),
    ];
    let deepest = 20_000;
    for (open, core, close) in shapes {
        for count in [50, 150, 198, 199, 200, 5000, deepest] {
            let source = format!("{}{core}{}", open.repeat(count), close.repeat(count));
            let thread = std::thread::Builder::new().stack_size(1024 * 1024);
            let worker = thread.spawn(move || {
                let limits = Limits {
                    expression_bytes: 1024 * 1024,
                    depth: u16::MAX,
                    comprehension_nesting: u16::MAX,
                    ..Limits::default()
                };
                if let Ok(program) = Environment::syntax_only()
                    .with_limits(limits)
                    .compile(&source)
                {
                    let data = json!({});
                    let _ = program
                        .evaluate_json(&Bindings::new(DateTime::UNIX_EPOCH).bind("x", &data));
                }
            });
            assert!(worker.unwrap().join().is_ok(), "{open}…{close} × {count}");
        }
    }
}

#[test]
fn a_long_row_of_alternatives_is_not_deep() {
    let source = vec!["data.items[0] == 1"; 2000].join(" || ");
    assert_eq!(run_with(Limits::default(), &source), Ok(json!(false)));
}
