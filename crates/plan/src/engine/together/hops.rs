//! Moves of schedules that are planned alone, before their times are decided anew.

use collsynth_core::certificate::Bounds;
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule};
use collsynth_core::topology::{LinkId, RankId};

use crate::engine::parts::as_float;

/// A unit of width is at most this share of the volume of what is planned to be split.
const COARSE: f64 = 0.02;
/// The whole of a schedule, in units of [`Hop::share`].
pub const SHARE: u64 = 1 << 16;

/// A chunk moves over a link. In order: by chunk, then in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    pub chunk: ChunkId,
    /// The step of its own schedule, from 1; that of others says nothing of when it is made.
    pub step: u32,
    pub from: RankId,
    pub to: RankId,
    pub op: Op,
    pub link: LinkId,
    /// How much of its own schedule is over when it begins.
    pub share: u64,
}

/// The moves of a schedule, in order.
pub fn hops(problem: &Problem, schedule: &Schedule) -> Vec<Hop> {
    let machine = problem.machine();
    let all = schedule.total_width().max(1);
    let (mut found, mut begins) = (Vec::with_capacity(schedule.move_count()), 0);
    for step in schedule.steps() {
        let share = begins * SHARE / all;
        begins += u64::from(step.width);
        for one in step.transfers {
            let meant = |id: &LinkId| one.via.is_none() || machine.link(*id).direction == one.via;
            let link = machine.links_between(one.from, one.to).find(meant).expect("planners move over links");
            let hop = |&chunk| Hop { chunk, step: step.number, from: one.from, to: one.to, op: one.op, link, share };
            found.extend(schedule.chunks(one).iter().map(hop));
        }
    }
    found.sort_unstable();
    found
}

/// The moves after each chunk has been split into `pieces`, which all follow its route, one after another: in step with
/// each other, they would all wait for the same links.
pub fn split(hops: &[Hop], pieces: u32) -> Vec<Hop> {
    let of_chunk = hops.chunk_by(|one, other| one.chunk == other.chunk);
    let piece = |number: u32| {
        let share = move |hop: &Hop| (SHARE * u64::from(number) + hop.share) / u64::from(pieces);
        move |hop: &Hop| Hop { chunk: ChunkId(hop.chunk.0 * pieces + number), share: share(hop), ..*hop }
    };
    of_chunk.flat_map(|hops| (0..pieces).flat_map(move |number| hops.iter().map(piece(number)))).collect()
}

/// The least divisor of the parts of a problem in which its routes can be planned, to be [split].
pub fn enough_parts(problem: &Problem, bounds: &Bounds) -> u32 {
    let parts = problem.parts();
    let volume = bounds.volume.as_ref().map_or(0.0, |bound| as_float(bound.at_least));
    if !problem.collective().kind.can_be_cut() || volume == 0.0 {
        return parts;
    }
    let least = (1.0 / (COARSE * volume)).ceil().max(1.0) as u32;
    (least..parts).find(|&fewer| parts.is_multiple_of(fewer)).unwrap_or(parts)
}

#[cfg(test)]
mod tests {
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::topology::Topology;

    use super::*;
    use crate::model::control::Control;
    use crate::model::goal::Goal;

    /// The pieces of a chunk take its route, each after the one before.
    #[test]
    fn pieces_follow_one_after_another() {
        let problem = Problem::new(Topology::torus(&[5]).unwrap(), Collective::new(Kind::AllToAll)).unwrap();
        let (machine, kind) = (problem.machine(), &problem.collective().kind);
        let plan = crate::engine::driver::synthesize(machine, kind, &Goal::default(), &Control::unlimited()).unwrap();
        let whole = hops(&plan.problem, &plan.schedule);
        let pieces = split(&whole, 3);
        assert_eq!(pieces.len(), 3 * whole.len());
        assert!(pieces.is_sorted() && pieces.iter().all(|hop| hop.share < SHARE));
        for hop in &pieces {
            let of_whole = |other: &&Hop| (other.chunk.0, other.step) == (hop.chunk.0 / 3, hop.step);
            let route = whole.iter().filter(of_whole).find(|other| other.link == hop.link).unwrap();
            assert_eq!(hop.share / (SHARE / 3), u64::from(hop.chunk.0 % 3) + route.share / SHARE);
        }
    }
}
