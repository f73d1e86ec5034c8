//! The flow bound: the least maximum load of a multi-commodity flow, and a metric that proves it.
//!
//! No schedule has less volume than the flow that may split every message over any paths. A linear program gives its
//! value; the dual solution is a length of each link. The lengths are rounded to integers in several ways, and the
//! bound that each rounding proves is computed exactly, so nothing depends on the solver's accuracy or correctness.
//!
//! Symmetries of the damaged torus that keep the demand shrink the program without changing its value; `collsynth_lp`
//! explains why.
//!
//! Sources: Basu et al., HPDC 2024 (the flow of an all-to-all, aggregated by source).

use collsynth_lp::{Arc, Limit, LpError, Network, Symmetry};
use thiserror::Error;

use super::rounding::{FINE, Rounding, joined_pairs, weights};
use super::stars::Star;
use crate::finding::{BoundFinding, Claim};
use crate::machine::symmetry::{Automorphism, keeps_demand, symmetries};
use crate::words;
use collsynth_core::certificate::{self, Evidence, VolumeBound};
use collsynth_core::collective::Pattern;
use collsynth_core::problem::{Disconnected, Problem};
use collsynth_core::topology::RankId;

/// The effort that a flow bound may take.
#[derive(Clone, Debug, Default)]
pub struct FlowLimit {
    /// Variables of the largest program to solve.
    pub variables: usize,
    /// When the solver gives up.
    pub solver: Limit,
}

impl FlowLimit {
    /// Variables of the largest program that planning solves by default: it takes about a second.
    pub const UNASKED: usize = 16_000;

    /// At most this many variables, without a time limit.
    pub const fn of_size(variables: usize) -> Self {
        Self { variables, solver: Limit::NONE }
    }
}

/// The optimum of the linear program, and the bound proven from it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowBound {
    /// The solver's optimum, in messages: the best that the certificate could prove.
    pub optimum: f64,
    /// Variables of the program, with and without the use of symmetries.
    pub variables: (usize, usize),
    /// The symmetries used, including the identity.
    pub symmetries: usize,
    /// The best rounding of the dual solution; none if nothing must move.
    pub finding: Option<BoundFinding>,
}

/// Why there is no flow bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FlowError {
    /// Chunks of this kind do not each go from one rank to one rank.
    #[error("the flow LP is for all_to_all, all_to_allv, scatter and gather; this is {0}")]
    WrongKind(&'static str),
    /// A barrier has no volume.
    #[error("a barrier has no volume, so none is bounded in its steps")]
    NoVolume,
    /// The program is too large.
    #[error("the flow LP has {variables} variables after {symmetries} symmetries; at most {most} are tried")]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooLarge { variables: usize, symmetries: usize, most: usize },
    /// Some rank cannot reach another.
    #[error(transparent)]
    Disconnected(#[from] Disconnected),
    /// The solver failed.
    #[error("flow LP: {0}")]
    Solver(#[from] LpError),
}

/// Solves the flow's linear program and proves the bound that its dual solution gives.
///
/// Deterministic. The program has `N * links` variables over the number of symmetries: 0.1 s for 1500 of them, seconds
/// for 25 thousand, a minute for 100 thousand.
///
/// # Errors
///
/// A [`FlowError`] with the reason why there is no bound.
pub fn flow_bound(problem: &Problem, limit: &FlowLimit) -> Result<FlowBound, FlowError> {
    let instance = FlowNetwork::new(problem)?;
    if problem.is_trivial() {
        return Ok(FlowBound { optimum: 0.0, variables: (0, 0), symmetries: instance.symmetries, finding: None });
    }
    let variables = collsynth_lp::least_load_size(&instance.network, &instance.generators)?;
    instance.check_size(variables, limit)?;
    let flow = collsynth_lp::least_load(&instance.network, &instance.generators, &limit.solver)?;
    let mut rounding = Rounding::new(|rounded: &[u32]| {
        certificate::value(problem, &Evidence::metric(weights(&instance.pairs, rounded))).ok()
    });
    rounding.add(&flow.lengths, &FINE);
    Ok(FlowBound {
        optimum: flow.load,
        variables: (flow.variables, instance.network.nodes() * instance.network.arcs().len()),
        symmetries: instance.symmetries,
        finding: rounding.best.map(|(at_least, rounded)| {
            let weights = weights(&instance.pairs, &rounded);
            let words = words::metric(problem, &weights, at_least);
            let claim = Claim::Volume(VolumeBound { at_least, evidence: Evidence::metric(weights) });
            BoundFinding { name: "flow LP", claim, words }
        }),
    })
}

/// A problem as a network of plain numbers: an arc for every pair of ranks that live links join, in that order.
pub struct FlowNetwork {
    /// Ranks, links and demand, in messages. What one rank receives is reversed, which leaves one commodity: its own.
    pub network: Network,
    /// Generators of the maps of the network that keep the demand.
    pub generators: Vec<Symmetry>,
    /// The number of such maps, including the identity.
    pub symmetries: usize,
    /// Is the network reversed?
    pub reversed: bool,
    /// The ranks that each arc joins, as in the topology.
    pub pairs: Vec<(RankId, RankId)>,
}

impl FlowNetwork {
    /// The network of a problem in which every chunk goes from one rank to one rank.
    ///
    /// # Errors
    ///
    /// [`FlowError::WrongKind`] or [`FlowError::Disconnected`].
    pub fn new(problem: &Problem) -> Result<Self, FlowError> {
        let kind = &problem.collective().kind;
        if kind.pattern() != Pattern::OneToOne {
            return Err(FlowError::WrongKind(kind.name()));
        }
        problem.check_connected()?;
        let keeps = |image: &dyn Fn(RankId) -> RankId| keeps_demand(problem, image);
        Self::moving(problem, kind.is_to_root(), |origin, dest| problem.owed(origin, dest), keeps)
    }

    /// The network of what one rank must receive or send; what it receives is reversed.
    pub(crate) fn around(problem: &Problem, star: &Star) -> Result<Self, FlowError> {
        let center = star.center;
        let mut amount = vec![0; problem.topology().rank_count()];
        star.amounts.iter().for_each(|&(far, chunks)| amount[far.index()] = chunks);
        let owed = |origin: RankId, dest: RankId| {
            let (near, far) = if star.inward { (dest, origin) } else { (origin, dest) };
            if near == center { amount[far.index()] } else { 0 }
        };
        let keeps = |image: &dyn Fn(RankId) -> RankId| {
            let same = |rank: u32| amount[image(RankId(rank)).index()] == amount[rank as usize];
            image(center) == center && (0..amount.len() as u32).all(same)
        };
        Self::moving(problem, star.inward, owed, keeps)
    }

    /// The network of the chunks that go from one rank to another, under the symmetries that keep their numbers.
    fn moving(
        problem: &Problem,
        reversed: bool,
        owed: impl Fn(RankId, RankId) -> u32,
        keeps: impl Fn(&dyn Fn(RankId) -> RankId) -> bool,
    ) -> Result<Self, FlowError> {
        let topology = problem.topology();
        let pairs = joined_pairs(problem);
        let arcs = pairs.iter().map(|&(from, to)| {
            let links = topology.links_between(from, to).map(|id| topology.link(id)).filter(|link| link.alive);
            let capacity = links.map(|link| f64::from(link.capacity)).sum();
            let (from, to) = if reversed { (to, from) } else { (from, to) };
            Arc { from: from.index(), to: to.index(), capacity }
        });
        let ranks = topology.rank_count();
        let demand = (0..ranks * ranks).map(|pair| {
            let (origin, dest) = (RankId((pair / ranks) as u32), RankId((pair % ranks) as u32));
            let (origin, dest) = if reversed { (dest, origin) } else { (origin, dest) };
            f64::from(owed(origin, dest)) / f64::from(problem.parts())
        });
        let network = Network::new(ranks, arcs.collect(), demand.collect())?;
        let found = symmetries(topology, keeps);
        let generators = found.generators.iter().map(|map| symmetry(map, &pairs)).collect();
        Ok(Self { network, generators, symmetries: found.count, reversed, pairs })
    }

    pub(crate) fn check_size(&self, variables: usize, limit: &FlowLimit) -> Result<(), FlowError> {
        let (symmetries, most) = (self.symmetries, limit.variables);
        if variables > most { Err(FlowError::TooLarge { variables, symmetries, most }) } else { Ok(()) }
    }
}

fn symmetry(map: &Automorphism, pairs: &[(RankId, RankId)]) -> Symmetry {
    let image = |&(from, to): &(RankId, RankId)| {
        let moved = (map.ranks[from.index()], map.ranks[to.index()]);
        // Live links map to live links, so the pair exists; if not, `collsynth_lp` refuses the symmetry.
        pairs.binary_search(&moved).map_or(u32::MAX, |index| index as u32)
    };
    Symmetry { nodes: map.ranks.iter().map(|rank| rank.0).collect(), arcs: pairs.iter().map(image).collect() }
}
