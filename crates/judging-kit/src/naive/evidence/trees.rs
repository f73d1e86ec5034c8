//! Lengths of trees, by trying every fork and every link again and again.

use crate::naive::problem::machine::{Link, Machine};
use crate::naive::problem::task::Task;

/// Are the groups small enough for their trees to be weighed?
pub fn small_enough(task: &Task, machine: &Machine) -> bool {
    let (ranks, links) = (machine.ranks() as u128, machine.links.len() as u128);
    let mut steps = 0u128;
    for members in &task.groups {
        let root = task.root.map(|place| members[place]);
        let live = members.iter().filter(|&&member| machine.live[member]).count();
        let terminals = members.iter().filter(|&&member| machine.live[member] && Some(member) != root).count();
        if live < 2 {
            continue;
        }
        if terminals > 20 || ranks * (1 << terminals) > 1 << 20 {
            return false;
        }
        steps += 3u128.pow(terminals as u32) * ranks + (1 << (terminals + 3)) * (ranks + links);
    }
    steps <= 1 << 29
}

/// The least length of a tree from a rank to others, or to it from others, given the length of each live link; `None`:
/// there is none.
pub fn least(machine: &Machine, lengths: &[u128], root: usize, others: &[usize], inward: bool) -> Option<u128> {
    let sets = 1usize << others.len();
    // Of every set of the others, and every rank.
    let mut least: Vec<Vec<Option<u128>>> = vec![vec![None; machine.ranks()]; sets];
    for (place, &other) in others.iter().enumerate() {
        least[1 << place][other] = Some(0);
    }
    least[0].fill(Some(0));
    loop {
        let mut changed = false;
        let mut offer = |least: &mut Vec<Vec<Option<u128>>>, set: usize, rank: usize, length: Option<u128>| {
            if length.is_some_and(|length| least[set][rank].is_none_or(|known| length < known)) {
                least[set][rank] = length;
                changed = true;
            }
        };
        for set in 1..sets {
            for (link, length) in machine.live_links().zip(lengths) {
                let &Link { from, to, .. } = link;
                let (near, far) = if inward { (to, from) } else { (from, to) };
                let longer = least[set][far].map(|rest| rest + length);
                offer(&mut least, set, near, longer);
            }
            for part in (1..set).filter(|part| part & set == *part) {
                for rank in 0..machine.ranks() {
                    let both = least[part][rank].zip(least[set - part][rank]).map(|(one, other)| one + other);
                    offer(&mut least, set, rank, both);
                }
            }
        }
        if !changed {
            return least[sets - 1][root];
        }
    }
}
