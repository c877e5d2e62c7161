//! What is found before an expression ever runs.

use hyperfleet_expr::cel::{Environment, Function, Problem, Type, Value};

fn env() -> Environment {
    Environment::standard()
        .with_variables([
            ("cluster", Type::Dyn),
            ("resources", Type::Map),
            ("region", Type::String),
            ("generation", Type::Int),
            ("started", Type::Timestamp),
            ("conditions", Type::List),
        ])
        .with_function(Function::new("condition", 1, |_| Ok(Value::Null)))
}

fn problems(source: &str) -> Vec<Problem> {
    env()
        .compile_predicate(source)
        .map(|_| Vec::new())
        .unwrap_or_else(|p| p.into_iter().collect())
}

/// The text the only problem points at, its message and its help.
fn problem(source: &str) -> (&str, String, String) {
    let mut found = problems(source);
    assert_eq!(found.len(), 1, "{source}: {found:?}");
    let problem = found.remove(0);
    (
        &source[problem.span],
        problem.message,
        problem.help.unwrap_or_default(),
    )
}

fn accepted(source: &str) {
    if let Err(problems) = env().compile(source) {
        panic!("{problems}");
    }
}

#[test]
fn an_unknown_variable_is_pointed_at_and_the_nearest_one_suggested() {
    let (at, message, help) = problem("clutser.status.phase == 'Ready'");
    assert_eq!(
        (at, message.as_str()),
        ("clutser", "unknown variable `clutser`")
    );
    assert_eq!(help, "did you mean `cluster`?");
}

#[test]
fn without_a_near_name_the_known_ones_are_listed() {
    let (_, _, help) = problem("params.x == 1");
    assert_eq!(
        help,
        "known here: cluster, conditions, generation, region, resources, started"
    );
}

#[test]
fn an_unknown_name_is_found_behind_a_short_circuit() {
    assert_eq!(problem("false && nosuch.x").1, "unknown variable `nosuch`");
}

#[test]
fn an_unknown_method_suggests_the_nearest_one() {
    assert_eq!(
        problem("region.startWith('eu')").2,
        "did you mean `startsWith`?"
    );
    assert_eq!(
        problem("conditions.exist(c, true)").2,
        "did you mean `exists`?"
    );
    assert_eq!(
        problem("region.starts_with('eu')").2,
        "did you mean `startsWith`?"
    );
}

#[test]
fn an_unknown_function_suggests_the_nearest_one() {
    let (at, message, help) = problem("conditonStatus(conditions, 'Ready') == 'True'");
    assert_eq!(
        (at, message.as_str()),
        ("conditonStatus", "unknown function `conditonStatus`")
    );
    assert_eq!(help, "did you mean `conditionStatus`?");
    assert_eq!(
        problem("math.greatst(1, 2) > 1").2,
        "did you mean `math.greatest`?"
    );
}

#[test]
fn a_host_function_is_known_and_its_arity_checked() {
    accepted("condition('Ready') == null");
    assert_eq!(
        problem("condition() == null").1,
        "`condition` takes 1 argument, 0 given"
    );
    assert_eq!(
        problem("conditin('Ready') == null").2,
        "did you mean `condition`?"
    );
}

#[test]
fn a_wrong_number_of_arguments_tells_the_right_one() {
    assert_eq!(
        problem("region.startsWith()").1,
        "`startsWith` takes 1 argument, 0 given"
    );
    assert_eq!(
        problem("region.replace('a') == ''").1,
        "`replace` takes 2 or 3 arguments, 1 given"
    );
    assert_eq!(
        problem("now(1) == ''").1,
        "`now` takes no arguments, 1 given"
    );
    assert_eq!(
        problem("conditions.filter(c) == []").1,
        "`filter` is written filter(x, condition)"
    );
}

#[test]
fn a_function_called_as_a_method_and_the_reverse_are_explained() {
    assert_eq!(
        problem("started.timestamp() == started").2,
        "write timestamp(x)"
    );
    assert_eq!(
        problem("startsWith(region, 'eu')").2,
        "call it on a value: x.startsWith(…)"
    );
}

#[test]
fn incompatible_literals_are_not_compared() {
    assert_eq!(
        problem("'1' == 1").1,
        "`==` compares string with int, which are never equal"
    );
    assert_eq!(
        problem("generation < 'a'").1,
        "`<` is not defined for int and string"
    );
    assert_eq!(
        problem("[1] == {}").1,
        "`==` compares list with map, which are never equal"
    );
}

#[test]
fn time_and_text_are_not_compared_but_the_conversion_is_suggested() {
    assert_eq!(
        problem("started < now()").2,
        "convert the text: timestamp(now())"
    );
    assert_eq!(
        problem("started - started > '10m'").2,
        "convert the text: duration('10m')"
    );
}

#[test]
fn a_substring_test_with_in_is_explained() {
    assert_eq!(
        problem("'eu' in region").2,
        "for a substring write region.contains('eu')"
    );
}

#[test]
fn arithmetic_on_incompatible_known_types_is_refused() {
    assert_eq!(
        problem("'a' + 1 == 'a1'").2,
        "convert the number: string(1)"
    );
    assert_eq!(
        problem("1 + 1.0 == 2.0").1,
        "`+` is not defined for int and double"
    );
    assert_eq!(
        problem("cluster.x + true == 1").1,
        "`+` is not defined for dyn and bool"
    );
    assert_eq!(problem("-region == ''").1, "`-` is not defined for string");
}

#[test]
fn a_gate_that_can_never_be_true_or_false_is_refused() {
    assert_eq!(
        problem("'Ready'").1,
        "a condition must be true or false, but `'Ready'` is string"
    );
    assert_eq!(problem("size(conditions)").0, "size(conditions)");
    assert_eq!(
        problem("conditions.filter(c, true)").0,
        "conditions.filter(c, true)"
    );
    assert!(env().compile("size(conditions)").is_ok());
}

#[test]
fn operands_that_can_never_be_boolean_are_refused() {
    assert_eq!(problem("region && true").0, "region");
    assert_eq!(problem("!generation").0, "generation");
    assert_eq!(problem("conditions.all(c, 1)").0, "1");
}

#[test]
fn a_receiver_of_the_wrong_type_is_refused() {
    assert_eq!(
        problem("generation.startsWith('1')").1,
        "`startsWith` is not defined for int with (string)"
    );
    assert_eq!(
        problem("region.phase == 1").1,
        "no field `phase`: `region` is string, not a map"
    );
    assert_eq!(
        problem("region.all(c, true)").1,
        "`region` is string, not a list or map"
    );
}

#[test]
fn a_literal_no_run_can_convert_is_refused() {
    assert_eq!(
        problem("duration('10 minutes') == duration('1s')").0,
        "'10 minutes'"
    );
    assert_eq!(problem("timestamp('yesterday') < started").0, "'yesterday'");
    assert_eq!(problem("region.matches('(')").0, "'('");
}

#[test]
fn all_problems_of_an_expression_come_at_once_in_order() {
    let found = problems("clutser.a == 1 && nosuch(1) && 'a' < 2 && region.startsWith()");
    let messages: Vec<_> = found.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "unknown variable `clutser`",
            "unknown function `nosuch`",
            "`<` is not defined for string and int",
            "`startsWith` takes 1 argument, 0 given",
        ]
    );
}

#[test]
fn what_could_work_at_run_time_is_accepted() {
    accepted("1 == 1.0");
    accepted("generation > 1.5");
    accepted("region == null");
    accepted("cluster.a + 1 == cluster.b");
    accepted("resources.anything.at.all");
    accepted("[1, 'a', null]");
    accepted("cluster.when < started");
    accepted("(cluster.flag ? 1 : 'one') == 1");
}

#[test]
fn variables_of_macros_are_known_only_inside() {
    accepted("conditions.exists(c, c.type == 'Ready')");
    accepted("cel.bind(x, 1, x + 1)");
    accepted("resources.?job.optMap(j, j.metadata).hasValue()");
    assert_eq!(problem("conditions.exists(c, true) && c == 1").0, "c");
    assert_eq!(
        problem("conditions.exists(c.d, true)").1,
        "expected a plain variable name, found `c.d`"
    );
}

#[test]
fn a_comparison_with_an_optional_is_refused() {
    let (_, message, help) = problem("resources.?phase == 'x'");
    assert!(message.contains("optional with string"), "{message}");
    assert_eq!(help, "unwrap the value: resources.?phase.orValue(…)");
}

#[test]
fn message_construction_is_named_as_unsupported() {
    assert_eq!(
        problem("Cluster{name: 'a'} == null").1,
        "message types are not supported"
    );
}

#[test]
fn has_wants_a_field() {
    accepted("has(cluster.status)");
    assert!(
        problem("has(cluster)")
            .1
            .starts_with("`has` takes one field selection")
    );
}

#[test]
fn an_unchecked_environment_takes_any_variable_but_still_knows_its_functions() {
    let env = Environment::unchecked();
    assert!(env.compile("whatever.x == 1").is_ok());
    assert!(env.compile("whatever.startWith('a')").is_err());
    assert!(
        Environment::syntax_only()
            .compile("whatever.startWith('a')")
            .is_ok()
    );
}

#[test]
fn references_are_the_variables_used_each_once() {
    let program = env()
        .compile("cluster.a == region && cluster.b.exists(c, c == generation)")
        .unwrap();
    let used: Vec<_> = program.references().collect();
    assert_eq!(used, ["cluster", "region", "generation"]);
}

#[test]
fn syntax_errors_say_what_was_expected() {
    let first = |source: &str| {
        let problem = env()
            .compile(source)
            .unwrap_err()
            .into_iter()
            .next()
            .unwrap();
        (problem.message, problem.help)
    };
    assert_eq!(first("").0, "the expression is empty");
    assert_eq!(
        first("cluster.a = 1"),
        (
            "expected an operator or the end of the expression, found `=`".to_owned(),
            Some("equality is `==`".to_owned())
        )
    );
    assert_eq!(
        first("region ==").0,
        "expected a value, found the end of the expression"
    );
    assert_eq!(
        first("(region").0,
        "expected `)`, found the end of the expression"
    );
    assert_eq!(first("'abc").0, "unterminated string");
    assert_eq!(first("region & true").1.unwrap(), "logical and is `&&`");
    assert_eq!(first("for == 1").0, "`for` is a reserved word");
    assert_eq!(
        first("9223372036854775808").0,
        "integer 9223372036854775808 is out of range"
    );
    assert_eq!(first(r"'\q'").0, r"unknown escape `\q`");
    assert_eq!(first("12abc").0, "malformed number `12`");
}

#[test]
fn problems_are_shown_with_the_expression_and_a_caret() {
    let text = env()
        .compile("cluster.a == 1 &&\n  clutser.b == 2")
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        "unknown variable `clutser`\n   2 |   clutser.b == 2\n     |   ^^^^^^^\n  = did you mean `cluster`?"
    );
    let text = env().compile("'ä' == 'ö' && x").unwrap_err().to_string();
    assert!(
        text.starts_with("unknown variable `x`\n  | 'ä' == 'ö' && x\n  |               ^"),
        "{text}"
    );
}

#[test]
fn an_environment_without_a_clock_refuses_what_depends_on_the_time() {
    let env = Environment::standard()
        .with_variables([("conditions", Type::List)])
        .without_clock();
    for expression in [
        "timestamp(now())",
        "conditionAge(conditions, 'Ready')",
        "stableFor(conditions, 'Ready', 5)",
    ] {
        let problems = env.compile(expression).unwrap_err();
        let message = &problems.iter().next().unwrap().message;
        assert!(message.contains("depends on the time"), "{message}");
    }
    assert!(env.compile("conditionStatus(conditions, 'Ready')").is_ok());
}

#[test]
fn a_program_tells_which_entries_of_a_variable_it_names() {
    let env = Environment::standard().with_variables([("a", Type::Map), ("b", Type::Map)]);
    let program = env
        .compile("a.x == a['y-z'] || has(a.w) || [1].exists(i, a.?v.hasValue() && b.u == a[b.t])")
        .unwrap();
    assert_eq!(program.keys_of("a"), ["v", "w", "x", "y-z"]);
    assert_eq!(program.keys_of("b"), ["t", "u"]);
    assert!(program.keys_of("c").is_empty());
}
