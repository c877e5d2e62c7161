//! Any text, parsed and rendered, as text and as YAML: no panic, bounded time and memory.
#![no_main]

use chrono::DateTime;
use hyperfleet_expr::template::{Data, Template};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| {
    let data = json!({"a": {"b": [1, 2, {"c": "d"}]}, "name": "Hello World", "n": 1_000_000, "t": true, "nil": null});
    if let (Ok(template), Some(data)) = (Template::parse("fuzz", text), data.as_object()) {
        let data = Data::from(data);
        let _ = template.render(&data, DateTime::UNIX_EPOCH);
        let _ = template.render_yaml(&data, DateTime::UNIX_EPOCH);
    }
});
