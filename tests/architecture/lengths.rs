//! Files and comments stay short.

use crate::sources::sources;

/// More lines than this: split the file.
const LONGEST_FILE: usize = 600;

/// The width of comments; tables keep a row to a line, and rustfmt sees to code.
const LONGEST_LINE: usize = 120;

#[test]
fn files_and_lines_stay_short() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > LONGEST_FILE {
            broken.push(format!("{}: {lines} lines; split it", source.path.display()));
        }
        for (number, line) in source.text.lines().enumerate() {
            let width = line.chars().count();
            let comment = line.trim_start().starts_with("//") && !line.contains("//! |");
            if width > LONGEST_LINE && comment {
                broken.push(format!("{}:{}: {width} columns", source.path.display(), number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
