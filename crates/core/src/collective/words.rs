//! Kinds of collectives as text.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Demand, Kind};
use crate::topology::RankId;

/// A word that names no kind of collective, or one that takes more than a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", self.sentence())]
pub struct UnknownKind {
    /// The word.
    pub word: String,
}

impl UnknownKind {
    fn sentence(&self) -> String {
        let demand = Kind::AllToAllV(Demand::default());
        match bare(&self.word) == bare(demand.name()) {
            true => format!("{demand} takes a demand, which no word states: build Kind::AllToAllV"),
            false => format!("no collective is called `{}`; there are {}", self.word, names().join(", ")),
        }
    }
}

/// The [name](Kind::name).
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A kind by its name, in any case and with `-`, `_` or nothing between its words; a rooted one at rank 0. all_to_allv
/// is not read: its demand is no word.
///
/// ```
/// # use collsynth_core::collective::Kind;
/// assert_eq!("AllReduce".parse(), Ok(Kind::AllReduce));
/// ```
impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let wanted = bare(word);
        let kind = kinds().into_iter().find(|kind| bare(kind.name()) == wanted);
        kind.ok_or_else(|| UnknownKind { word: word.to_owned() })
    }
}

fn kinds() -> Vec<Kind> {
    let every = Kind::every(RankId(0), Demand::default());
    every.into_iter().filter(|kind| kind.demand().is_none()).collect()
}

fn names() -> Vec<&'static str> {
    kinds().iter().map(Kind::name).collect()
}

/// Its letters and digits, in lower case.
fn bare(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_in_any_spelling() {
        for kind in kinds() {
            assert_eq!(kind.to_string().parse(), Ok(kind.clone()));
            assert_eq!(kind.name().replace('_', "-").to_uppercase().parse(), Ok(kind));
        }
        let refused = |word: &str| word.parse::<Kind>().unwrap_err().to_string();
        assert!(refused("alltoone").starts_with("no collective is called `alltoone`; there are all_to_all, "));
        let takes_more = "all_to_allv takes a demand, which no word states: build Kind::AllToAllV";
        assert_eq!(refused("all-to-all-v"), takes_more);
    }
}
