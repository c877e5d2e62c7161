//! Columns for people.

use std::fmt;

use super::printable;

/// Between two columns.
const GAP: usize = 2;

/// Rows under heads; every column but the last is as wide as its widest cell.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(heads: [&str; N]) -> Self {
        Self {
            rows: vec![heads.map(str::to_owned)],
        }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| printable(&cell)));
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', width + GAP - cell.chars().count()));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
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
