//! Aligned columns.

use std::fmt;

/// Between two columns.
const GAP: &str = "  ";

/// Rows of cells, printed in aligned columns, one line each, without trailing spaces.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    indent: usize,
}

impl Table {
    /// A table with these headings; without any, there is no heading line.
    pub fn new(headings: &[&str]) -> Self {
        let headings: Vec<String> = headings.iter().map(|&heading| heading.to_owned()).collect();
        Self { rows: if headings.is_empty() { Vec::new() } else { vec![headings] }, indent: 0 }
    }

    /// Moves the whole table this many spaces to the right.
    pub fn indented(mut self, spaces: usize) -> Self {
        self.indent = spaces;
        self
    }

    /// Adds a row. Rows may differ in length.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&format!("{cell:width$}{GAP}"));
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
    fn columns_are_aligned_and_lines_end_with_text() {
        let mut table = Table::new(&["a", "long"]).indented(1);
        table.row(["µs".to_owned(), String::new()]);
        table.row(["1".to_owned(), "2".to_owned(), "3".to_owned()]);
        assert_eq!(table.to_string(), " a   long\n µs\n 1   2     3\n");
    }
}
