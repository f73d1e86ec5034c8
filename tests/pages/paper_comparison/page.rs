//! The page: written anew, or compared with what is published.

use std::fs;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/paper-comparison.md");

/// The page so far.
pub struct Page {
    text: String,
    published: String,
    /// Is the page written anew?
    update: bool,
}

impl Page {
    pub fn new() -> Self {
        let update = std::env::var_os("SYNTH_UPDATE_RESULTS").is_some();
        Self { text: String::new(), published: fs::read_to_string(PATH).unwrap_or_default(), update }
    }

    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The heading of a table.
    pub fn table(&mut self, headings: &[&str]) {
        let rule = vec!["---"; headings.len()].join("|");
        self.text.push_str(&format!("\n| {} |\n|{rule}|\n", headings.join(" | ")));
    }

    pub fn row<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| cell.to_string()).collect();
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }

    /// Writes the page, or checks that it is what is published.
    pub fn finish(self) {
        if self.update {
            fs::write(PATH, &self.text).unwrap();
        }
        let differs = self.text.lines().zip(self.published.lines()).find(|(new, old)| new != old);
        assert!(
            self.update || self.text == self.published,
            "docs/paper-comparison.md is not current; the first line that differs: {differs:?}"
        );
    }
}
