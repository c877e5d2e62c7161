//! A whole table at once.

use std::fmt;

use super::grid::{Cell, Grid};
use super::tone::Look;

/// Rows under heads; every column but the last is as wide as its widest cell.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    heads: [String; N],
    rows: Vec<Vec<Cell>>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(heads: [&str; N]) -> Self {
        Self {
            heads: heads.map(str::to_owned),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.iter().map(Cell::new).collect());
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = Look {
            colour: false,
            width: None,
        };
        f.write_str(&Grid::new(&self.heads, plain).page(&self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_with_their_text() {
        let mut table = Table::new(["ID", "NAME", "X"]);
        table.row(["1".into(), "ü-long".into(), String::new()]);
        table.row(["22".into(), "\u{1b}[1mb\nc".into(), "y".into()]);
        let expected = "ID  NAME           X\n1   ü-long\n22  \\u{1b}[1mb\\nc  y\n";
        assert_eq!(table.to_string(), expected);
    }
}
