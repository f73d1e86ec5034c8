//! Names of ranks in messages of code that knows only their numbers.

use collsynth::topology::{RankId, Topology};

/// The message with the name of each rank: `rank 3 sent nothing` becomes `rank 3 node17 sent nothing`.
pub fn named(topology: &Topology, message: impl ToString) -> String {
    const WORD: &str = "rank ";
    let message = message.to_string();
    let mut pieces = message.split_inclusive(WORD);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.len() - piece.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (number, rest) = piece.split_at(digits);
        let name = number.parse().ok().and_then(|rank| topology.rank_name(RankId(rank)));
        text.push_str(number);
        // A label has the name already, after the coordinates if there are any.
        if let Some(name) = name.filter(|name| !rest.starts_with(" (") && !rest.starts_with(&format!(" {name}"))) {
            text.push_str(&format!(" {name}"));
        }
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use collsynth::topology::TopologySpec;

    use super::*;

    #[test]
    fn every_rank_gets_its_name_once() {
        let topology = Topology::new(TopologySpec::torus(&[3]).with_names(["a0", "b1", "c2"])).unwrap();
        let named = |message| named(&topology, message);
        assert_eq!(named("rank 1: rank 2 sent nothing"), "rank 1 b1: rank 2 c2 sent nothing");
        assert_eq!(
            named("rank 1 b1 and rank 0 a0, rank 7, rank x, at rank"),
            "rank 1 b1 and rank 0 a0, rank 7, rank x, at rank"
        );
        let unnamed = Topology::torus(&[3]).unwrap();
        assert_eq!(super::named(&unnamed, "rank 1 failed"), "rank 1 failed");
    }
}
