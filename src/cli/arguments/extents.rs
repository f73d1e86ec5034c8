//! Extents: numbers with `x` between them.

use std::str::FromStr;

/// `4x4x4`
#[derive(Clone)]
pub struct Extents(pub Vec<u32>);

impl FromStr for Extents {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents: Option<Vec<u32>> = text.split(['x', 'X']).map(|extent| extent.parse().ok()).collect();
        extents.map(Self).ok_or_else(|| {
            let words: Vec<&str> =
                text.split(|letter: char| !letter.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
            match text.contains([',', '*', '×', ' ', '-']) && !words.is_empty() {
                true => format!("write the extents with x between them; did you mean {}?", words.join("x")),
                false => "write the extents with x between them, as in 4x4x4".to_owned(),
            }
        })
    }
}

pub(crate) fn join<T: ToString>(items: &[T], separator: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(separator)
}
