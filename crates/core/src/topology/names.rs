//! Names of ranks: the host names by which an operator knows them.

use super::{RankId, TopologyError};
use crate::exact::narrow;

/// The most bytes of a name, as of a host name in the DNS.
const LONGEST: usize = 253;

/// Refuses names that do not name every rank, or that could be taken for something else, in a list or on a terminal.
pub(super) fn check(names: &[String], ranks: u32) -> Result<(), TopologyError> {
    if names.is_empty() {
        return Ok(());
    }
    if names.len() != ranks as usize {
        return Err(TopologyError::WrongNameCount { names: names.len(), ranks });
    }
    let mut sorted: Vec<usize> = (0..names.len()).collect();
    sorted.sort_unstable_by_key(|&rank| (&names[rank], rank));
    let again = sorted.windows(2).filter(|pair| names[pair[0]] == names[pair[1]]).map(|pair| (pair[1], pair[0])).min();
    let wrong = names.iter().position(|name| !is_name(name));
    match (wrong, again) {
        (Some(rank), again) if again.is_none_or(|(later, _)| rank <= later) => {
            let name = names[rank].chars().take(40).collect();
            Err(TopologyError::NotAName { rank: RankId(narrow(rank)), name })
        }
        (_, Some((rank, first))) => Err(TopologyError::NameTwice {
            rank: RankId(narrow(rank)),
            first: RankId(narrow(first)),
            name: names[rank].clone(),
        }),
        (_, None) => Ok(()),
    }
}

/// ASCII letters, digits and `. - _ : / @`; it begins with a letter or digit and has a letter: it is neither a number
/// nor coordinates nor a range of ranks, and nothing on a terminal takes it for a command.
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:/@".contains(&byte);
    name.len() <= LONGEST
        && name.bytes().all(fits)
        && name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().any(|byte| byte.is_ascii_alphabetic())
}
