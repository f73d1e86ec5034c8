//! The page as it grows.

/// The page so far.
#[derive(Default)]
pub struct Page {
    text: String,
}

impl Page {
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
}

impl From<Page> for String {
    fn from(page: Page) -> Self {
        page.text
    }
}
