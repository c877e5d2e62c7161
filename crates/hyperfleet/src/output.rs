//! How the program speaks: data on stdout, everything else on stderr.

mod age;
mod confirm;
mod grid;
mod table;
mod tone;

use clap::ValueEnum;

pub(crate) use self::age::{age, span};
pub(crate) use self::confirm::{Answer, confirm};
pub(crate) use self::grid::{Cell, Grid};
pub(crate) use self::table::Table;
pub(crate) use self::tone::{Look, Tone};

/// How to print data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Yaml,
}

/// One message: what failed, then why, each cause once.
pub(crate) fn failure(error: &anyhow::Error) {
    let mut message = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        // Many errors already tell their source; saying it twice helps nobody.
        if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    eprintln!("hyperfleet: {message}");
}

/// In one line, and nothing in it can steer the terminal: others wrote it.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}
