//! Colour that means something, where somebody can see it. The words say the same without it.

use std::io::IsTerminal;

/// What a piece of text says about the thing it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// On its way.
    Working,
    /// Somebody should look.
    Bad,
    /// A heading.
    Strong,
    /// Worth knowing, seldom.
    Faint,
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Tone::Plain => None,
            Tone::Good => Some("32"),
            Tone::Working => Some("33"),
            Tone::Bad => Some("31"),
            Tone::Strong => Some("1"),
            Tone::Faint => Some("2"),
        }
    }

    /// Of a phase.
    pub(crate) fn of_phase(phase: &str) -> Tone {
        match phase {
            "Ready" => Tone::Good,
            "Failed" | "Degraded" => Tone::Bad,
            "" => Tone::Faint,
            _ => Tone::Working,
        }
    }

    /// Of a condition that is good when it is true.
    pub(crate) fn of_status(status: &str) -> Tone {
        match status {
            "True" => Tone::Good,
            "False" => Tone::Bad,
            _ => Tone::Working,
        }
    }
}

/// Whether and how wide one can paint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) colour: bool,
    /// Columns of the terminal; none where there is no terminal.
    pub(crate) width: Option<usize>,
}

impl Look {
    /// That of stdout. `NO_COLOR` and a terminal that cannot (`TERM=dumb`) turn colour off.
    pub(crate) fn of_stdout() -> Look {
        Look::of(std::io::stdout().is_terminal())
    }

    pub(crate) fn of_stderr() -> Look {
        Look::of(std::io::stderr().is_terminal())
    }

    fn of(is_terminal: bool) -> Look {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = is_terminal
            .then(terminal_size::terminal_size)
            .flatten()
            .map(|(width, _)| usize::from(width.0));
        Look {
            colour: is_terminal && !dumb && !set("NO_COLOR"),
            width,
        }
    }

    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        match tone.code().filter(|_| self.colour && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_a_text_is_itself() {
        let plain = Look {
            colour: false,
            width: None,
        };
        assert_eq!(plain.paint(Tone::Bad, "Failed"), "Failed");
        let painted = Look {
            colour: true,
            ..plain
        };
        assert_eq!(
            painted.paint(Tone::Bad, "Failed"),
            "\u{1b}[31mFailed\u{1b}[0m"
        );
        assert_eq!(painted.paint(Tone::Plain, "x"), "x");
    }
}
