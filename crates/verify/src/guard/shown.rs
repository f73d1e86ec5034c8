//! Text from files and arguments as it is shown to people: nothing in it can move the cursor, change colors, begin a
//! line or hide what is there. Every error in a file, every excerpt and every file name passes here.

use std::borrow::Cow;
use std::fmt::Write;

/// Letters of a message that are shown; more come from a file that wants to fill the screen.
const MOST: usize = 600;

/// A piece of one line: control characters (line breaks too) and those that change the direction of writing are written
/// as in Rust, `\u{1b}`.
///
/// ```
/// use collsynth_verify::shown::shown;
/// assert_eq!(shown("größer"), "größer");
/// assert_eq!(shown("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\nb");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Lines of text: line breaks stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter != '\n' && is_hidden(letter))
}

/// A message that quotes a file, on one line and of limited length.
pub fn message(text: &str) -> String {
    let start = text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end]);
    let cut = if start.len() < text.len() { "..." } else { "" };
    format!("{}{cut}", shown(start))
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            _ if !hidden(letter) => out.push(letter),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => {
                let _ = write!(out, "{}", letter.escape_unicode());
            }
        }
    }
    Cow::Owned(out)
}

/// Control characters, and those of Unicode that break lines, change the direction of writing or have no width.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{MOST, message, shown, shown_lines};

    #[test]
    fn nothing_hidden_is_left() {
        assert_eq!(shown("\u{9b}31m\u{7f}\0\r\t"), "\\u{9b}31m\\u{7f}\\u{0}\\r\\t");
        assert_eq!(shown("\u{202e}json.exe\u{2028}"), "\\u{202e}json.exe\\u{2028}");
        assert_eq!(shown_lines("one\ntwo\u{1b}"), "one\ntwo\\u{1b}");
        assert_eq!(message(&"x".repeat(MOST)).len(), MOST);
        assert_eq!(message(&"ö".repeat(9 * MOST)), format!("{}...", "ö".repeat(MOST)));
    }
}
