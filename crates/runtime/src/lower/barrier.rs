//! Barriers between steps: packets without slots (tokens).
//!
//! At a barrier, the local worker of a rank first waits for all its others. Between neighbors, each rank then sends a
//! token to every neighbor and continues once it has one from each. Among all ranks, tokens go up a tree to its root
//! and down another one; where links failed in one direction, the two differ.

use std::collections::{BTreeSet, VecDeque};

use super::ops::{Draft, Link};
use super::target::LowerError;
use collsynth_core::problem::Problem;
use collsynth_core::program::{Barriers, Slot};
use collsynth_core::topology::{LinkId, RankId, Topology};

pub(super) struct Barrier {
    kind: Barriers,
    /// Links toward the root, the farthest first; or those between neighbors.
    up: Vec<Link>,
    /// Links from the root, the nearest first.
    down: Vec<Link>,
    ranks: Vec<RankId>,
}

impl Barrier {
    /// A barrier for a schedule that uses these links.
    pub(super) fn new(problem: &Problem, used: &BTreeSet<Link>, kind: Barriers) -> Result<Self, LowerError> {
        // Tokens are no data: they may cross links that no chunk of a group may.
        let topology = problem.machine();
        let (up, down) = match kind {
            Barriers::None => (Vec::new(), Vec::new()),
            Barriers::Neighbor => (neighbors(topology, used)?, Vec::new()),
            Barriers::Global => {
                let mut up = tree(topology, false).ok_or(LowerError::NotConnected)?;
                up.reverse();
                (up, tree(topology, true).ok_or(LowerError::NotConnected)?)
            }
        };
        Ok(Self { kind, up, down, ranks: topology.live_ranks().collect() })
    }

    /// The links it needs channels on.
    pub(super) fn channels(&self) -> impl Iterator<Item = Link> + '_ {
        self.up.iter().chain(&self.down).copied()
    }

    /// Appends the barrier to the program.
    pub(super) fn add(&self, draft: &mut Draft) {
        if self.kind == Barriers::None {
            return;
        }
        for &rank in &self.ranks {
            draft.gather(rank);
        }
        match self.kind {
            Barriers::Neighbor => {
                self.up.iter().for_each(|&link| send_token(draft, link));
                self.up.iter().for_each(|&link| receive_token(draft, link));
            }
            _ => {
                for &link in self.up.iter().chain(&self.down) {
                    send_token(draft, link);
                    receive_token(draft, link);
                }
            }
        }
        for (channel, _) in draft.links() {
            draft.sender_follows(channel);
        }
    }
}

fn send_token(draft: &mut Draft, (from, to, via): Link) {
    let channel = draft.channel(from, to, via);
    if !draft.concerns(channel) {
        return;
    }
    draft.sender_follows(channel);
    draft.send(from, channel, Slot::input(0), 0);
}

fn receive_token(draft: &mut Draft, (from, to, via): Link) {
    let channel = draft.channel(from, to, via);
    if !draft.concerns(channel) {
        return;
    }
    draft.receive(to, channel, None, Slot::input(0), 0);
    draft.local_follows(channel);
}

/// The links that are used, and those in reverse.
fn neighbors(topology: &Topology, used: &BTreeSet<Link>) -> Result<Vec<Link>, LowerError> {
    let mut both: BTreeSet<Link> = used.clone();
    for &(from, to, _) in used {
        if both.range((to, from, None)..).next().is_none_or(|&(a, b, _)| (a, b) != (to, from)) {
            let back = topology.links_between(to, from).find(|&id| topology.link(id).alive);
            both.insert(named(topology, back.ok_or(LowerError::OneWay { from, to })?));
        }
    }
    Ok(both.into_iter().collect())
}

/// A link as transfers name it: with a direction only if two links join the same ranks.
fn named(topology: &Topology, id: LinkId) -> Link {
    let link = topology.link(id);
    let doubled = topology.links_between(link.from, link.to).count() > 1;
    (link.from, link.to, link.direction.filter(|_| doubled))
}

/// A tree of live links from or to the first live rank, the nearest first; `None` if some rank is out of reach.
fn tree(topology: &Topology, outwards: bool) -> Option<Vec<Link>> {
    let root = topology.live_ranks().next()?;
    let mut seen = vec![false; topology.rank_count()];
    seen[root.index()] = true;
    let (mut links, mut queue) = (Vec::new(), VecDeque::from([root]));
    while let Some(rank) = queue.pop_front() {
        let ids: Vec<LinkId> = match outwards {
            true => topology.links_from(rank).collect(),
            false => topology.links_into(rank).collect(),
        };
        for id in ids.into_iter().filter(|&id| topology.link(id).alive) {
            let link = topology.link(id);
            let other = if outwards { link.to } else { link.from };
            if !std::mem::replace(&mut seen[other.index()], true) {
                links.push(named(topology, id));
                queue.push_back(other);
            }
        }
    }
    (links.len() + 1 == topology.live_rank_count()).then_some(links)
}
