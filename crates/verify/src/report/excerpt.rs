//! The line of a file that a finding is about, with a mark under the place.

/// The most letters of a line that are shown, those around the place.
const WIDTH: usize = 100;

/// The text of a line, and the number of letters before the place. Line and column count from 1. `None` if there is no
/// such line. Omitted ends of a long line become `...`.
///
/// ```
/// use collsynth_verify::report::excerpt::excerpt;
/// assert_eq!(excerpt("{\n  \"parts\": 0\n}", (2, 12)), Some(("\"parts\": 0".to_owned(), 9)));
/// ```
pub fn excerpt(text: &str, (line, column): (usize, usize)) -> Option<(String, usize)> {
    let whole = text.lines().nth(line.checked_sub(1)?)?.trim_end();
    let indent = whole.chars().take_while(|letter| letter.is_whitespace()).count();
    let letters: Vec<char> =
        whole.chars().skip(indent).map(|letter| if letter == '\t' { ' ' } else { letter }).collect();
    let at = column.saturating_sub(1 + indent).min(letters.len());
    if letters.len() <= WIDTH {
        return Some((letters.into_iter().collect(), at));
    }
    let start = at.saturating_sub(WIDTH / 2).min(letters.len() - WIDTH);
    let end = start + WIDTH;
    let (before, after) = (if start > 0 { "..." } else { "" }, if end < letters.len() { "..." } else { "" });
    let shown: String = letters[start..end].iter().collect();
    Some((format!("{before}{shown}{after}"), before.len() + at - start))
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
        assert_eq!((excerpt(&text, (3, 1)), excerpt(&text, (0, 0)), excerpt("", (1, 1))), (None, None, None));
        assert_eq!(marked("ä\tö x", (1, 5)), "    1 | ä ö x\n      |     ^\n");
    }
}
