//! All-reduce by exchanges between ranks that are several hops apart: recursive doubling, Rabenseifner's algorithm,
//! Swing, Bine trees, Trivance.
//!
//! # Idea
//!
//! In a round, every rank exchanges with a peer (Trivance: with two), so that the sums cover twice (three times) as
//! many ranks. The algorithms differ in three ways:
//!
//! ```text
//!   who            binary      2^s             0 1 2 3 4 5 6 7     rounds 1, 2, 3 of rank 0:  1    2    4
//!                  negabinary  1, -1, 3, -5    even up, odd down                              1   -1    3
//!                  ternary     3^s             both ways at once                             +-1  +-3  +-9
//!   what           whole       all it has                              log p rounds
//!                  halving     the half that the peer is to sum up     log p rounds, and log p back to gather
//!                  tree        toward one rank, and back               log p rounds, and log p back
//!   on which links one stripe of the vector, or as many as ranks have links
//! ```
//!
//! On a torus, each round is along one dimension, the dimensions in turn, short distances first. With *all ports*, the
//! vector is cut in stripes that begin with another dimension each, and, where a rank has one peer a round, as many
//! mirrored ones: in every round, each of the `2 D` links of a rank is used.
//!
//! | planner | who | what | ports | source |
//! |---|---|---|---|---|
//! | `recursive_doubling` | binary | whole | one | Thakur et al., section 4.5 |
//! | `rabenseifner` | binary | halving | one | Thakur et al., section 4.5; Rabenseifner, with distance doubling |
//! | `swing` | negabinary | halving | all | De Sensi et al. 2024, sections 3.1.1 and 4.1 |
//! | `swing_latency` | negabinary | whole | all | the same, section 3.1.2 |
//! | `bine` | negabinary | halving | one | De Sensi et al. 2025: with all ports, it is `swing` |
//! | `bine_tree` | negabinary | tree | one | the same: reduce to rank 0 and broadcast, by distance halving |
//! | `trivance` | ternary | whole | all | Jürß et al., latency-optimal |
//! | `trivance_bandwidth` | ternary | halving | all | the same exchanges, reduce-scatter and all-gather |
//!
//! # Applies
//!
//! All_reduce on tori that wrap, untwisted, without failed ranks, whose extents are powers of two (of three: Trivance).
//! The extensions of the papers to other extents are not here.
//!
//! # What it costs
//!
//! The papers charge a start-up for each round, however many hops it spans, and what its fullest link carries:
//! [`Butterfly::charge`]. Routes follow the round's dimension in the shorter direction; half way around, half of it
//! goes each way. Where a link of such a route failed, the exchange takes a shortest route in the network that is left.
//!
//! A schedule pays for every hop. `expand` turns a round into as many steps as its longest route has hops. That is
//! possible where reduce-scatter and all-gather take turns. *Whole* exchanges over more than one hop have no schedule:
//! a sum would have to pass ranks that need their own sum of the same chunk, and a schedule has one value of a chunk at
//! a rank. Those planners refuse, and only their charge is known, but for tori on which all peers are neighbors.
//!
//! # Complexity
//!
//! O(parts * N * longest route), the number of moves.
//!
//! # Reference
//!
//! Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA 2005.
//! Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004. De Sensi, Bonato, Saam and Hoefler,
//! "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024. De Sensi et al., "Bine Trees: Enhancing
//! Collective Operations by Optimizing Communication Locality", SC 2025. Jürß, Addanki and Schmid, "Trivance:
//! Latency-Optimal AllReduce by Shortcutting Multiport Networks", arXiv 2602.17254, 2026.

mod expand;
mod pattern;
mod routes;

use std::collections::HashMap;

use collsynth_core::certificate::Rational;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Torus, dim_name};
use collsynth_plan::{AutoUse, Control, Machines, Outcome, Phase, PlanError, Planner, Scope, StopReason, Task};

use expand::{Round, write};
use pattern::{Pattern, Stripe};
use routes::Routes;

/// A planner of all-reduce by exchanges: [`Butterfly::SWING`] and its kin.
#[derive(Clone, Copy, Debug)]
pub struct Butterfly {
    name: &'static str,
    summary: &'static str,
    pattern: Pattern,
    form: Form,
    all_ports: bool,
}

/// What peers send each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// All they have.
    Whole,
    /// What the other is to sum up; then sums, backward.
    Halving,
    /// What goes to rank 0; then sums, backward.
    Tree,
}

/// What an algorithm of exchanges costs as papers charge it; a price makes it a time, by
/// [`Rates::phased`](collsynth_plan::cost::Rates::phased).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Rounds: a start-up each.
    pub rounds: u32,
    /// The hops of the longest route of each round, added up: a start-up each where every hop is charged.
    pub hops: u32,
    /// What the fullest link of each round carries per unit of capacity, added up, in vectors.
    pub load: Rational,
}

/// Who sends how many chunks to whom.
type Sends = HashMap<(RankId, RankId), u64>;

impl Butterfly {
    /// Recursive doubling.
    pub const RECURSIVE_DOUBLING: Self = Self {
        name: "recursive_doubling",
        summary: "whole vectors swapped over distances 1, 2, 4, ..; a schedule on extents of 2 only",
        pattern: Pattern::Binary,
        form: Form::Whole,
        all_ports: false,
    };
    /// Rabenseifner's algorithm: recursive halving and doubling.
    pub const RABENSEIFNER: Self = Self {
        name: "rabenseifner",
        summary: "all_reduce by recursive halving, then doubling; extents are powers of two",
        pattern: Pattern::Binary,
        form: Form::Halving,
        all_ports: false,
    };
    /// Swing, bandwidth-optimal.
    ///
    /// ```
    /// use collsynth_baselines::Butterfly;
    /// use collsynth_core::{collective::{Collective, Kind}, problem::Problem, topology::Topology};
    ///
    /// let problem = Problem::new(Topology::torus(&[8, 8])?, Collective::new(Kind::AllReduce))?;
    /// let charge = Butterfly::SWING.charge(&problem)?;
    /// assert_eq!((charge.rounds, charge.load.to_string()), (12, "69/128".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const SWING: Self = Self {
        name: "swing",
        summary: "all_reduce by Swing, bandwidth-optimal; extents are powers of two",
        pattern: Pattern::Negabinary,
        form: Form::Halving,
        all_ports: true,
    };
    /// Swing, latency-optimal.
    pub const SWING_LATENCY: Self = Self {
        name: "swing_latency",
        summary: "Swing of whole vectors, latency-optimal; a schedule on extents of 2 and 4 only",
        pattern: Pattern::Negabinary,
        form: Form::Whole,
        all_ports: true,
    };
    /// The butterfly of Bine trees.
    pub const BINE: Self = Self {
        name: "bine",
        summary: "all_reduce by the Bine butterfly on one port; extents are powers of two",
        pattern: Pattern::Negabinary,
        form: Form::Halving,
        all_ports: false,
    };
    /// A Bine tree, there and back.
    pub const BINE_TREE: Self = Self {
        name: "bine_tree",
        summary: "whole vectors reduced to rank 0 along a Bine tree, and broadcast; extents are powers of two",
        pattern: Pattern::Negabinary,
        form: Form::Tree,
        all_ports: false,
    };
    /// Trivance, latency-optimal.
    pub const TRIVANCE: Self = Self {
        name: "trivance",
        summary: "whole vectors swapped both ways over distances 1, 3, 9, ..; a schedule on extents of 3 only",
        pattern: Pattern::Ternary,
        form: Form::Whole,
        all_ports: true,
    };
    /// Trivance as reduce-scatter and all-gather.
    pub const TRIVANCE_BANDWIDTH: Self = Self {
        name: "trivance_bandwidth",
        summary: "reduce-scatter and all-gather by the exchanges of Trivance; extents are powers of three",
        pattern: Pattern::Ternary,
        form: Form::Halving,
        all_ports: true,
    };

    /// All of them.
    pub const ALL: [&'static Self; 8] = [
        &Self::RECURSIVE_DOUBLING,
        &Self::RABENSEIFNER,
        &Self::SWING,
        &Self::SWING_LATENCY,
        &Self::BINE,
        &Self::BINE_TREE,
        &Self::TRIVANCE,
        &Self::TRIVANCE_BANDWIDTH,
    ];

    /// What the paper charges on this machine, where every stripe and every rank has an equal share of the vector; the
    /// problem's own parts do not count. O(stripes * N^2) for N ranks.
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason, or [`PlanError::Disconnected`].
    pub fn charge(&self, problem: &Problem) -> Result<Charge, PlanError> {
        let algorithm = self.algorithm(problem)?;
        let parts = algorithm.even_parts();
        let loads = algorithm.loads(parts);
        let load = loads.iter().map(|(load, _)| load).sum::<Rational>() / i128::from(parts);
        let hops = loads.iter().map(|(_, hops)| hops).sum::<usize>() as u32;
        Ok(Charge { rounds: loads.len() as u32, hops, load })
    }

    fn algorithm<'a>(&self, problem: &'a Problem) -> Result<Algorithm<'a>, PlanError> {
        let refuse = |reason: String| Err(PlanError::NotApplicable { planner: self.name, reason });
        let topology = problem.topology();
        let torus = self.scope().torus(self.name, problem)?;
        if let Some(dim) = (0..torus.extents.len()).find(|&dim| torus.extents[dim] > 2 && !torus.wrap[dim]) {
            return refuse(format!("dimension {} does not wrap", dim_name(dim as u8)));
        }
        if torus.is_twisted() {
            return refuse("the torus is twisted".to_owned());
        }
        if topology.live_rank_count() < topology.rank_count() {
            return refuse("a rank failed".to_owned());
        }
        let stripes = match Stripe::all(self.pattern, self.all_ports, &torus.extents) {
            Ok(stripes) => stripes,
            Err(dim) => {
                let (extent, base) = (torus.extents[dim], self.pattern.base());
                return refuse(format!(
                    "the extent {extent} of dimension {} is no power of {base}",
                    dim_name(dim as u8)
                ));
            }
        };
        problem.check_connected()?;
        Ok(Algorithm { problem, torus, form: self.form, stripes })
    }
}

impl Planner for Butterfly {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn is_baseline(&self) -> bool {
        true
    }

    fn auto_use(&self) -> AutoUse {
        AutoUse::Never
    }

    fn scope(&self) -> Scope {
        Scope::of(&["all_reduce"]).on(Machines::Tori)
    }

    fn fits(&self, problem: &Problem) -> Result<(), PlanError> {
        self.algorithm(problem)?.check_neighbors(self.name)
    }

    /// Where every stripe and every rank has an equal share.
    fn natural_parts(&self, problem: &Problem) -> Option<u32> {
        self.algorithm(problem).ok().map(|algorithm| algorithm.even_parts())
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        let algorithm = self.algorithm(task.problem)?;
        algorithm.check_neighbors(self.name)?;
        let parts = task.problem.parts();
        let (schedule, lengths) = write(task.problem.topology(), algorithm.expand(control)?);
        task.check_steps(self.name, schedule.step_count())?;
        let mut begin = 0;
        let phase = |(number, (length, (load, _))): (usize, (usize, (Rational, usize)))| {
            let steps = begin..begin + length;
            begin = steps.end;
            Phase { name: format!("round {}", number + 1), steps, load: load / i128::from(parts), startups: 1 }
        };
        let phases = lengths.into_iter().zip(algorithm.loads(parts)).enumerate().map(phase).collect();
        Ok(Outcome::new(schedule, StopReason::Finished).with_phases(phases))
    }
}

/// An algorithm on a machine that it suits.
struct Algorithm<'a> {
    problem: &'a Problem,
    torus: &'a Torus,
    form: Form,
    stripes: Vec<Stripe>,
}

impl Algorithm<'_> {
    fn ranks(&self) -> impl Iterator<Item = RankId> + use<> {
        (0..self.problem.topology().rank_count() as u32).map(RankId)
    }

    /// The least number of parts that makes all shares equal.
    fn even_parts(&self) -> u32 {
        let shares = if self.form == Form::Halving { self.problem.topology().rank_count() } else { 1 };
        (self.stripes.len() * shares) as u32
    }

    /// Rounds there, without those back.
    fn rounds(&self) -> usize {
        self.stripes[0].rounds.len()
    }

    /// The chunks of a stripe.
    fn chunks(&self, stripe: usize, parts: u32) -> impl ExactSizeIterator<Item = ChunkId> + use<> {
        (stripe as u32..parts).step_by(self.stripes.len()).map(ChunkId)
    }

    /// The chunks of each stripe with the rank that sums each up.
    fn roots(&self, parts: u32) -> impl Iterator<Item = (&Stripe, ChunkId, RankId)> {
        let ranks = self.problem.topology().rank_count();
        self.stripes.iter().enumerate().flat_map(move |(number, stripe)| {
            let chunks = self.chunks(number, parts);
            let all = chunks.len();
            let root = move |index: usize| if self.form == Form::Tree { 0 } else { (index * ranks / all) as u32 };
            chunks.enumerate().map(move |(index, chunk)| (stripe, chunk, RankId(root(index))))
        })
    }

    /// The load of the fullest link in every round, in chunks, if all of a round is sent at once, and the hops of its
    /// longest route.
    fn loads(&self, parts: u32) -> Vec<(Rational, usize)> {
        let count = if self.form == Form::Whole { self.rounds() } else { 2 * self.rounds() };
        let mut rounds = vec![Sends::new(); count];
        if self.form == Form::Whole {
            for (number, stripe) in self.stripes.iter().enumerate() {
                for (round, from) in (0..count).flat_map(|round| self.ranks().map(move |from| (round, from))) {
                    for to in stripe.peers(self.torus, from, round) {
                        *rounds[round].entry((from, to)).or_default() += self.chunks(number, parts).len() as u64;
                    }
                }
            }
        } else {
            for (stripe, _, root) in self.roots(parts) {
                for (round, sends) in stripe.tree(self.torus, root).into_iter().enumerate() {
                    for (from, to) in sends {
                        *rounds[round].entry((from, to)).or_default() += 1;
                        *rounds[count - 1 - round].entry((to, from)).or_default() += 1;
                    }
                }
            }
        }
        let mut routes = Routes::new(self.problem.topology(), self.torus);
        rounds.into_iter().map(|sends| routes.fullest(sends)).collect()
    }

    /// Refuses whole exchanges over more than a hop.
    fn check_neighbors(&self, planner: &'static str) -> Result<(), PlanError> {
        if self.form != Form::Whole {
            return Ok(());
        }
        let topology = self.problem.topology();
        let mut routes = Routes::new(topology, self.torus);
        for round in 0..self.rounds() {
            for (stripe, from) in self.stripes.iter().flat_map(|stripe| self.ranks().map(move |from| (stripe, from))) {
                for to in stripe.peers(self.torus, from, round) {
                    let hops = routes.between(from, to)[0].len();
                    if hops > 1 {
                        let [from, to] = [from, to].map(|rank| topology.rank_label(rank));
                        let reason = format!(
                            "in round {} ranks {from} and {to} swap sums over {hops} hops, past ranks that hold sums \
                             of the same chunks, and a schedule has one at a rank; `synth compare ...` says what its \
                             paper charges",
                            round + 1
                        );
                        return Err(PlanError::NotApplicable { planner, reason });
                    }
                }
            }
        }
        Ok(())
    }

    /// All rounds, hop by hop.
    fn expand(&self, control: &Control) -> Result<Vec<Round>, PlanError> {
        let (topology, parts) = (self.problem.topology(), self.problem.parts());
        let mut routes = Routes::new(topology, self.torus);
        if self.form == Form::Whole {
            return Ok(self.swaps(&mut routes));
        }
        let mut rounds = vec![Round::default(); 2 * self.rounds()];
        let last = rounds.len().saturating_sub(1);
        for (stripe, chunk, root) in self.roots(parts) {
            if let Some(stopped) = control.stop() {
                return Err(PlanError::Stopped { stopped });
            }
            let tree = stripe.tree(self.torus, root);
            let mut holds = vec![true; topology.rank_count()];
            for (round, sends) in tree.iter().enumerate() {
                let walks: Vec<Vec<LinkId>> = self.walks(&mut routes, chunk, sends.iter().copied());
                rounds[round].reduce(topology, chunk, &borrowed(&walks), &mut holds);
            }
            let mut has = vec![false; topology.rank_count()];
            has[root.index()] = true;
            for (round, sends) in tree.iter().enumerate().rev() {
                let walks = self.walks(&mut routes, chunk, sends.iter().map(|&(from, to)| (to, from)));
                rounds[last - round].gather(topology, chunk, &borrowed(&walks), &mut has);
            }
        }
        Ok(rounds)
    }

    /// The route of a chunk for every pair: of two, each is taken by half of the chunks.
    fn walks(
        &self,
        routes: &mut Routes<'_>,
        chunk: ChunkId,
        pairs: impl Iterator<Item = (RankId, RankId)>,
    ) -> Vec<Vec<LinkId>> {
        let turn = chunk.index() / self.stripes.len();
        let walk = |(from, to): (RankId, RankId)| {
            let both = routes.between(from, to);
            both[(turn + from.index().max(to.index())) % both.len()].clone()
        };
        pairs.map(walk).collect()
    }

    fn swaps(&self, routes: &mut Routes<'_>) -> Vec<Round> {
        let parts = self.problem.parts();
        let mut rounds = vec![Round::default(); self.rounds()];
        for (number, stripe) in self.stripes.iter().enumerate() {
            for (round, moves) in rounds.iter_mut().enumerate() {
                for from in self.ranks() {
                    for to in stripe.peers(self.torus, from, round) {
                        let both = routes.between(from, to);
                        let link = both[number % both.len()][0];
                        moves.swap(link, self.chunks(number, parts));
                    }
                }
            }
        }
        rounds
    }
}

fn borrowed(walks: &[Vec<LinkId>]) -> Vec<&[LinkId]> {
    walks.iter().map(Vec::as_slice).collect()
}
