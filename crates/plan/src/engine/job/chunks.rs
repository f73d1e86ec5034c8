//! The chunks of all collectives of a job as trees to route.

use collsynth_core::collective::{ChunkId, Holders, Pattern};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, RankId};

use crate::model::moves::Moves;
use crate::model::network::{Network, WAIT};
use crate::search::tree_routing::{RoutedTrees, TimedNetwork, TreeSpec};

/// Trees, and whose they are.
pub(super) struct Chunks {
    /// Two for each collective, all with the same slots: forward, for chunks that spread; backward, over reversed
    /// links, for those that are collected.
    pub networks: Vec<TimedNetwork>,
    pub specs: Vec<TreeSpec>,
    /// The chunk of each tree.
    chunks: Vec<ChunkId>,
    least_steps: u32,
    /// How many of the trees are paths.
    pub paths: usize,
}

impl Chunks {
    pub fn new(problems: &[Problem]) -> Self {
        let mut all = Self { networks: Vec::new(), specs: Vec::new(), chunks: Vec::new(), least_steps: 0, paths: 0 };
        for problem in problems {
            let sets = target_sets(problem);
            let live: Vec<LinkId> = problem.machine().live_links().collect();
            for network in [Network::new(problem), Network::reversed(problem)] {
                // A column for every live link of the machine: one collective may use some that another may not.
                let column = network.ids.iter().map(|id| live.partition_point(|other| other < id) as u32).collect();
                let capacity = live.iter().map(|&id| problem.machine().link(id).capacity).collect();
                let timed = TimedNetwork::with_columns(network, column, capacity).with_targets(sets.clone());
                all.networks.push(if all.networks.len() % 2 == 1 { timed.backward() } else { timed });
            }
            (0..problem.chunk_count()).for_each(|chunk| all.add(problem, ChunkId(chunk)));
        }
        all
    }

    /// The fewest steps in which every tree has time.
    pub fn least_steps(&self) -> u32 {
        self.least_steps
    }

    /// Adds the trees of a chunk of the last problem: none if no live rank needs it from another.
    fn add(&mut self, problem: &Problem, chunk: ChunkId) {
        let rule = problem.rule(chunk);
        let set = |holders| match holders {
            Holders::One(rank) => Some(rank.0),
            Holders::Group(group) => Some(group),
            Holders::Every => None,
        };
        match (rule.before, rule.after) {
            (Holders::One(root), to) => self.add_tree(problem, chunk, root, (set(to), to), false, false),
            (from, Holders::One(root)) => self.add_tree(problem, chunk, root, (set(from), from), true, false),
            (members, _) => {
                let live: Vec<RankId> = problem.holders(members).collect();
                if let Some(&root) = live.get(chunk.index() % live.len().max(1)) {
                    for collects in [true, false] {
                        self.add_tree(problem, chunk, root, (set(members), members), collects, true);
                    }
                }
            }
        }
    }

    fn add_tree(
        &mut self,
        problem: &Problem,
        chunk: ChunkId,
        root: RankId,
        (targets, reached): (Option<u32>, Holders),
        collects: bool,
        is_half: bool,
    ) {
        let network = self.networks.len() - 2 + usize::from(collects);
        let distance = |rank: RankId| self.networks[network].network.distance(root.0, rank.0);
        let hops = problem.holders(reached).map(distance).max().unwrap_or(0);
        if hops == 0 || !problem.topology().is_alive(root) {
            return;
        }
        // With itself as its partner, a tree keeps to the second half of its time.
        let partner = is_half.then_some(self.specs.len());
        let is_path = problem.collective().kind.pattern() == Pattern::OneToOne;
        self.specs.push(TreeSpec { network, partner, targets, is_path, ..TreeSpec::alone(root.0) });
        self.chunks.push(chunk);
        self.paths += usize::from(is_path);
        self.least_steps = self.least_steps.max(if is_half { 2 * hops } else { hops });
    }

    /// The schedules of the problems, in steps of these widths.
    pub fn schedules(&self, problems: &[Problem], widths: &[u32], routed: &RoutedTrees) -> Vec<Schedule> {
        let mut moves: Vec<Moves> = problems.iter().map(|_| Moves::new(widths.len())).collect();
        let ranks = problems[0].machine().rank_count();
        for ((spec, &chunk), arrivals) in self.specs.iter().zip(&self.chunks).zip(routed.arrivals.chunks(ranks)) {
            let (problem, collects) = (spec.network / 2, spec.network % 2 == 1);
            for arrival in arrivals.iter().filter(|arrival| arrival.link != WAIT) {
                let step = usize::from(arrival.step);
                let (step, op) = if collects { (widths.len() - 1 - step, Op::Reduce) } else { (step, Op::Copy) };
                let link: LinkId = self.networks[spec.network].network.ids[arrival.link as usize];
                moves[problem].add(step, link, op, [chunk]);
            }
        }
        let write = |(moves, problem): (Moves, &Problem)| moves.write(problem.machine(), |step, _| Some(widths[step]));
        moves.into_iter().zip(problems).map(write).collect()
    }
}

/// The sets of ranks that trees must reach: each rank alone, where chunks go to one; else the live members of each
/// group. Without groups there are none, and trees reach every live rank.
fn target_sets(problem: &Problem) -> Vec<Vec<bool>> {
    let ranks = problem.topology().rank_count();
    let set = |members: &[RankId]| {
        let mut set = vec![false; ranks];
        members.iter().filter(|&&rank| problem.topology().is_alive(rank)).for_each(|rank| set[rank.index()] = true);
        set
    };
    match (problem.collective().kind.pattern(), problem.groups()) {
        (Pattern::OneToOne, _) => (0..ranks as u32).map(|rank| set(&[RankId(rank)])).collect(),
        (_, Some(groups)) => groups.members().iter().map(|members| set(members)).collect(),
        (_, None) => Vec::new(),
    }
}
