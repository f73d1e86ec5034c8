//! Names of dimensions (`x y z w v u d6 ...`) and directions (`x+`, `x-`).

use crate::exact::dimension;
use std::fmt;
use std::str::FromStr;

use super::TopologyError;

const LETTERS: [char; 6] = ['x', 'y', 'z', 'w', 'v', 'u'];

/// The name of dimension `dim`, counted from 0: `x y z w v u`, then `d6`, `d7`, ...
pub fn dim_name(dim: u8) -> String {
    match LETTERS.get(usize::from(dim)) {
        Some(letter) => letter.to_string(),
        None => format!("d{dim}"),
    }
}

/// One of the two directions along a dimension of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Direction {
    /// The dimension, counted from 0.
    pub dim: u8,
    /// True if coordinates grow (`x+`; from the last position it wraps to the first).
    pub positive: bool,
}

impl Direction {
    /// The other direction along the same dimension.
    pub fn opposite(self) -> Self {
        Self { positive: !self.positive, ..self }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", dim_name(self.dim), if self.positive { '+' } else { '-' })
    }
}

/// A dimension (`x`), or one direction of it (`x+`), as people write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DimRef {
    /// Either direction of the dimension.
    Dim(u8),
    /// This direction alone.
    Direction(Direction),
}

impl DimRef {
    /// True if `direction` is the one named, or lies in the dimension named.
    pub fn matches(self, direction: Direction) -> bool {
        match self {
            Self::Dim(dim) => dim == direction.dim,
            Self::Direction(named) => named == direction,
        }
    }
}

impl fmt::Display for DimRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dim(dim) => f.write_str(&dim_name(*dim)),
            Self::Direction(direction) => direction.fmt(f),
        }
    }
}

impl FromStr for DimRef {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let unknown = || TopologyError::UnknownDimension { text: text.to_owned() };
        let (name, positive) = match text.as_bytes() {
            [.., b'+'] => (&text[..text.len() - 1], Some(true)),
            [.., b'-'] => (&text[..text.len() - 1], Some(false)),
            _ => (text, None),
        };
        let mut letters = name.chars();
        let dim = match (letters.next(), letters.as_str()) {
            (Some(letter), "") => dimension(LETTERS.iter().position(|&l| l == letter).ok_or_else(unknown)?),
            (Some('d'), number) if number.bytes().all(|b| b.is_ascii_digit()) => {
                number.parse().map_err(|_| unknown())?
            }
            _ => return Err(unknown()),
        };
        Ok(match positive {
            None => Self::Dim(dim),
            Some(positive) => Self::Direction(Direction { dim, positive }),
        })
    }
}

impl FromStr for Direction {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        match text.parse()? {
            DimRef::Direction(direction) => Ok(direction),
            DimRef::Dim(_) => Err(TopologyError::UnknownDimension { text: text.to_owned() }),
        }
    }
}
