//! Groups of the ranks of a torus: by the dimensions that they span, or in boxes.

use std::collections::BTreeMap;

use collsynth_core::topology::{DimRef, RankId, Topology, Torus, dim_name};
use thiserror::Error;

/// Why a torus has no such groups.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum GroupingError {
    #[error("an explicit graph has no dimensions")]
    NoTorus,
    #[error("there is no dimension {}: the torus has {count}", dim_name(*dim))]
    NoDimension { dim: u8, count: usize },
    #[error("dimension {} is stated twice", dim_name(*dim))]
    DimensionTwice { dim: u8 },
    #[error("{} does not cut {} in equal boxes", joined(extents), joined(whole))]
    UnequalBoxes { extents: Vec<u32>, whole: Vec<u32> },
}

/// The dimensions of a text that names nothing else, in either case: `xy`, `d6`, `x,d6`.
pub fn dimensions(text: &str) -> Option<Vec<u8>> {
    let text = text.to_ascii_lowercase();
    let dim = |word: &str| match word.parse() {
        Ok(DimRef::Dim(dim)) => Some(dim),
        _ => None,
    };
    let by_letter = || text.chars().map(|letter| dim(&letter.to_string())).collect();
    text.split(',').map(dim).collect::<Option<Vec<u8>>>().or_else(by_letter).filter(|dims| !dims.is_empty())
}

/// A group for each position in the other dimensions: the ranks that differ in these dimensions only. Groups and their
/// members ascend, failed ranks included. O(ranks * dimensions).
///
/// ```
/// # use collsynth::{Topology, grouping::spanned};
/// let rows = spanned(&Topology::torus(&[4, 2])?, &[0])?;
/// assert_eq!(rows.len(), 2);
/// assert_eq!(rows[1].iter().map(|rank| rank.0).collect::<Vec<_>>(), [4, 5, 6, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the machine is no torus, or has no such dimension.
pub fn spanned(topology: &Topology, dims: &[u8]) -> Result<Vec<Vec<RankId>>, GroupingError> {
    let torus = topology.as_torus().ok_or(GroupingError::NoTorus)?;
    let count = torus.extents.len();
    if let Some(&dim) = dims.iter().find(|&&dim| usize::from(dim) >= count) {
        return Err(GroupingError::NoDimension { dim, count });
    }
    if let Some(&dim) = dims.iter().enumerate().find(|(at, dim)| dims[..*at].contains(dim)).map(|(_, dim)| dim) {
        return Err(GroupingError::DimensionTwice { dim });
    }
    let others: Vec<usize> = (0..count).filter(|&dim| !dims.iter().any(|&of| usize::from(of) == dim)).collect();
    Ok(classes(topology, |rank| others.iter().map(|&dim| torus.position(rank, dim)).collect()))
}

/// The torus cut in boxes of these extents. Groups and their members ascend, failed ranks included.
/// O(ranks * dimensions).
///
/// # Errors
///
/// If the machine is no torus, or there is not an extent for each dimension that divides it.
pub fn boxes(topology: &Topology, extents: &[u32]) -> Result<Vec<Vec<RankId>>, GroupingError> {
    let torus @ Torus { extents: whole, .. } = topology.as_torus().ok_or(GroupingError::NoTorus)?;
    let divides = |(&block, &whole): (&u32, &u32)| block > 0 && whole % block == 0;
    if extents.len() != whole.len() || !extents.iter().zip(whole).all(divides) {
        return Err(GroupingError::UnequalBoxes { extents: extents.to_vec(), whole: whole.clone() });
    }
    Ok(classes(topology, |rank| (0..extents.len()).map(|dim| torus.position(rank, dim) / extents[dim]).collect()))
}

/// The ranks with the same key, by their first.
fn classes(topology: &Topology, key: impl Fn(RankId) -> Vec<u32>) -> Vec<Vec<RankId>> {
    let ranks = (0..topology.rank_count() as u32).map(RankId);
    let mut groups: BTreeMap<Vec<u32>, Vec<RankId>> = BTreeMap::new();
    ranks.for_each(|rank| groups.entry(key(rank)).or_default().push(rank));
    let mut groups: Vec<Vec<RankId>> = groups.into_values().collect();
    groups.sort_unstable();
    groups
}

fn joined(extents: &[u32]) -> String {
    extents.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use collsynth_core::topology::Topology;

    use super::{GroupingError, boxes, dimensions, spanned};

    #[test]
    fn dimensions_are_letters_or_numbers() {
        assert_eq!(dimensions("xy"), Some(vec![0, 1]));
        assert_eq!(dimensions("XY"), Some(vec![0, 1]));
        assert_eq!(dimensions("x,d6"), Some(vec![0, 6]));
        assert_eq!(dimensions("d6"), Some(vec![6]));
        for text in ["", "q", "x+", "0-15", "groups.json", "2x2"] {
            assert_eq!(dimensions(text), None, "{text}");
        }
    }

    #[test]
    fn planes_and_boxes_cover_a_torus_once() {
        let torus = Topology::torus(&[4, 2, 2]).unwrap();
        for groups in [spanned(&torus, &[0, 2]).unwrap(), boxes(&torus, &[2, 2, 2]).unwrap()] {
            assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8]);
            let mut ranks: Vec<u32> = groups.concat().into_iter().map(|rank| rank.0).collect();
            ranks.sort_unstable();
            assert_eq!(ranks, (0..16).collect::<Vec<_>>());
        }
        let first: Vec<u32> = boxes(&torus, &[2, 1, 2]).unwrap()[0].iter().map(|rank| rank.0).collect();
        assert_eq!(first, [0, 1, 8, 9]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let torus = Topology::torus(&[4, 4]).unwrap();
        assert_eq!(spanned(&torus, &[0, 2]), Err(GroupingError::NoDimension { dim: 2, count: 2 }));
        for extents in [&[3, 2][..], &[4], &[4, 4, 1], &[0, 4]] {
            let refused = boxes(&torus, extents);
            assert!(matches!(refused, Err(GroupingError::UnequalBoxes { .. })), "{extents:?}: {refused:?}");
        }
    }
}
