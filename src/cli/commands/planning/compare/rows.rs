//! Rows on standard output, as planners answer.

use collsynth::certificate::Bounds;
use collsynth::report::comparison::{Comparison, Machine, Tables};

use crate::cli::ending::Failure;
use crate::cli::io::output::Output;
use crate::cli::io::progress::Ticker;

/// The text of a comparison, as far as it is printed; nothing where the answer has another form or goes to a file.
pub struct Shown {
    tables: Option<Tables>,
    output: Output<'static>,
    is_several: bool,
    /// The bounds above the rows of this machine, and how many of its schedules have a row.
    above: Bounds,
    rows: usize,
}

impl Shown {
    pub fn new(tables: Option<Tables>, is_several: bool) -> Self {
        Self { tables, output: Output::standard(), is_several, above: Bounds::default(), rows: 0 }
    }

    /// What is above all machines.
    pub fn open(&mut self, ticker: &Ticker) -> Result<(), Failure> {
        self.print(ticker, Tables::opening)
    }

    /// What is above the schedules of a machine.
    pub fn head(&mut self, ticker: &Ticker, machine: &Machine) -> Result<(), Failure> {
        (self.above, self.rows) = (machine.bounds.clone(), 0);
        self.print(ticker, |tables| tables.heading(machine))
    }

    /// The schedules that have no row yet. Of several machines, all rows have the same bound: the last.
    pub fn rows(&mut self, ticker: &Ticker, machine: &Machine) -> Result<(), Failure> {
        if self.is_several {
            return Ok(());
        }
        let from = std::mem::replace(&mut self.rows, machine.entries.len());
        self.print(ticker, |tables| tables.rows(machine, &machine.entries[from..]))
    }

    /// What is below the schedules of a machine.
    pub fn end(&mut self, ticker: &Ticker, machine: &Machine) -> Result<(), Failure> {
        let (above, is_several) = (std::mem::take(&mut self.above), self.is_several);
        self.print(ticker, |tables| match is_several {
            true => tables.rows(machine, &machine.entries),
            false => tables.ending(machine, &above),
        })
    }

    /// What is below all machines; `false` if nothing of the answer is printed here.
    pub fn close(mut self, ticker: &Ticker, comparison: &Comparison) -> Result<bool, Failure> {
        self.print(ticker, |tables| tables.closing(comparison))?;
        Ok(self.tables.is_some())
    }

    fn print(&mut self, ticker: &Ticker, text: impl FnOnce(&Tables) -> String) -> Result<(), Failure> {
        let text = self.tables.as_ref().map(text).unwrap_or_default();
        if text.is_empty() { Ok(()) } else { ticker.aside(|| self.output.write(&text)) }
    }
}
