//! Any text as an aggregation rule: no panic, bounded time and memory.
#![no_main]

use chrono::DateTime;
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use hyperfleet_expr::rules::Rule;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| {
    let adapters = json!({"dns": {"available": "True", "observed_generation": 2}});
    let list = json!([{"name": "dns", "available": "True"}, {"name": "x", "available": "False"}]);
    let names = [("adapters", Type::Map), ("requiredAdapters", Type::List)];
    let environment = Environment::standard().with_variables(names);
    if let Ok(rule) = Rule::compile_value(text, &environment) {
        let bindings =
            Bindings::new(DateTime::UNIX_EPOCH).bind("adapters", &adapters).bind("requiredAdapters", &list);
        let _ = rule.evaluate_json(&bindings);
    }
});
