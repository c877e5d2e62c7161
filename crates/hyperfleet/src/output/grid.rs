//! Columns for people, page after page: aligned, painted, and no wider than the terminal.

use super::printable;
use super::tone::{Look, Tone};

/// Between two columns.
const GAP: usize = 2;
/// No column is cut below this.
const NARROWEST: usize = 8;

/// One cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Nothing in it can steer the terminal.
    pub(crate) fn new(text: impl AsRef<str>) -> Cell {
        Cell::toned(text, Tone::Plain)
    }

    pub(crate) fn toned(text: impl AsRef<str>, tone: Tone) -> Cell {
        Cell {
            text: printable(text.as_ref()),
            tone,
        }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Rows under heads. Widths are remembered, so that a later page lines up with the ones before.
#[derive(Debug)]
pub(crate) struct Grid {
    heads: Vec<String>,
    widths: Vec<usize>,
    look: Look,
    indent: usize,
    begun: bool,
}

impl Grid {
    pub(crate) fn new<H: AsRef<str>>(heads: impl IntoIterator<Item = H>, look: Look) -> Grid {
        let heads: Vec<String> = heads
            .into_iter()
            .map(|head| head.as_ref().to_owned())
            .collect();
        Grid {
            widths: heads.iter().map(|head| head.chars().count()).collect(),
            heads,
            look,
            indent: 0,
            begun: false,
        }
    }

    /// Every line begins this far to the right.
    pub(crate) fn indented(mut self, indent: usize) -> Grid {
        self.indent = indent;
        self
    }

    /// Leaves the heads out.
    pub(crate) fn without_heads(mut self) -> Grid {
        self.begun = true;
        self.widths.fill(0);
        self
    }

    /// The next page, with the heads in front of the first one.
    pub(crate) fn page(&mut self, rows: &[Vec<Cell>]) -> String {
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let fitting = self.fitting();
        let mut text = String::new();
        if !self.begun {
            self.begun = true;
            let heads: Vec<Cell> = self
                .heads
                .iter()
                .map(|head| Cell::toned(head, Tone::Strong))
                .collect();
            self.line(&heads, &fitting, &mut text);
        }
        for row in rows {
            self.line(row, &fitting, &mut text);
        }
        text
    }

    /// The widths that fit the terminal: the widest columns give way first.
    fn fitting(&self) -> Vec<usize> {
        let mut widths = self.widths.clone();
        let Some(available) = self.look.width else {
            return widths;
        };
        let gaps = GAP * widths.len().saturating_sub(1) + self.indent;
        loop {
            let total: usize = widths.iter().sum::<usize>() + gaps;
            let widest = widths.iter_mut().max();
            match widest {
                Some(widest) if total > available && *widest > NARROWEST => *widest -= 1,
                _ => return widths,
            }
        }
    }

    fn line(&self, row: &[Cell], widths: &[usize], text: &mut String) {
        text.extend(std::iter::repeat_n(' ', self.indent));
        // Blanks are due only before a cell that has something: no line ends with them.
        let mut due = 0;
        for (cell, width) in row.iter().zip(widths) {
            let shown = cut(&cell.text, *width);
            let length = shown.chars().count();
            if length > 0 {
                text.extend(std::iter::repeat_n(' ', due));
                due = 0;
                text.push_str(&self.look.paint(cell.tone, &shown));
            }
            due += width - length + GAP;
        }
        text.push('\n');
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Look = Look {
        colour: false,
        width: None,
    };

    fn row(cells: &[&str]) -> Vec<Cell> {
        cells.iter().map(Cell::new).collect()
    }

    #[test]
    fn a_later_page_lines_up_with_the_first_and_has_no_heads() {
        let mut grid = Grid::new(["NAME", "PHASE"], PLAIN);
        let first = grid.page(&[row(&["production", "Ready"])]);
        assert_eq!(first, "NAME        PHASE\nproduction  Ready\n");
        assert_eq!(
            grid.page(&[row(&["a", "Pending"])]),
            "a           Pending\n"
        );
    }

    #[test]
    fn the_widest_column_gives_way_to_the_terminal() {
        let narrow = Look {
            width: Some(24),
            ..PLAIN
        };
        let mut grid = Grid::new(["NAME", "MESSAGE"], narrow);
        let text = grid.page(&[row(&["abc", "a message that is much too long"])]);
        assert_eq!(text, "NAME  MESSAGE\nabc   a message that is…\n");
    }

    #[test]
    fn no_line_ends_with_blanks_and_no_cell_steers_the_terminal() {
        let mut grid = Grid::new(["A", "B", "C"], PLAIN).indented(2);
        let text = grid.page(&[row(&["\u{1b}[1m", "", ""]), row(&["", "x", ""])]);
        assert_eq!(text, "  A          B  C\n  \\u{1b}[1m\n             x\n");
    }

    proptest! {
        #[test]
        fn a_grid_fits_whenever_its_columns_may_be_cut(
            cells in prop::collection::vec(prop::collection::vec("[a-z ]{0,40}", 3), 1..5),
            width in 28usize..120,
        ) {
            let look = Look { width: Some(width), ..PLAIN };
            let rows: Vec<Vec<Cell>> = cells.iter().map(|row| row.iter().map(Cell::new).collect()).collect();
            let text = Grid::new(["A", "B", "C"], look).page(&rows);
            for line in text.lines() {
                prop_assert!(line.chars().count() <= width, "{line:?}");
            }
        }
    }
}
