//! Kinds of collectives as data: the rest of the workspace reads a kind's line in [`Kind::data`], so no kind has code
//! of its own elsewhere.

use crate::exact::narrow;
use std::sync::Arc;

use super::{Demand, Groups};
use crate::topology::RankId;

/// A kind of collective with its root, demand or groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every rank has a message for every rank.
    AllToAll,
    /// An all-to-all in which each pair has its own number of chunks: `demand[origin][dest]`.
    AllToAllV(Demand),
    /// Every rank's shard reaches every rank.
    AllGather,
    /// The sum over all ranks of shard `d` reaches rank `d`.
    ReduceScatter,
    /// The sum over all ranks of the vector reaches every rank.
    AllReduce,
    /// The root's message reaches every rank.
    Broadcast(RankId),
    /// The sum over all ranks of the vector reaches the root.
    Reduce(RankId),
    /// The root's message for each rank reaches it.
    Scatter(RankId),
    /// Every rank's message reaches the root.
    Gather(RankId),
    /// Every rank learns that every rank has arrived.
    Barrier,
    /// An all-gather of values that cannot be added in flight; each rank reduces them afterwards.
    AllReduceGathered,
    /// One of the others, but for all_to_allv, in each of several groups at once; see [`Kind::in_groups`].
    InGroups(Arc<InGroups>),
}

/// A kind of collective, and the groups that carry it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InGroups {
    /// What each group does; a root is the place of a member in its group, not the number of a rank.
    pub kind: Kind,
    /// The groups.
    pub groups: Groups,
}

/// Who holds a chunk at one end of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The rank in the chunk's number: its origin before, its destination after.
    Owner,
    /// The root, every chunk.
    Root(RankId),
    /// Every rank, every chunk.
    Every,
}

/// What `reduce` does with two values of the same chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// It is an error: the chunk moves unchanged.
    Never,
    /// It adds them; a contribution in both would count twice, which is an error.
    Sum,
    /// It joins them; a contribution may be in both (a barrier's arrivals).
    Union,
}

/// At how many ranks each chunk is before and after: all that evidence for bounds depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// From one rank to one rank.
    OneToOne,
    /// From one rank to every rank.
    OneToEvery,
    /// From every rank to one rank.
    EveryToOne,
    /// From every rank to every rank.
    EveryToEvery,
}

/// What a volume of 1 is, and what is cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// What one rank owes another, or all others.
    Message,
    /// A rank's share of the whole.
    Shard,
    /// All that is summed.
    Vector,
}

/// The data of a kind.
#[derive(Clone, Copy)]
pub(super) struct Data {
    pub name: &'static str,
    pub before: Who,
    pub after: Who,
    pub combining: Combining,
    pub unit: Unit,
}

impl Kind {
    /// Asked for every chunk, of which there may be a hundred million.
    #[inline]
    pub(super) fn data(&self) -> Data {
        use Combining::{Never, Sum, Union};
        use Unit::{Message, Shard, Vector};
        use Who::{Every, Owner, Root};
        let (name, before, after, combining, unit) = match *self {
            Self::AllToAll => ("all_to_all", Owner, Owner, Never, Message),
            Self::AllToAllV(_) => ("all_to_allv", Owner, Owner, Never, Message),
            Self::AllGather => ("all_gather", Owner, Every, Never, Shard),
            Self::ReduceScatter => ("reduce_scatter", Every, Owner, Sum, Shard),
            Self::AllReduce => ("all_reduce", Every, Every, Sum, Vector),
            Self::Broadcast(root) => ("broadcast", Root(root), Every, Never, Message),
            Self::Reduce(root) => ("reduce", Every, Root(root), Sum, Vector),
            Self::Scatter(root) => ("scatter", Root(root), Owner, Never, Message),
            Self::Gather(root) => ("gather", Owner, Root(root), Never, Message),
            Self::Barrier => ("barrier", Every, Every, Union, Vector),
            Self::AllReduceGathered => return Data { name: "all_reduce_gathered", ..Self::AllGather.data() },
            Self::InGroups(ref of) => return of.kind.data(),
        };
        Data { name, before, after, combining, unit }
    }

    /// Every kind, in the order of the enum: rooted ones at `root`, all-to-allv with `demand`.
    pub fn every(root: RankId, demand: Demand) -> [Self; 11] {
        [
            Self::AllToAll,
            Self::AllToAllV(demand),
            Self::AllGather,
            Self::ReduceScatter,
            Self::AllReduce,
            Self::Broadcast(root),
            Self::Reduce(root),
            Self::Scatter(root),
            Self::Gather(root),
            Self::Barrier,
            Self::AllReduceGathered,
        ]
    }

    /// The same in each of these groups, instead of those that were stated before. A root is then the place of a member
    /// in its group, from 0.
    ///
    /// ```
    /// # use collsynth_core::{collective::{Groups, Kind}, topology::RankId};
    /// let groups = Groups::new(vec![vec![RankId(0), RankId(1)], vec![RankId(2), RankId(3)]])?;
    /// let kind = Kind::AllReduce.in_groups(groups);
    /// assert_eq!((kind.name(), kind.of_each()), ("all_reduce", &Kind::AllReduce));
    /// # Ok::<(), collsynth_core::collective::GroupsError>(())
    /// ```
    pub fn in_groups(self, groups: Groups) -> Self {
        Self::InGroups(Arc::new(InGroups { kind: self.of_each().clone(), groups }))
    }

    /// The groups, if not all ranks take part together.
    pub fn groups(&self) -> Option<&Groups> {
        match self {
            Self::InGroups(of) => Some(&of.groups),
            _ => None,
        }
    }

    /// What each group does; without groups, the kind itself.
    pub fn of_each(&self) -> &Self {
        match self {
            Self::InGroups(of) => &of.kind,
            _ => self,
        }
    }

    /// The kind of this name, if there is one: a rooted one at `root`, all-to-allv with `demand`.
    ///
    /// ```
    /// # use collsynth_core::{collective::{Demand, Kind}, topology::RankId};
    /// assert_eq!(Kind::named("gather", RankId(3), Demand::default()), Some(Kind::Gather(RankId(3))));
    /// ```
    pub fn named(name: &str, root: RankId, demand: Demand) -> Option<Self> {
        Self::every(root, demand).into_iter().find(|kind| kind.name() == name)
    }

    /// The name in files and on the command line.
    pub fn name(&self) -> &'static str {
        self.data().name
    }

    /// Who holds a chunk before.
    pub fn before(&self) -> Who {
        self.data().before
    }

    /// Who must hold a chunk after.
    pub fn after(&self) -> Who {
        self.data().after
    }

    /// What `reduce` does.
    pub fn combining(&self) -> Combining {
        self.data().combining
    }

    /// What a volume of 1 is.
    pub fn unit(&self) -> Unit {
        self.data().unit
    }

    /// At how many ranks each chunk is before and after.
    pub fn pattern(&self) -> Pattern {
        match (self.before(), self.after()) {
            (Who::Every, Who::Every) => Pattern::EveryToEvery,
            (Who::Every, _) => Pattern::EveryToOne,
            (_, Who::Every) => Pattern::OneToEvery,
            _ => Pattern::OneToOne,
        }
    }

    /// How many ranks number a chunk: origin and destination, the owner alone, or none.
    pub fn owners(&self) -> u32 {
        narrow([self.before(), self.after()].into_iter().filter(|&who| who == Who::Owner).count())
    }

    /// The root, for the kinds that have one. In groups, none: each has its own, see [`Kind::roots`].
    pub fn root(&self) -> Option<RankId> {
        self.stated_root().filter(|_| self.groups().is_none())
    }

    /// The roots: one, or one for each group; none of kinds without. Places beyond the members of a group are left out.
    pub fn roots(&self) -> Vec<RankId> {
        match (self.groups(), self.stated_root()) {
            (Some(groups), Some(place)) => {
                groups.members().iter().filter_map(|members| members.get(place.index())).copied().collect()
            }
            (None, root) => root.into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The root as stated: a rank or, in groups, a place among the members.
    pub fn stated_root(&self) -> Option<RankId> {
        match (self.before(), self.after()) {
            (Who::Root(root), _) | (_, Who::Root(root)) => Some(root),
            _ => None,
        }
    }

    /// May a rank be among those that hold a chunk? In groups, only members are.
    pub fn includes(&self, who: Who, rank: RankId) -> bool {
        match (self.groups().map(|groups| groups.place(rank)), who) {
            (None, _) => who.includes(rank),
            (Some(None), _) => false,
            (Some(Some((_, place))), Who::Root(root)) => root.0 == place,
            (Some(Some(_)), _) => true,
        }
    }

    /// True if what moves goes to the root: reduce and gather.
    pub fn is_to_root(&self) -> bool {
        matches!(self.after(), Who::Root(_))
    }

    /// The chunk counts of an all-to-allv.
    pub fn demand(&self) -> Option<&Demand> {
        match self.of_each() {
            Self::AllToAllV(demand) => Some(demand),
            _ => None,
        }
    }

    /// True except for a barrier, which has steps but no volume.
    pub fn has_volume(&self) -> bool {
        self.combining() != Combining::Union
    }

    /// True if messages can be cut into any number of parts. A barrier has one chunk; a demand counts its chunks
    /// itself.
    pub fn can_be_cut(&self) -> bool {
        self.has_volume() && self.demand().is_none()
    }

    /// True if values are added, on their way or once they are gathered.
    pub fn adds(&self) -> bool {
        self.combining() == Combining::Sum || self.reduces_afterwards()
    }

    /// True if each rank reduces the values it has gathered.
    pub fn reduces_afterwards(&self) -> bool {
        *self.of_each() == Self::AllReduceGathered
    }

    /// The kind as callers see it: an all-reduce if each rank reduces afterwards.
    pub fn called(&self) -> Self {
        match self.groups() {
            Some(groups) if self.reduces_afterwards() => Self::AllReduce.in_groups(groups.clone()),
            None if self.reduces_afterwards() => Self::AllReduce,
            _ => self.clone(),
        }
    }
}

impl Who {
    /// True if the rank may hold chunks, where all ranks take part together; see [`Kind::includes`].
    pub(crate) fn includes(self, rank: RankId) -> bool {
        match self {
            Self::Root(root) => root == rank,
            Self::Owner | Self::Every => true,
        }
    }
}

impl Unit {
    /// The noun for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Shard => "shard",
            Self::Vector => "vector",
        }
    }
}
