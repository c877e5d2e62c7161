//! Any text, compiled and evaluated: no panic, bounded time and memory.
#![no_main]

use chrono::DateTime;
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| {
    let cluster = json!({"id": "c-1", "generation": 3, "spec": {"nodes": [1, 2.5, "x", null]}, "deleted_time": null});
    let list = json!([{"type": "Available", "status": "True", "last_transition_time": "2026-01-01T00:00:00Z"}]);
    let environment = Environment::standard().with_variables([("cluster", Type::Dyn), ("conditions", Type::List)]);
    if let Ok(program) = environment.compile(text) {
        let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind("cluster", &cluster).bind("conditions", &list);
        // Whether it succeeds does not matter; that it comes back does.
        let _ = program.evaluate_json(&bindings);
    }
});
