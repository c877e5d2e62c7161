//! A transcript without what is only of the day: ids by the order they come up in, times, ages, widths of columns.

use std::collections::HashMap;

use regex::{Captures, Regex};

pub(crate) fn form(transcript: &str) -> String {
    let mut known: HashMap<String, usize> = HashMap::new();
    let id = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
    let text = replaced(transcript, id, |found| {
        let next = known.len() + 1;
        format!("<id {}>", known.entry(found[0].to_owned()).or_insert(next))
    });
    let time = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC|\+00:00)";
    let text = replaced(&text, time, |_| "<time>".to_owned());
    let age = r"\b(\d+[dhms]){1,2}\b|\b\d+(\.\d+)? s\b";
    let text = replaced(&text, age, |_| "<age>".to_owned());
    let commit = r"\([0-9a-f]{7,12}\)";
    let text = replaced(&text, commit, |_| "(<commit>)".to_owned());
    // What changes by milliseconds in a document.
    let text = replaced(
        &text,
        r"(jitter_seconds|backoff_seconds)(.: |: )[\d.]+",
        |found| format!("{}<number>", &found[1]),
    );
    replaced(&text, r" {2,}", |_| " ".to_owned())
}

fn replaced(text: &str, pattern: &str, with: impl FnMut(&Captures<'_>) -> String) -> String {
    let pattern = Regex::new(pattern).unwrap();
    pattern.replace_all(text, with).into_owned()
}
