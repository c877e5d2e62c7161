//! Any text as a task configuration: no panic, and every mistake has a place in the text.
#![no_main]

use std::path::Path;

use hyperfleet_adapter::config::parse_task;
use hyperfleet_source::SourceFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let file = SourceFile::new("task.yaml", text);
    // A directory that does not exist: files it refers to are not read.
    if let Err(mistakes) = parse_task(&file, Path::new("/nonexistent/task.yaml")) {
        assert!(!mistakes.to_string().is_empty());
    }
});
