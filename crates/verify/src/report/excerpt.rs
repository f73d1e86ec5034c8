//! The line of a file that a finding is about, with a mark under the place.

use crate::guard::shown::is_hidden;

/// The most letters of a line that are shown, those around the place.
const WIDTH: usize = 100;

/// The text of a line, and the number of letters before the place. Line and column count from 1. `None` if there is no
/// such line. Omitted ends of a long line become `...`, control characters `\u{fffd}`.
///
/// ```
/// use collsynth_verify::report::excerpt::excerpt;
/// assert_eq!(excerpt("{\n  \"parts\": 0\n}", (2, 12)), Some(("\"parts\": 0".to_owned(), 9)));
/// ```
pub fn excerpt(text: &str, (line, column): (usize, usize)) -> Option<(String, usize)> {
    let whole = text.lines().nth(line.checked_sub(1)?)?.trim_end();
    let bare = whole.trim_start();
    let indent = whole[..whole.len() - bare.len()].chars().count();
    // Only the letters around the place are looked at again: lines can be as long as files.
    let place = column.saturating_sub(1 + indent);
    let ahead = bare.char_indices().nth(place).map_or(bare.len(), |(at, _)| at);
    let (left, right) = (&bare[..ahead], &bare[ahead..]);
    let count = |part: &str, most: usize| part.chars().take(most).count();
    let after = count(right, WIDTH - count(left, WIDTH / 2));
    let before = left.chars().rev().take(WIDTH - after).count();
    let start = left.char_indices().rev().take(before).last().map_or(ahead, |(at, _)| at);
    let end = right.char_indices().nth(after).map_or(bare.len(), |(at, _)| ahead + at);
    let (cut_before, cut_after) = (if start > 0 { "..." } else { "" }, if end < bare.len() { "..." } else { "" });
    let visible = |part: &str| part.chars().map(|letter| if letter == '\t' { ' ' } else { visible(letter) }).collect();
    let shown: String = visible(&bare[start..end]);
    Some((format!("{cut_before}{shown}{cut_after}"), cut_before.len() + before))
}

/// Stands for a letter that must not reach the terminal. One for one, so that columns stay right.
fn visible(letter: char) -> char {
    if is_hidden(letter) { char::REPLACEMENT_CHARACTER } else { letter }
}

/// The excerpt as two lines for people, or nothing.
///
/// ```text
///     12 | {"from": 0, "to": 5, "chunks": [3]}
///        |              ^
/// ```
pub fn marked(text: &str, place: (usize, usize)) -> String {
    match excerpt(text, place) {
        Some((shown, at)) => {
            let number = place.0.to_string();
            let margin = " ".repeat(number.len());
            let mark = " ".repeat(at);
            format!("    {number} | {shown}\n    {margin} | {mark}^\n")
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{excerpt, marked};

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("first\n  {}X{}\n", "a".repeat(300), "b".repeat(300));
        let (shown, at) = excerpt(&text, (2, 303)).unwrap();
        assert_eq!((shown.chars().nth(at), shown.len()), (Some('X'), 106));
        let (shown, at) = excerpt(&text, (2, 3)).unwrap();
        assert!(at == 0 && shown.starts_with("aaa") && shown.ends_with("aaa..."));
        let (shown, at) = excerpt(&text, (2, 9999)).unwrap();
        assert!(at == shown.len() && shown.starts_with("...b"));
        assert_eq!(excerpt("\u{1b}[31m\u{202e}x", (1, 7)), Some(("\u{fffd}[31m\u{fffd}x".to_owned(), 6)));
        assert_eq!((excerpt(&text, (3, 1)), excerpt(&text, (0, 0)), excerpt("", (1, 1))), (None, None, None));
        assert_eq!(marked("ä\tö x", (1, 5)), "    1 | ä ö x\n      |     ^\n");
    }
}
