//! Chunks as people write and read them: `"3>7"`, `"3>7/1"`, `"5"`, `"5/0"`.

use crate::exact::narrow;
use thiserror::Error;

use super::{ChunkId, Collective};
use crate::topology::RankId;

/// Why a text names no chunk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum ChunkLabelError {
    #[error("`{text}` is no chunk of {kind}: write {expected}")]
    Form { text: String, kind: &'static str, expected: &'static str },
    #[error("`{text}`: {what} {number} is out of range: {what}s are 0 to {}", count.saturating_sub(1))]
    OutOfRange { text: String, what: &'static str, number: u32, count: u32 },
    #[error("`{text}`: not the ranks of one group")]
    NotInGroup { text: String },
}

/// What the numbers of a label count.
enum Form {
    /// `origin>dest/part`
    Pair,
    /// `rank/part`
    Rank,
    /// `part`
    Part,
    /// `group/part`
    Group,
}

impl Collective {
    /// The chunk as a label: `3>7/1` (origin, destination, part), `5/0` (rank, part) or `5` (part). An only part is
    /// left out.
    pub fn chunk_label(&self, ranks: u32, chunk: ChunkId) -> String {
        let parts = self.parts_of_block();
        let (owner, part) = (chunk.0 / parts, chunk.0 % parts);
        let (label, part, parts) = match (self.kind.demand(), self.form()) {
            (Some(demand), _) => {
                let (origin, dest) = demand.pair(chunk);
                let chunks = demand.chunks(origin, dest);
                (format!("{origin}>{dest}"), chunk.0 - chunks.start, narrow(chunks.len()))
            }
            (_, Form::Part) => return chunk.0.to_string(),
            (_, Form::Group) => (owner.to_string(), part, self.parts),
            (_, form) => {
                let (origin, dest) = self.owners_of(ranks, owner);
                (
                    if matches!(form, Form::Pair) { format!("{origin}>{dest}") } else { dest.to_string() },
                    part,
                    self.parts,
                )
            }
        };
        if parts > 1 { format!("{label}/{part}") } else { label }
    }

    /// Reads a label; a part that is left out is part 0.
    ///
    /// # Errors
    ///
    /// If the text does not have the form of this collective's labels, or a number in it is out of range.
    ///
    /// ```
    /// # use collsynth_core::collective::{ChunkId, Collective, Kind};
    /// let collective = Collective { kind: Kind::AllToAll, parts: 2 };
    /// assert_eq!(collective.parse_chunk(8, "3>7/1")?, ChunkId((3 * 8 + 7) * 2 + 1));
    /// # Ok::<(), collsynth_core::collective::ChunkLabelError>(())
    /// ```
    pub fn parse_chunk(&self, ranks: u32, text: &str) -> Result<ChunkId, ChunkLabelError> {
        let form = self.form();
        let wrong = || ChunkLabelError::Form {
            text: text.to_owned(),
            kind: self.kind.name(),
            expected: match form {
                Form::Pair => "\"origin>dest\" or \"origin>dest/part\"",
                Form::Rank => "\"rank\" or \"rank/part\"",
                Form::Part => "the number of the part",
                Form::Group => "\"group\" or \"group/part\"",
            },
        };
        let number = |text: &str| match text.bytes().all(|b| b.is_ascii_digit()) {
            true => text.parse::<u32>().map_err(|_| wrong()),
            false => Err(wrong()),
        };
        let within = |what, number: u32, count: u32| match number < count {
            true => Ok(number),
            false => Err(ChunkLabelError::OutOfRange { text: text.to_owned(), what, number, count }),
        };
        let (owner, part) = match text.split_once('/') {
            Some((owner, part)) if !matches!(form, Form::Part) => (owner, number(part)?),
            Some(_) => return Err(wrong()),
            None => (text, 0),
        };
        let id = match (&form, owner.split_once('>')) {
            (Form::Pair, Some((origin, dest))) => {
                let origin = within("rank", number(origin)?, ranks)?;
                let dest = within("rank", number(dest)?, ranks)?;
                let first = || {
                    let outside = || ChunkLabelError::NotInGroup { text: text.to_owned() };
                    self.first_chunk(ranks, RankId(origin), RankId(dest)).ok_or_else(outside)
                };
                match self.kind.demand() {
                    Some(demand) => {
                        let chunks = demand.chunks(RankId(origin), RankId(dest));
                        chunks.start + within("part", part, narrow(chunks.len()))?
                    }
                    None => first()?.0 + within("part", part, self.parts)?,
                }
            }
            (Form::Rank, None) => {
                let rank = RankId(within("rank", number(owner)?, ranks)?);
                let outside = || ChunkLabelError::NotInGroup { text: text.to_owned() };
                self.first_chunk(ranks, rank, rank).ok_or_else(outside)?.0 + within("part", part, self.parts)?
            }
            (Form::Group, None) => {
                let groups = self.kind.groups().map_or(0, |groups| narrow(groups.members().len()));
                let parts = self.parts_of_block();
                within("group", number(owner)?, groups)? * parts + within("part", part, parts)?
            }
            (Form::Part, None) => within("part", number(owner)?, self.chunk_count(ranks).unwrap_or(u32::MAX))?,
            _ => return Err(wrong()),
        };
        Ok(ChunkId(id))
    }

    /// The ranks that number a block of chunks.
    fn owners_of(&self, ranks: u32, block: u32) -> (RankId, RankId) {
        let owners = self.kind.owners();
        let split = |size: u32, block: u32| if owners == 2 { (block / size, block % size) } else { (block, block) };
        match self.kind.groups() {
            None => {
                let (origin, dest) = split(ranks, block);
                (RankId(origin), RankId(dest))
            }
            Some(groups) => {
                let (group, block) = groups.locate(owners, block);
                let members = &groups.members()[group as usize];
                let (origin, dest) = split(narrow(members.len()), block);
                (members[origin as usize], members[dest as usize])
            }
        }
    }

    fn form(&self) -> Form {
        match self.kind.owners() {
            0 if self.kind.groups().is_some() => Form::Group,
            0 => Form::Part,
            1 => Form::Rank,
            _ => Form::Pair,
        }
    }
}
