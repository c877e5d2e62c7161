//! Asking before something is gone.

use std::io::{self, IsTerminal as _, Write as _};

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// There is no terminal: nobody can answer.
    NobodyThere,
}

/// Asks on stderr, where somebody can answer. Anything but yes is no.
pub(crate) fn confirm(question: &str) -> io::Result<Answer> {
    if !io::stdin().is_terminal() {
        return Ok(Answer::NobodyThere);
    }
    eprint!("{question} [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(match answer.trim() {
        "y" | "Y" | "yes" => Answer::Yes,
        _ => Answer::No,
    })
}
