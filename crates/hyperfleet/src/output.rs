//! How the program speaks: data on stdout, everything else on stderr.

use clap::ValueEnum;

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
