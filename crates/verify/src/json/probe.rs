//! What kind of file a text is.

use serde::Deserialize;

/// Does the value of `format` in a text begin like this?
pub(super) fn states_format(text: &str, prefix: &str) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        format: String,
    }
    // The beginning suffices: no need to parse a large file twice.
    let start: String = text.chars().take(200).collect();
    let value = |rest: &'_ str| {
        let (_, rest) = rest.split_once('"')?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let head = start.split_once("\"format\"").and_then(|(_, rest)| value(rest));
    match head {
        Some(format) => format.starts_with(prefix),
        None => serde_json::from_str::<Probe>(text).is_ok_and(|probe| probe.format.starts_with(prefix)),
    }
}
