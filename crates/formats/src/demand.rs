//! Demand matrices: how many chunks each rank has for each rank, as CSV or as a JSON list of lists.

use serde_json::Value;
use thiserror::Error;

use collsynth_core::collective::Demand;
use collsynth_verify::json::{PathItem, locate};
use collsynth_verify::shown;

/// Why a text is not a machine's demand, and where (line and column from 1, the column in characters).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{line}:{column}: {message}")]
pub struct DemandError {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// A complete sentence without its full stop.
    pub message: String,
}

/// Reads the demand of a machine with `ranks` ranks: a row for each origin, with a chunk count for each destination. A
/// text that begins with `[` is JSON, any other CSV: a line for each row, commas between the numbers; blank lines are
/// skipped.
///
/// # Errors
///
/// The text is neither, an entry is not a chunk count, or the matrix is not square, does not match the machine, or has
/// more than `u32::MAX` chunks in total.
///
/// ```
/// use collsynth_formats::demand::parse_demand;
/// assert_eq!(parse_demand("0, 2\n1, 0\n", 2), parse_demand("[[0, 2], [1, 0]]", 2));
/// let error = parse_demand("0,2\n-1,0\n", 2).unwrap_err();
/// assert_eq!(error.to_string(), "2:1: -1 is negative: chunks are counted from 0");
/// ```
pub fn parse_demand(text: &str, ranks: u32) -> Result<Demand, DemandError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('[') {
        let rows = json_rows(text)?;
        let place = |row, column: Option<usize>| {
            let path = [Some(PathItem::Index(row)), column.map(PathItem::Index)];
            locate(text, &path.into_iter().flatten().collect::<Vec<_>>()).unwrap_or((1, 1))
        };
        demand(&rows, ranks, place)
    } else {
        let rows = csv_rows(text)?;
        let lines: Vec<(usize, &str)> = csv_lines(text).collect();
        let place = |row: usize, column: Option<usize>| {
            let (number, line) = lines[row];
            (number, csv_entries(line).nth(column.unwrap_or(0)).map_or(1, |(column, _)| column))
        };
        demand(&rows, ranks, place)
    }
}

/// `place` finds a row, or an entry of it, in the text.
fn demand(
    rows: &[Vec<u32>],
    ranks: u32,
    place: impl Fn(usize, Option<usize>) -> (usize, usize),
) -> Result<Demand, DemandError> {
    if rows.is_empty() {
        return Err(error((1, 1), "the demand is empty: it needs a row for each rank".to_owned()));
    }
    let count = rows.len();
    if let Some((index, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != count) {
        let surplus = (row.len() > count).then_some(count);
        let message = format!(
            "the demand is not square: row {} has {}, but there {}",
            index + 1,
            if row.len() == 1 { "1 entry".to_owned() } else { format!("{} entries", row.len()) },
            if count == 1 { "is 1 row".to_owned() } else { format!("are {count} rows") },
        );
        return Err(error(place(index, surplus), message));
    }
    if count != ranks as usize {
        let machine = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
        let message = format!("the demand is a {count}x{count} matrix, but the machine has {machine}");
        return Err(error(place(0, None), message));
    }
    let counts: Vec<u32> = rows.iter().flatten().copied().collect();
    Demand::new(ranks, &counts).ok_or_else(|| {
        let mut total = 0_u64;
        let beyond = counts.iter().position(|&count| {
            total += u64::from(count);
            total > u64::from(u32::MAX)
        });
        let cell = beyond.unwrap_or(0);
        error(
            place(cell / count, Some(cell % count)),
            format!("the demand is too large: more than {} chunks", u32::MAX),
        )
    })
}

fn json_rows(text: &str) -> Result<Vec<Vec<u32>>, DemandError> {
    if let Ok(rows) = serde_json::from_str(text) {
        return Ok(rows);
    }
    // Read it again, more slowly, to find the place.
    let wrong = |error: serde_json::Error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        self::error((error.line(), error.column().max(1)), format!("not a JSON list of lists: {message}"))
    };
    let rows: Vec<Value> = serde_json::from_str(text).map_err(wrong)?;
    let at = |path: &[PathItem<'_>]| locate(text, path).unwrap_or((1, 1));
    let read_row = |(index, row): (usize, &Value)| {
        let Value::Array(entries) = row else {
            return Err(error(at(&[PathItem::Index(index)]), "a row must be a list of numbers".to_owned()));
        };
        let read_entry = |(column, entry): (usize, &Value)| {
            let path = [PathItem::Index(index), PathItem::Index(column)];
            number(&entry.to_string()).map_err(|message| error(at(&path), message))
        };
        entries.iter().enumerate().map(read_entry).collect()
    };
    rows.iter().enumerate().map(read_row).collect()
}

fn csv_rows(text: &str) -> Result<Vec<Vec<u32>>, DemandError> {
    let read_row = |(line, row)| {
        let entries = csv_entries(row);
        entries.map(|(column, entry)| number(entry).map_err(|message| error((line, column), message))).collect()
    };
    csv_lines(text).map(read_row).collect()
}

/// The non-blank lines with their numbers.
fn csv_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(|(_, line)| !line.trim().is_empty())
}

/// The trimmed entries of a line with their columns.
fn csv_entries(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split(',').scan(1, |next, entry| {
        let space = entry.chars().take_while(|letter| letter.is_whitespace()).count();
        let column = *next + space;
        *next += entry.chars().count() + 1;
        Some((column, entry.trim()))
    })
}

fn number(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if whole => Ok(number),
        _ if text.is_empty() => Err("an entry is missing: write 0 where nothing is sent".to_owned()),
        _ if whole && digits.len() < text.len() => Err(format!("{text} is negative: chunks are counted from 0")),
        _ if whole => Err(format!("{} is too large: at most {} chunks can be counted", shortened(text), u32::MAX)),
        _ => Err(format!("`{}` is not a number of chunks: write a whole number", shortened(text))),
    }
}

fn shortened(text: &str) -> String {
    const LETTERS: usize = 24;
    if text.chars().count() <= LETTERS {
        return text.to_owned();
    }
    text.chars().take(LETTERS).chain("...".chars()).collect()
}

fn error((line, column): (usize, usize), message: String) -> DemandError {
    DemandError { line, column, message: shown::message(&message) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop, proptest};

    use super::parse_demand;

    #[test]
    fn csv_and_json_say_the_same() {
        let demand = parse_demand("[[0, 1], [2, 3]]", 2).unwrap();
        assert_eq!(demand.counts().collect::<Vec<_>>(), [0, 1, 2, 3]);
        for text in ["0,1\n2,3", "\u{feff} 0 ,\t1\r\n\r\n2,3\r\n", "\n [[0,1],\n[2,3]]\n"] {
            assert_eq!(parse_demand(text, 2).as_ref(), Ok(&demand), "{text:?}");
        }
    }

    #[test]
    fn errors_name_their_place() {
        let cases = [
            ("", "1:1: the demand is empty"),
            ("[]", "1:1: the demand is empty"),
            ("0,1\n2\n", "2:1: the demand is not square: row 2 has 1 entry, but there are 2 rows"),
            ("0,1,  2\n2,3,4\n", "1:7: the demand is not square: row 1 has 3 entries, but there are 2 rows"),
            ("[[0, 1],\n [2, 3, 4]]", "2:9: the demand is not square: row 2 has 3 entries"),
            ("0,1,2\n3,4,5\n6,7,8\n", "1:1: the demand is a 3x3 matrix, but the machine has 2 ranks"),
            ("0,1\n\n2, -3\n", "3:4: -3 is negative"),
            ("[[0,1],[2,-3]]", "1:11: -3 is negative"),
            ("0,1\n2,many\n", "2:3: `many` is not a number of chunks"),
            ("0,+1\n2,3\n", "1:3: `+1` is not a number of chunks"),
            ("[[0,1],[2,\"3\"]]", "1:11: `\"3\"` is not a number of chunks"),
            ("[[0,1],[2,1.5]]", "1:11: `1.5` is not a number of chunks"),
            ("[[0,1],7]", "1:8: a row must be a list of numbers"),
            ("[[0,1],[2,3]", "1:12: not a JSON list of lists: EOF"),
            ("0,1\n2,\n", "2:3: an entry is missing"),
            ("0,4294967296\n2,3\n", "1:3: 4294967296 is too large"),
            ("[[0,1],[4294967296,3]]", "1:9: 4294967296 is too large"),
            ("0,4294967295\n1,0\n", "2:1: the demand is too large"),
        ];
        for (text, expected) in cases {
            let error = parse_demand(text, 2).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), ranks in 1..4_u32) {
            let _ = parse_demand(&text, ranks);
        }

        #[test]
        fn nothing_like_a_matrix_makes_it_panic(text in "[\\[\\]{}0-9,\\-.e\" \nä]{0,40}", ranks in 1..4_u32) {
            let _ = parse_demand(&text, ranks);
            let _ = parse_demand(&format!("[{text}"), ranks);
        }

        #[test]
        fn every_matrix_is_read(
            rows in (1..5_usize).prop_flat_map(|size| prop::collection::vec(prop::collection::vec(0..99_u32, size), size)),
        ) {
            let line = |row: &Vec<u32>| row.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let lines = |separator: &str| rows.iter().map(line).collect::<Vec<_>>().join(separator);
            let ranks = rows.len() as u32;
            let read = parse_demand(&lines("\n"), ranks).unwrap();
            assert_eq!(read.counts().collect::<Vec<_>>(), rows.concat());
            assert_eq!(parse_demand(&format!("[[{}]]", lines("],[")), ranks), Ok(read));
        }
    }
}
