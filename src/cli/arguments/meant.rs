//! What was probably meant by a failed cable that cannot be read: alarms write them in many ways.

/// Words that say nothing. Hosts are not numbered as ranks are: `node5` is a name.
const EMPTY: [&str; 7] = ["rank", "chip", "port", "dim", "link", "cable", "to"];

/// The cables that a text seems to name, each as `--fail` takes it: of `2 -> 3`, `(2,0,0) x+`, `rank 2: +x` or
/// `0,1; 2,3`. `None` if it has no two words to make one of.
pub fn cables_meant(text: &str) -> Option<Vec<String>> {
    let text = text.trim().to_ascii_lowercase().replace("->", " ").replace('\u{2192}', " ");
    let inner = text.strip_prefix(['(', '[']).and_then(|text| text.strip_suffix([')', ']']));
    let text = inner.filter(|inner| !inner.contains(['(', '['])).unwrap_or(&text);
    let mut plain = String::new();
    let mut is_within = false;
    for letter in text.chars() {
        match letter {
            '(' | '[' | '{' => is_within = true,
            ')' | ']' | '}' => (is_within, plain) = (false, plain + " "),
            ',' | ':' if is_within => plain.push('.'),
            ' ' if is_within => {}
            ',' | ';' | ':' | '/' | '|' => plain.push(' '),
            letter => plain.push(letter),
        }
    }
    let words: Vec<String> = plain.split_whitespace().flat_map(pieces).collect();
    let is_dim = |word: &String| word.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let cables: Vec<String> = match words.len() {
        2 | 3 => vec![words.join(",")],
        count if count >= 4 && count % 2 == 0 && !words.iter().any(is_dim) => {
            words.chunks(2).map(|ends| ends.join(",")).collect()
        }
        _ => return None,
    };
    Some(cables)
}

/// A word as one or two of ours: `rank2` is 2, `+x` is x+, `2.x+` is 2 and x+, `2-3` is 2 and 3.
fn pieces(word: &str) -> Vec<String> {
    let numbered = EMPTY.iter().find_map(|empty| word.strip_prefix(empty)).unwrap_or(word);
    let numbered = numbered.trim_matches(['-', '_', '#', '=']);
    let word = if word.ends_with(['+', '-']) && !numbered.is_empty() { word } else { numbered };
    if word.is_empty() {
        return Vec::new();
    }
    if let Some(sign) = word.chars().next().filter(|sign| ['+', '-'].contains(sign)) {
        return vec![format!("{}{sign}", &word[1..])];
    }
    let parts = word.rsplit_once('.').filter(|(_, dim)| dim.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    let parts =
        parts.or_else(|| word.split_once('-').filter(|(_, to)| to.starts_with(|letter: char| letter.is_ascii_digit())));
    parts.map_or_else(|| vec![word.to_owned()], |(first, second)| vec![first.to_owned(), second.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::cables_meant;

    #[test]
    fn what_alarms_write_is_understood() {
        for (text, meant) in [
            ("0:1", "0,1"),
            ("0 1", "0,1"),
            ("2 3 x", "2,3,x"),
            ("2->3", "2,3"),
            ("2 -> 3", "2,3"),
            ("2/3", "2,3"),
            ("[2,3]", "2,3"),
            ("5 x+", "5,x+"),
            ("2:x+", "2,x+"),
            ("2.x+", "2,x+"),
            ("2,+x", "2,x+"),
            ("rank2 x+", "2,x+"),
            ("rank 2, port x-", "2,x-"),
            ("(1,2,3) x-", "1.2.3,x-"),
            ("(2,0,0)-(3,0,0)", "2.0.0,3.0.0"),
            ("[2, 0, 0], [3, 0, 0]", "2.0.0,3.0.0"),
            ("0,1;2,3", "0,1 2,3"),
            ("2,3 4,5", "2,3 4,5"),
            ("2,3,4,5", "2,3 4,5"),
        ] {
            assert_eq!(cables_meant(text).map(|cables| cables.join(" ")).as_deref(), Some(meant), "{text}");
        }
        for text in ["", "1.2.3", "x", "2,3,4", "2 x+ 3 y+", "\u{2192}"] {
            let three = text == "2,3,4";
            assert_eq!(cables_meant(text).is_some(), three, "{text}");
        }
    }
}
