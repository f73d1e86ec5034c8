//! The places in the sources that tell people what to type.

use std::fs;
use std::path::{Path, PathBuf};

/// A text in a source that tells people what to type.
pub struct Site {
    /// The file, from the root of the project.
    pub file: String,
    pub line: usize,
    /// The text as it is printed, with `{}` where values stand.
    pub text: String,
}

/// A string literal in a source: from where to where it is, and what it says.
struct Literal {
    at: usize,
    end: usize,
    text: String,
}

/// What makes a text a hint wherever it stands.
const MARKS: [&str; 9] =
    ["`synth", "hint: ", "next: ", "did you mean ", ": write ", "write \"", ": use -", ", as in ", "are --"];

impl Site {
    /// Is this what was said? What stands between the values has to be there, in order.
    pub fn is_in(&self, said: &str) -> bool {
        let mut rest = said;
        self.pieces().iter().all(|piece| match rest.split_once(piece.as_str()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    }

    /// True if it is nothing but values.
    pub fn is_empty(&self) -> bool {
        self.pieces().is_empty()
    }

    /// What stands between the values.
    fn pieces(&self) -> Vec<String> {
        let text = self.text.replace("{{", "\u{1}").replace("}}", "\u{2}");
        let mut pieces = Vec::new();
        for (number, part) in text.split('{').enumerate() {
            let fixed = if number == 0 { part } else { part.split_once('}').map_or("", |(_, after)| after) };
            pieces.push(words(&fixed.replace('\u{1}', "{").replace('\u{2}', "}")));
        }
        pieces.retain(|piece| piece.chars().any(char::is_alphanumeric));
        pieces
    }
}

/// A text with single blanks, as terminals wrap lines.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All of them, by file.
pub fn sites() -> Vec<Site> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    for package in fs::read_dir(root.join("crates")).expect("a folder") {
        sources(&package.expect("an entry").path().join("src"), &mut files);
    }
    files.sort();
    files.iter().flat_map(|path| sites_of(path.strip_prefix(root).expect("found below"), path)).collect()
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, files),
            false if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs") => {
                files.push(path);
            }
            false => {}
        }
    }
}

fn sites_of(name: &Path, path: &Path) -> Vec<Site> {
    let text = fs::read_to_string(path).expect("a source");
    let text = &text[..text.find("#[cfg(test)]\nmod ").unwrap_or(text.len())];
    let literals = literals(text);
    let mut hinted: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, called) in text.match_indices(".hint(") {
        let inside = at + called.len()..closing(text, at + called.len());
        // What a name in it stands for, if it is bound in this file.
        let mut code = text[inside.clone()].to_owned();
        for literal in literals.iter().filter(|literal| inside.contains(&literal.at)).rev() {
            code.replace_range(literal.at - inside.start..literal.end - inside.start, " ");
        }
        for word in code.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            let bound = [format!("let {word} ="), format!("const {word}:"), format!("let {word} |")];
            let before = bound.iter().filter_map(|bound| text[..at].rfind(bound.as_str())).max();
            // Another function's is another.
            let is_near = |start: &usize| !word.is_empty() && !text[*start..at].contains("fn ");
            if let Some(start) = before.filter(is_near) {
                hinted.push(start..start + text[start..].find(";\n").unwrap_or(0));
            }
        }
        hinted.push(inside);
    }
    let is_site = |literal: &&Literal| {
        hinted.iter().any(|inside| inside.contains(&literal.at)) || MARKS.iter().any(|mark| literal.text.contains(mark))
    };
    let site = |literal: &Literal| Site {
        file: name.display().to_string(),
        line: text[..literal.at].matches('\n').count() + 1,
        text: literal.text.clone(),
    };
    literals.iter().filter(is_site).map(site).filter(|site| !site.is_empty() && site.text.contains(' ')).collect()
}

/// Where the bracket that is open here closes.
fn closing(text: &str, from: usize) -> usize {
    let strings = literals(&text[from..]);
    let mut depth = 1;
    for (at, letter) in text[from..].char_indices() {
        if strings.iter().any(|literal| literal.at < at && at < literal.end) {
            continue;
        }
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return from + at;
        }
    }
    text.len()
}

/// The string literals of a source, without those in comments.
fn literals(text: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut letters = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        match letter {
            '/' if text[at..].starts_with("//") => while letters.next_if(|(_, letter)| *letter != '\n').is_some() {},
            '\'' if text[at..].starts_with("'\"'") => drop((letters.next(), letters.next())),
            '"' => {
                let is_raw = before == '#' || before == 'r';
                let end = if before == '#' { "\"#" } else { "\"" };
                let (mut said, mut close) = (String::new(), at);
                while let Some((at, letter)) = letters.next() {
                    close = at;
                    match letter {
                        _ if text[at..].starts_with(end) => break,
                        '\\' if !is_raw => match letters.next() {
                            Some((_, '\n')) => while letters.next_if(|(_, letter)| letter.is_whitespace()).is_some() {},
                            Some((_, 'n')) => said.push('\n'),
                            Some((_, other)) => said.push(other),
                            None => {}
                        },
                        other => said.push(other),
                    }
                }
                found.push(Literal { at, end: close, text: said });
            }
            _ => {}
        }
        before = letter;
    }
    found
}
