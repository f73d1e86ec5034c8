//! The small values in the files: ranks, dimensions, operations, chunks, fractions.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor};

use super::FORMAT;
use collsynth_core::certificate::Rational;
use collsynth_core::schedule::Op;
use collsynth_core::topology::{DimRef, Direction, Switch};

/// The value of `format`: exactly this version.
pub(super) struct FormatEntry;

/// A rank: its number, or text (coordinates, `2.0.0`).
#[derive(Clone, Debug)]
pub(super) enum RankEntry {
    Number(u32),
    Text(Box<str>),
}

/// A dimension or a direction: `x`, `x+`.
#[derive(Deserialize)]
pub(super) struct DimEntry(#[serde(deserialize_with = "from_text")] pub DimRef);

/// A switch: `x:1,2`.
#[derive(Deserialize)]
pub(super) struct SwitchEntry(#[serde(deserialize_with = "from_text")] pub Switch);

/// A direction: `x+`.
#[derive(Deserialize)]
pub(super) struct DirectionEntry(#[serde(deserialize_with = "from_text")] pub Direction);

/// `copy` or `reduce`.
pub(super) struct OpEntry(pub Op);

/// A nonnegative number: an integer, or a fraction as text (`1024/31`).
#[derive(Clone, Copy, Debug)]
pub(super) struct RationalEntry(pub Rational);

/// The chunks of a transfer: numbers, and labels that have a meaning only once the collective is known.
pub(super) struct ChunkList {
    /// One entry per chunk; [`NO_CHUNK`] for labels and for numbers too large for any chunk.
    pub ids: Vec<u32>,
    /// Index and text of each label, ascending.
    pub labels: Vec<(usize, String)>,
}

/// Never the number of a chunk: there are at most `u32::MAX` of them.
pub(super) const NO_CHUNK: u32 = u32::MAX;

impl<'de> Deserialize<'de> for FormatEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)? {
            text if text == FORMAT => Ok(Self),
            text => Err(D::Error::invalid_value(Unexpected::Str(&text), &format!("\"{FORMAT}\"").as_str())),
        }
    }
}

impl<'de> Deserialize<'de> for RankEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RankVisitor;
        impl Visitor<'_> for RankVisitor {
            type Value = RankEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rank: its number, or its coordinates as in \"2.0.0\"")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<RankEntry, E> {
                let number =
                    u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))?;
                Ok(RankEntry::Number(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<RankEntry, E> {
                let well_formed = text.split('.').all(|part| part.parse::<u32>().is_ok() && !part.starts_with('+'));
                match well_formed {
                    true => Ok(text.parse().map_or_else(|_| RankEntry::Text(text.into()), RankEntry::Number)),
                    false => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(RankVisitor)
    }
}

fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(deserializer: D) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

impl Default for OpEntry {
    fn default() -> Self {
        Self(Op::Copy)
    }
}

impl<'de> Deserialize<'de> for OpEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "copy" => Ok(Self(Op::Copy)),
            "reduce" => Ok(Self(Op::Reduce)),
            other => Err(D::Error::custom(format!("unknown op `{other}`, expected `copy` or `reduce`"))),
        }
    }
}

impl<'de> Deserialize<'de> for RationalEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RationalVisitor;
        impl Visitor<'_> for RationalVisitor {
            type Value = RationalEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number that is not negative: an integer, or a fraction as in \"1024/31\"")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<RationalEntry, E> {
                Ok(RationalEntry(Rational::from_integer(i128::from(number))))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<RationalEntry, E> {
                let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
                let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                let number = |digits: &str| digits.parse::<i128>().ok().filter(|_| is_digits(digits));
                match (number(numerator), number(denominator).filter(|&denominator| denominator > 0)) {
                    (Some(numerator), Some(denominator)) => Ok(RationalEntry(Rational::new(numerator, denominator))),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(RationalVisitor)
    }
}

impl<'de> Deserialize<'de> for ChunkList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor;
        impl<'de> Visitor<'de> for ListVisitor {
            type Value = ChunkList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of chunks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ChunkList, A::Error> {
                let mut list = ChunkList { ids: Vec::new(), labels: Vec::new() };
                while items.next_element_seed(NextChunk(&mut list))?.is_some() {}
                Ok(list)
            }
        }
        deserializer.deserialize_seq(ListVisitor)
    }
}

/// Reads and appends one chunk.
struct NextChunk<'a>(&'a mut ChunkList);

impl<'de> DeserializeSeed<'de> for NextChunk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for NextChunk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a chunk: its number, or its label as in \"3>7/1\"")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.0.ids.push(u32::try_from(number).unwrap_or(NO_CHUNK));
        Ok(())
    }

    /// A whole number of 2^64 and more; 2^53 and more is whole anyway.
    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        match number >= 2_f64.powi(64) {
            true => self.visit_u64(u64::MAX),
            false => Err(E::invalid_type(Unexpected::Float(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.labels.push((self.0.ids.len(), text.to_owned()));
        self.0.ids.push(NO_CHUNK);
        Ok(())
    }
}
