//! Upper and lower case in names: `title`, `camelcase`, `snakecase`, `kebabcase`.

use super::{Function, plain, text};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("title", 1, 1, |c, a| c.text(words(&text(a, 0)?, true))),
    plain("untitle", 1, 1, |c, a| c.text(words(&text(a, 0)?, false))),
    plain("swapcase", 1, 1, |c, a| {
        let swap = |ch: char| match ch.is_uppercase() {
            true => ch.to_lowercase().collect::<String>(),
            false => ch.to_uppercase().collect(),
        };
        c.text(text(a, 0)?.chars().map(swap).collect())
    }),
    plain("camelcase", 1, 1, |c, a| c.text(pascal(&text(a, 0)?))),
    plain("snakecase", 1, 1, |c, a| c.text(joined(&text(a, 0)?, '_'))),
    plain("kebabcase", 1, 1, |c, a| c.text(joined(&text(a, 0)?, '-'))),
];

/// The first letter of each word changed, the rest kept.
fn words(text: &str, upper: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut first = true;
    for c in text.chars() {
        match (first, upper) {
            (true, true) => out.extend(c.to_uppercase()),
            (true, false) => out.extend(c.to_lowercase()),
            (false, _) => out.push(c),
        }
        first = match upper {
            // Go's Title: a word ends at anything but letters, digits and `_`.
            true => !(c.is_alphanumeric() || c == '_'),
            false => c.is_whitespace(),
        };
    }
    out
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

fn upper(c: char) -> char {
    c.to_uppercase().next().unwrap_or(c)
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// `some_value` to `SomeValue`; leading connectors stay, `HTTP_server` is `HttpServer`.
fn pascal(text: &str) -> String {
    let start = text.find(|c| !is_connector(c)).unwrap_or(text.len());
    let mut out = text[..start].to_owned();
    let mut rest = text[start..].chars();
    let Some(first) = rest.next() else {
        return out;
    };
    let mut run_of_upper = first.is_uppercase();
    let mut last = upper(first);
    for c in rest {
        let before = last;
        last = c;
        if is_connector(c) && is_connector(before) {
            out.push(before);
            continue;
        }
        if is_connector(before) {
            run_of_upper = c.is_uppercase();
            last = upper(c);
            continue;
        }
        if run_of_upper {
            match c.is_uppercase() {
                true => last = lower(c),
                false => run_of_upper = false,
            }
        }
        out.push(before);
    }
    out.push(last);
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Connector,
    Punctuation,
    Upper,
    Letters,
    Number,
    Other,
}

fn kind(c: char) -> Kind {
    match c {
        c if is_connector(c) => Kind::Connector,
        c if c.is_uppercase() => Kind::Upper,
        c if c.is_alphabetic() => Kind::Letters,
        c if c.is_numeric() => Kind::Number,
        c if c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c) => Kind::Punctuation,
        _ => Kind::Other,
    }
}

/// Splits into runs of one kind; `HTTPServer` is `HTTP` and `Server`.
fn split(text: &str) -> Vec<(Kind, &str)> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start = kind(first);
        let mut end = first.len_utf8();
        let mut uppers = 1;
        let mut last_width = end;
        for c in rest[end..].chars() {
            let next = kind(c);
            let belongs = match (start, next) {
                (Kind::Upper, Kind::Upper) => uppers > 0,
                (Kind::Upper, Kind::Letters) if uppers == 1 => {
                    // `Server`: from here on only small letters belong.
                    uppers = 0;
                    true
                }
                (Kind::Upper, Kind::Letters) if uppers == 0 => true,
                (Kind::Upper, Kind::Letters) => {
                    end -= last_width;
                    false
                }
                (start, next) => start == next,
            };
            if !belongs {
                break;
            }
            if next == Kind::Upper {
                uppers += 1;
            }
            last_width = c.len_utf8();
            end += last_width;
        }
        runs.push((start, &rest[..end]));
        rest = &rest[end..];
    }
    runs
}

/// `FirstName` to `first_name`; a number belongs to the word before it, except
/// when small letters follow (`HTTP2xx` to `http_2xx`).
fn joined(text: &str, connector: char) -> String {
    let runs = split(text);
    let mut out = String::with_capacity(text.len() + 4);
    let separates = |next: Option<&(Kind, &str)>| {
        next.is_some_and(|(kind, _)| !matches!(kind, Kind::Connector | Kind::Punctuation))
    };
    let mut i = 0;
    while let Some((kind, word)) = runs.get(i) {
        i += 1;
        match kind {
            Kind::Connector => out.extend(word.chars().map(|_| connector)),
            Kind::Punctuation => out.push_str(word),
            Kind::Number => {
                out.push_str(word);
                i = take_tail(&runs, i, &mut out);
                if separates(runs.get(i)) {
                    out.push(connector);
                }
            }
            _ => {
                out.extend(word.chars().map(lower));
                let number = runs.get(i).filter(|(kind, _)| *kind == Kind::Number);
                let after = runs.get(i + 1).map(|(kind, _)| *kind);
                match (number, after) {
                    (Some((_, digits)), Some(Kind::Letters)) => {
                        out.push(connector);
                        out.push_str(digits);
                        i = take_tail(&runs, i + 1, &mut out);
                    }
                    (Some((_, digits)), _) => {
                        out.push_str(digits);
                        i += 1;
                    }
                    _ => {}
                }
                if separates(runs.get(i)) {
                    out.push(connector);
                }
            }
        }
    }
    out
}

fn take_tail(runs: &[(Kind, &str)], mut i: usize, out: &mut String) -> usize {
    while let Some((Kind::Letters | Kind::Number, word)) = runs.get(i) {
        out.push_str(word);
        i += 1;
    }
    i
}
