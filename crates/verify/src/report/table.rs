//! Aligned columns.

use std::fmt;

/// Between two columns.
const GAP: &str = "  ";

/// Rows of cells, printed in aligned columns without trailing spaces.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    indent: usize,
}

#[derive(Clone, Debug)]
struct Row {
    cells: Vec<String>,
    /// The number of cells that count for the widths of their columns.
    measured: usize,
}

impl Row {
    fn width(&self, column: usize) -> Option<usize> {
        self.cells[..self.measured].get(column).map(|cell| cell.chars().count())
    }
}

impl Table {
    /// A table with these headings; without any, there is no heading line.
    pub fn new(headings: &[&str]) -> Self {
        Self::of(headings.iter().map(|&heading| heading.to_owned()).collect())
    }

    /// The same with owned headings.
    pub fn of(headings: Vec<String>) -> Self {
        let mut table = Self::default();
        if !headings.is_empty() {
            table.row(headings);
        }
        table
    }

    /// Indents the table.
    pub fn indented(mut self, spaces: usize) -> Self {
        self.indent = spaces;
        self
    }

    /// Adds a row. Rows may differ in length.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        self.rows.push(Row { measured: cells.len(), cells });
    }

    /// Adds a row of a name and a text that may be longer than its column.
    pub fn remark(&mut self, name: &str, text: String) {
        self.rows.push(Row { cells: vec![name.to_owned(), text], measured: 1 });
    }
}

impl Table {
    /// The lines, each as wide as all columns and with a gap at its end, so that more may follow.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.width(column)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        self.rows.iter().map(move |row| {
            let mut line = " ".repeat(self.indent);
            for (cell, width) in row.cells.iter().zip(&widths) {
                line.push_str(&format!("{cell:width$}{GAP}"));
            }
            line
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
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
        table.remark("n", "longer".to_owned());
        assert_eq!(table.to_string(), " a   long\n µs\n 1   2     3\n n   longer\n");
    }
}
