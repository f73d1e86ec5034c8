//! Groups: disjoint sets of ranks that carry out the same collective, each for itself and all at once.

use crate::exact::narrow;
use thiserror::Error;

use crate::topology::{MAX_RANKS, RankId};

/// Disjoint groups of ranks. The order of a group's members numbers their chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    members: Vec<Vec<RankId>>,
    ascending: Vec<Vec<RankId>>,
    /// By rank: its group, and its place among the members. Ranks beyond the last member have no entry.
    places: Vec<Option<(u32, u32)>>,
    /// `before[owners][group]`: the sum of `members ^ owners` over the groups before, then over all.
    before: [Vec<u64>; 3],
    relays: bool,
}

/// Why lists of ranks make no groups.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum GroupsError {
    #[error("no group is given")]
    None,
    #[error("group {group} has no member")]
    Empty { group: usize },
    #[error("rank {rank} is in a group twice: groups are disjoint")]
    Twice { rank: RankId },
    #[error("rank {rank} is out of range")]
    OutOfRange { rank: RankId },
}

impl Groups {
    /// Groups of these members, in which ranks outside a group may relay its chunks. O(highest rank + members).
    ///
    /// # Errors
    ///
    /// If there is no group, a group has no member, or a rank is listed twice.
    ///
    /// ```
    /// # use collsynth_core::{collective::Groups, topology::RankId};
    /// let groups = Groups::new(vec![vec![RankId(0), RankId(1)], vec![RankId(5), RankId(4)]])?;
    /// assert_eq!(groups.place(RankId(4)), Some((1, 1)));
    /// assert_eq!(groups.place(RankId(2)), None);
    /// # Ok::<(), collsynth_core::collective::GroupsError>(())
    /// ```
    pub fn new(members: Vec<Vec<RankId>>) -> Result<Self, GroupsError> {
        let mut places: Vec<Option<(u32, u32)>> = Vec::new();
        let mut before = [vec![0], vec![0], vec![0]];
        for (group, ranks) in members.iter().enumerate() {
            if ranks.is_empty() {
                return Err(GroupsError::Empty { group });
            }
            for (index, &rank) in ranks.iter().enumerate() {
                if u64::from(rank.0) >= MAX_RANKS {
                    return Err(GroupsError::OutOfRange { rank });
                }
                places.resize(places.len().max(rank.index() + 1), None);
                if places[rank.index()].replace((narrow(group), narrow(index))).is_some() {
                    return Err(GroupsError::Twice { rank });
                }
            }
            for (owners, before) in before.iter_mut().enumerate() {
                before.push(before[group] + (ranks.len() as u64).pow(narrow(owners)));
            }
        }
        if members.is_empty() {
            return Err(GroupsError::None);
        }
        let mut ascending = members.clone();
        ascending.iter_mut().for_each(|ranks| ranks.sort_unstable());
        Ok(Self { members, ascending, places, before, relays: true })
    }

    /// The same, but only members of a group may hold its chunks, unless `relays`.
    pub fn with_relays(self, relays: bool) -> Self {
        Self { relays, ..self }
    }

    /// May ranks outside a group hold its chunks on their way?
    pub fn may_relay(&self) -> bool {
        self.relays
    }

    /// The members of each group, in their order.
    pub fn members(&self) -> &[Vec<RankId>] {
        &self.members
    }

    /// The members of a group by number.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    pub fn ascending(&self, group: u32) -> &[RankId] {
        &self.ascending[group as usize]
    }

    /// The group of a rank, and its place among the members; `None` if it is in none.
    pub fn place(&self, rank: RankId) -> Option<(u32, u32)> {
        self.places.get(rank.index()).copied().flatten()
    }

    /// Are both ranks members of one group?
    pub fn join(&self, one: RankId, other: RankId) -> bool {
        let group = |rank| self.place(rank).map(|(group, _)| group);
        group(one).is_some_and(|of| group(other) == Some(of))
    }

    /// The highest rank in a group.
    pub fn highest(&self) -> RankId {
        RankId(narrow(self.places.len()) - 1)
    }

    /// The number of blocks of chunks: one for each pair of members (2 owners), each member (1), or each group (0).
    pub(super) fn blocks(&self, owners: u32) -> u64 {
        self.before[owners as usize][self.members.len()]
    }

    /// The first block of a group.
    pub(super) fn first_block(&self, owners: u32, group: u32) -> u64 {
        self.before[owners as usize][group as usize]
    }

    /// The group of a block, and its number in the group. O(log groups).
    pub(super) fn locate(&self, owners: u32, block: u32) -> (u32, u32) {
        let before = &self.before[owners as usize];
        let group = before.partition_point(|&first| first <= u64::from(block)) - 1;
        let group = group.min(self.members.len() - 1);
        (narrow(group), narrow(u64::from(block) - before[group]))
    }
}
