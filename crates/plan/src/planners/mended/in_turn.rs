//! All_reduce around failures: a reduce_scatter, then an all_gather of the sums, in the compact form.
//!
//! # Idea
//!
//! A reduce_scatter is an all_gather backward in time, over each link the other way. What leads around whole cables in
//! one leads around them in the other: the all_gather is planned, and serves for both. Where a link failed in one
//! direction only, its cable is taken for dead, which costs nothing: one of the halves has to do without the link.
//!
//! ```text
//!   all_gather          step 1   a -> b    step 2   b -> c       copies
//!   all_reduce          step 1   c -> b    step 2   b -> a       sums, backward
//!                       step 3   a -> b    step 4   b -> c       copies of them
//! ```
//!
//! # Applies
//!
//! All_reduce in a multiple of as many parts as ranks, failed ones included, on tori that look the same from every
//! rank, with any failures, as long as cables that work both ways connect all live ranks. The parts of a failed rank
//! are summed up at its neighbors.
//!
//! # Steps and volume
//!
//! Twice those of the all_gather. A rank with `c` live links receives `N - 1` of `N` shards over them, twice: with a
//! dead cable on a torus of three dimensions 20 % more than the bound, which trees with free roots come near in more
//! steps (see [`Matching`](crate::Matching)).
//!
//! # Complexity
//!
//! That of the all_gather.
//!
//! # Reference
//!
//! Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.

use std::collections::BTreeMap;

use collsynth_core::problem::Problem;
use collsynth_core::schedule::{CompactSchedule, Exceptions, Op, Repeated, Schedule, Translation};
use collsynth_core::topology::{DimRef, Direction, FailedLink, Link, LinkId, RankId, Topology, TopologySpec};

use super::around_failures;
use super::pattern::{gather, then};
use super::trees::Orphans;
use crate::model::account::StopReason;
use crate::model::control::Control;
use crate::model::error::PlanError;
use crate::model::goal::Goal;

/// The machine without the cables of which a link failed.
fn both_ways(machine: &Topology) -> Topology {
    let is_dead = |id: LinkId| !machine.link(id).alive;
    let cables = (0..).map(LinkId).take(machine.links().len()).filter_map(|id| {
        let back = machine.opposite(id)?;
        (id < back && (is_dead(id) || is_dead(back))).then(|| machine.link(id))
    });
    let cable = |link: &Link| FailedLink {
        dim: link.direction.map(DimRef::Direction),
        ..FailedLink::cable(link.from, link.to)
    };
    let both_live = |link: &&Link| [link.from, link.to].iter().all(|&rank| machine.is_alive(rank));
    let failed_links = cables.filter(both_live).map(cable).collect();
    Topology::new(TopologySpec { failed_links, ..machine.spec().clone() }).expect("each cable is there, once")
}

/// An all_reduce within the steps of the goal; `None` if they are too few or, stated, odd, or if cables do not connect
/// all ranks.
pub(super) fn plan(
    problem: &Problem,
    goal: &Goal<'_>,
    control: &Control,
) -> Result<Option<(CompactSchedule, StopReason)>, PlanError> {
    let half = |steps: Option<u32>| steps.map(|steps| steps / 2);
    if goal.steps.is_some_and(|steps| !steps.is_multiple_of(2)) {
        return Ok(None);
    }
    let machine = both_ways(problem.machine());
    let ranks = machine.rank_count() as u32;
    let gather = gather(machine, problem.parts() / ranks)?;
    if gather.check_connected().is_err() {
        return Ok(None);
    }
    let goal = Goal { steps: half(goal.steps), max_steps: half(goal.max_steps), ..*goal };
    let found = around_failures(&gather, Orphans::Adopted, &control.bounds(&gather)?, &goal, control)?;
    Ok(found.and_then(|(gathered, stopped)| Some((there_and_back(problem, &gathered)?, stopped))))
}

/// The all_gather backward in time, with sums, then as it is.
fn there_and_back(problem: &Problem, gathered: &CompactSchedule) -> Option<CompactSchedule> {
    let translation = gathered.translation();
    let here = |rank| rank;
    let twice = |moves: &Schedule| then(&backward(moves, translation, here), moves);
    let repeated = gathered.repeated().map(|Repeated { period, chunks, moves }| {
        let torus = problem.machine().as_torus().expect("it has translations");
        let place = |rank, dim: usize| torus.position(rank, dim) % period[dim] * torus.stride(dim);
        let home = |rank| RankId((0..period.len()).map(|dim| place(rank, dim)).sum());
        let moves = then(&backward(moves, translation, home), moves);
        Repeated { period: period.clone(), chunks: chunks.clone(), moves }
    });
    let Exceptions { chunks, without, moves } = gathered.exceptions();
    let exceptions = Exceptions { chunks: chunks.clone(), without: twice(without), moves: twice(moves) };
    CompactSchedule::new(problem, twice(gathered.pattern()), repeated, exceptions).ok()
}

/// Moves the other way in reverse order, each translated so that its sender is where `home` takes it.
fn backward(moves: &Schedule, translation: &Translation, home: impl Fn(RankId) -> RankId) -> Schedule {
    let mut builder = Schedule::builder();
    let steps: Vec<_> = moves.steps().collect();
    for step in steps.into_iter().rev() {
        builder.step(step.width);
        let mut back: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for transfer in step.transfers {
            let by = translation.between(transfer.to, home(transfer.to));
            let [from, to] = [transfer.to, transfer.from].map(|rank| translation.rank(rank, by));
            let chunks = moves.chunks(transfer).iter().map(|&chunk| translation.chunk(chunk, by));
            back.entry((from, to, transfer.via.map(Direction::opposite))).or_default().extend(chunks);
        }
        for ((from, to, via), mut chunks) in back {
            chunks.sort_unstable();
            builder.transfer(from, to, via, Op::Reduce, chunks);
        }
    }
    builder.finish()
}
