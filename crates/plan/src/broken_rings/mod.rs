//! All-to-all on tori some of whose rings are broken: HalfRing and DimRotation on the sound rings, and schemes of what
//! the broken ones do meanwhile and afterwards.
//!
//! As in [`DimRotation`](super::DimRotation), the data is in `D` classes, and in normal phase `p` class `c` works on
//! dimension `(c + p) mod D`. A sound ring runs HalfRing. What a broken ring has to move in this phase is shared out
//! over *ways*: the ring itself, without its dead cable, in the normal phase; and, in acceleration phases that
//! follow, the ring itself again and virtual rings over its neighbours (`ways`). How much takes which way is the
//! offline bandwidth allocation, a linear program (`allocation`); its shares are rounded to chunks (`shares`), and
//! the chunks of each phase are scheduled over their routes (`walks`).
//!
//! The schemes are [`FoldedRing`](super::FoldedRing), [`Mate`](super::Mate) and [`MateE`](super::MateE).

mod allocation;
mod shares;
mod ways;

use std::collections::BTreeMap;

use collsynth_lp::Allocation;
use num_rational::Ratio;

use super::link_table::LinkTable;
use super::phased::{
    Block, StatedPhase, Traveler, Walks, active_dims, check_torus, half_ring_split, plan_walks, rotation_class,
    travelers,
};
use super::{Control, Outcome, PlanError, Task};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Topology, Torus};
use ways::{BrokenRing, Rings};

/// How a ring with one dead cable is used on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remains {
    /// FoldedRing: one way round, and for the dead cable back over all the others.
    Folded,
    /// As the line it is: every message the one way there is.
    Open,
}

/// What broken rings do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scheme {
    /// How they are used on their own.
    pub remains: Remains,
    /// Whether they work in the normal phases.
    pub normal: bool,
    /// The acceleration phases that follow each normal phase.
    pub acceleration: Acceleration,
}

/// The acceleration phases that follow each normal phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acceleration {
    /// None: there are only normal phases.
    None,
    /// One, for all broken rings.
    Shared,
    /// One for each broken ring; rings of one dimension whose ways share no link have one together.
    Each,
}

/// Checks that a scheme has a way for the data of every broken ring.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] with the reason.
pub(super) fn check(planner: &'static str, problem: &Problem, scheme: Scheme) -> Result<(), PlanError> {
    prepare(planner, problem, scheme).map(|_| ())
}

/// In how many parts the shares of a scheme come to whole chunks, on a torus of equal extents with one broken ring; of
/// unequal extents the largest counts.
pub(super) fn natural_parts(problem: &Problem, scheme: Scheme) -> Option<u32> {
    let dims = active_dims(problem);
    let extent = dims.iter().map(|&dim| problem.topology().as_torus().map_or(1, |torus| torus.extents[dim])).max()?;
    let classes = dims.len() as u32;
    // The speed of what is left of a broken ring in terms of a sound one, as a fraction.
    let speed = match scheme.remains {
        Remains::Open => Ratio::new(1, 2),
        Remains::Folded if extent.is_multiple_of(2) => Ratio::new(extent, 4 * (extent - 1)),
        Remains::Folded => Ratio::new(extent + 1, 4 * extent),
    };
    let (numerator, denominator) = (*speed.numer(), *speed.denom());
    let shared = (classes - 1) * denominator + numerator;
    Some(match (scheme.acceleration, scheme.normal) {
        (Acceleration::None, _) => 2 * classes,
        (_, false) => classes * shared,
        (_, true) => classes * shared * denominator,
    })
}

/// The linear programs that planning by a scheme decides by, one for each normal phase in which there is a choice.
///
/// # Errors
///
/// [`PlanError::NotApplicable`] if the scheme does not apply.
pub(super) fn allocations(
    planner: &'static str,
    problem: &Problem,
    scheme: Scheme,
) -> Result<Vec<Allocation>, PlanError> {
    let machine = prepare(planner, problem, scheme)?;
    let mut travelers = travelers(problem);
    let of_phase = |phase| {
        let (sound, errands) = machine.normal_phase(phase, &mut travelers);
        machine.program(problem, &sound, &errands, &machine.all_portions())
    };
    Ok((0..machine.dims.len()).filter_map(of_phase).collect())
}

/// The torus with its broken rings, each with the ways it has.
fn prepare<'a>(planner: &'static str, problem: &'a Problem, scheme: Scheme) -> Result<Machine<'a>, PlanError> {
    let refuse = |reason: String| Err(PlanError::NotApplicable { planner, reason });
    let torus = check_torus(planner, problem)?;
    let topology = problem.topology();
    let accelerated = scheme.acceleration != Acceleration::None;
    let dims = active_dims(problem);
    if topology.live_links().count() == topology.links().len() {
        return refuse("no cable failed: dim_rotation is what it would come to".to_owned());
    }
    if accelerated && dims.len() == 1 {
        return refuse("there is one dimension only, and none to accelerate it: try folded_ring".to_owned());
    }
    let links = LinkTable::live(topology);
    let rings = Rings { topology, torus, dims: &dims, links: &links };
    let mut broken = Vec::new();
    for mut ring in rings.broken(scheme.remains) {
        let (dead, label) = (ring.dead.len(), rings.label(&ring));
        let mut missing = Vec::new();
        if accelerated {
            missing = rings.add_virtual(&mut ring);
        }
        if ring.own.is_none() && ring.virtual_rings.is_empty() {
            let cables = if dead == 1 { "a dead cable".to_owned() } else { format!("{dead} dead cables") };
            let rest = if dead == 1 { "no cable is left" } else { "what is left is in pieces" };
            return refuse(format!("{label} has {cables}, so that {rest}{}", missing.join("")));
        }
        broken.push(ring);
    }
    if accelerated && scheme.normal && broken.iter().all(|ring| ring.own.is_none()) {
        let label = rings.label(&broken[0]);
        return refuse(format!("{label} has nothing to run in the normal phases: it is in pieces; try mate"));
    }
    let groups = match scheme.acceleration {
        Acceleration::None => Vec::new(),
        Acceleration::Shared => vec![0; broken.len()],
        Acceleration::Each => ways::groups(&broken),
    };
    let number_of = broken.iter().zip(0..).map(|(ring, number)| ((ring.dim, ring.ranks[0]), number)).collect();
    Ok(Machine { topology, torus, links, dims, broken, groups, number_of, normal: scheme.normal })
}

/// What there is to work with.
struct Machine<'a> {
    topology: &'a Topology,
    torus: &'a Torus,
    links: LinkTable,
    /// The dimensions along which there is somewhere to go.
    dims: Vec<usize>,
    broken: Vec<BrokenRing>,
    /// By broken ring: the acceleration phase it works in; empty if there are none.
    groups: Vec<usize>,
    /// The broken rings by dimension and first rank.
    number_of: BTreeMap<(usize, RankId), usize>,
    /// Whether broken rings work in the normal phases.
    normal: bool,
}

/// Chunks that a broken ring has to bring from one position to another.
struct Errand {
    from: u32,
    to: u32,
    chunks: Vec<ChunkId>,
}

/// Plans by a scheme.
///
/// # Errors
///
/// [`PlanError`] if it does not apply, is stopped, or has not the number of steps wished for.
pub(super) fn plan(
    planner: &'static str,
    task: &Task<'_>,
    control: &Control,
    scheme: Scheme,
) -> Result<Outcome, PlanError> {
    let machine = prepare(planner, task.problem, scheme)?;
    let mut travelers = travelers(task.problem);
    let accelerations = machine.groups.iter().map(|group| group + 1).max().unwrap_or(0);
    let mut phases = Vec::new();
    for phase in 0..machine.dims.len() {
        if let Some(stopped) = control.stop() {
            return Err(PlanError::Stopped { stopped });
        }
        let (sound, errands) = machine.normal_phase(phase, &mut travelers);
        let shares = machine.allocate(planner, task.problem, control, &sound, &errands)?;
        let mut walks = vec![Walks::default(); accelerations + 1];
        walks[0] = sound;
        for ((ring, shares), errands) in machine.broken.iter().zip(&shares).zip(errands) {
            shares::send(ring, shares, errands, &mut walks);
        }
        for (number, walks) in walks.into_iter().enumerate() {
            let name = match (number, accelerations) {
                (0, _) => format!("normal {}", phase + 1),
                (_, 1) => format!("acceleration {}", phase + 1),
                _ => format!("acceleration {}.{number}", phase + 1),
            };
            let of_phase = |portion: &&allocation::Portion<'_>| portion.phase == number && portion.share > 0.0;
            let edges = shares.iter().flatten().filter(of_phase).map(|portion| portion.way.edge());
            phases.push((StatedPhase { name, startups: edges.max().unwrap_or(1) }, walks));
        }
    }
    plan_walks(planner, task, control, phases)
}

impl Machine<'_> {
    /// The walks over sound rings in a phase, and by broken ring what it has to move. Takes the travelers there.
    fn normal_phase(&self, phase: usize, travelers: &mut [Traveler]) -> (Walks, Vec<Vec<Errand>>) {
        let mut sound = Walks::default();
        let mut errands: Vec<Vec<Errand>> = self.broken.iter().map(|_| Vec::new()).collect();
        let place = |traveler: &Traveler| {
            let dim = self.dims[(rotation_class(self.torus, &self.dims, traveler) + phase) % self.dims.len()];
            (traveler.at, dim, traveler.offset(self.torus, dim))
        };
        // Stable: within a block the chunks stay in ascending order.
        travelers.sort_by_cached_key(place);
        for block in travelers.chunk_by_mut(|a, b| place(a) == place(b)) {
            let (at, dim, offset) = place(&block[0]);
            if offset == 0 {
                continue;
            }
            let (extent, stride) = (self.torus.extents[dim], self.torus.stride(dim));
            let from = self.torus.position(at, dim);
            let to = (from + offset) % extent;
            let first = RankId(at.0 - from * stride);
            let chunks: Vec<ChunkId> = block.iter().map(|traveler| traveler.id).collect();
            match self.number_of.get(&(dim, first)) {
                Some(&ring) => errands[ring].push(Errand { from, to, chunks }),
                None => {
                    let up = match extent == 2 && !self.torus.wrap[dim] {
                        true if from == 0 => chunks.len(),
                        true => 0,
                        // Of what goes half round, even positions send the larger half up, odd ones down.
                        false if from.is_multiple_of(2) => {
                            half_ring_split(Block { extent, offset, chunks: chunks.len() })
                        }
                        false => {
                            chunks.len()
                                - half_ring_split(Block { extent, offset: extent - offset, chunks: chunks.len() })
                        }
                    };
                    let (upwards, downwards) = chunks.split_at(up);
                    for (chunks, up, hops) in [(upwards, true, offset), (downwards, false, extent - offset)] {
                        if !chunks.is_empty() {
                            sound.send(&self.along(at, dim, up, hops), chunks.iter().copied());
                        }
                    }
                }
            }
            let dest = RankId(first.0 + to * stride);
            block.iter_mut().for_each(|traveler| traveler.at = dest);
        }
        (sound, errands)
    }

    /// The links along a sound ring.
    fn along(&self, from: RankId, dim: usize, up: bool, hops: u32) -> Vec<LinkId> {
        let mut at = from;
        let next = |_| {
            let link = self.links.get(at, dim, up).expect("the ring was found to be whole");
            at = self.topology.link(link).to;
            link
        };
        (0..hops).map(next).collect()
    }
}
