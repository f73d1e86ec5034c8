//! The part of a schedule that the program of one rank depends on.

use std::collections::BTreeSet;

use super::ops::Link;
use collsynth_core::schedule::{Choice, Schedule, Slot, Timetable};
use collsynth_core::topology::RankId;

/// The links that a schedule uses.
pub(super) fn used(schedule: &impl Timetable) -> BTreeSet<Link> {
    links(schedule, &Choice::default())
}

/// The transfers of a rank and of the ranks it is joined to, every step with its width.
pub(super) fn nearby(schedule: &impl Timetable, rank: RankId) -> Schedule {
    let of_rank = Choice { ranks: Some(vec![rank]), ..Choice::default() };
    let joined = links(schedule, &of_rank).into_iter().flat_map(|(from, to, _)| [from, to]);
    let ranks: BTreeSet<RankId> = joined.chain([rank]).collect();
    let choice = Choice { ranks: Some(ranks.into_iter().collect()), ..Choice::default() };
    let mut builder = Schedule::builder();
    for step in schedule.numbers() {
        builder.step(schedule.width(step));
        for slot in schedule.slots(step, &choice) {
            let Slot { from, to, via, op, .. } = slot;
            builder.transfer(from, to, via, op, schedule.chunks_of(&slot).iter().copied());
        }
    }
    builder.finish()
}

fn links(schedule: &impl Timetable, choice: &Choice) -> BTreeSet<Link> {
    let slots = schedule.numbers().flat_map(|step| schedule.slots(step, choice));
    slots.map(|slot| (slot.from, slot.to, slot.via)).collect()
}
