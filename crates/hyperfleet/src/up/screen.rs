//! A picture that is drawn over itself in a terminal; plain lines, one for each change, anywhere else.

use std::io::{IsTerminal, Write};

/// Where progress is shown.
pub(crate) struct Screen {
    live: bool,
    drawn: usize,
}

impl Screen {
    pub(crate) fn stdout() -> Screen {
        Screen {
            live: std::io::stdout().is_terminal(),
            drawn: 0,
        }
    }

    /// Shows the picture anew, or, without a terminal, only what is new in it.
    pub(crate) fn show(&mut self, picture: &[String], news: &[String]) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        if !self.live {
            for line in news {
                writeln!(out, "{line}")?;
            }
            return out.flush();
        }
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        write!(out, "{}", redrawn(self.drawn, picture, width))?;
        self.drawn = picture.len();
        out.flush()
    }
}

/// Goes up over what was drawn and writes every line anew. A line that wrapped would be two, so none does.
fn redrawn(drawn: usize, picture: &[String], width: usize) -> String {
    let mut text = match drawn {
        0 => String::new(),
        lines => format!("\x1b[{lines}A"),
    };
    for line in picture {
        let fitting: String = line.chars().take(width.saturating_sub(1)).collect();
        text.push_str(&fitting);
        text.push_str("\x1b[K\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_drawn_over_the_last_one_and_never_wraps() {
        let picture = ["one".to_owned(), "x".repeat(200)];
        let first = redrawn(0, &picture, 10);
        assert_eq!(first, format!("one\x1b[K\n{}\x1b[K\n", "x".repeat(9)));
        assert!(redrawn(2, &picture, 10).starts_with("\x1b[2Aone"));
    }
}
