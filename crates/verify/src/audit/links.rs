//! Do the channels that are used lie on links of the machine?

use super::{Code, Machine, Report};
use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::{RankId, Topology};

/// Checks the ranks that do something, and the channels that are used: the machine's own links, or those of the machine
/// that is given, must carry them.
pub(super) fn check(program: &Program, machine: Option<Machine<'_>>, report: &mut Report) {
    let own = program.problem.topology();
    for rank in (0..program.rank_count() as u32).map(RankId).filter(|&rank| !own.is_alive(rank)) {
        if let Some(worker) = program.workers(rank).find(|&worker| !program.range(worker).is_empty()) {
            let operation = program.range(worker).start;
            report.add(Code::T001, Some(operation), || format!("rank {rank} failed, but has operations"));
        }
    }
    let (topology, map): (&Topology, &dyn Fn(RankId) -> Option<RankId>) = match &machine {
        Some(machine) => (machine.topology, &|rank| machine.rank_map.get(rank.index()).copied()),
        None if program.has_links => (own, &Some),
        None => return,
    };
    let mut seen = vec![false; program.channels.len()];
    for (number, operation) in program.operations().iter().enumerate() {
        let used = match *operation {
            Operation::Send { channel, .. } => Some(channel),
            Operation::Receive { forward, .. } => forward,
            _ => None,
        };
        let Some(channel) = used.map(|channel| channel as usize) else { continue };
        let Some(seen) = seen.get_mut(channel).filter(|seen| !**seen) else { continue };
        *seen = true;
        if let Some((code, words)) = trouble(program, topology, map, channel) {
            report.add(code, Some(number), || words);
        }
    }
}

/// What is wrong with the link a channel lies on.
fn trouble(
    program: &Program,
    topology: &Topology,
    map: &dyn Fn(RankId) -> Option<RankId>,
    channel: usize,
) -> Option<(Code, String)> {
    let ends = program.channels[channel];
    let end = |rank: RankId| map(rank).filter(|rank| rank.index() < topology.rank_count());
    let (Some(from), Some(to)) = (end(ends.from), end(ends.to)) else {
        let words = format!("channel {channel} joins rank {} to rank {}, not both on the machine", ends.from, ends.to);
        return Some((Code::T001, words));
    };
    let words = |what: &str| {
        let (from, to) = (topology.rank_label(from), topology.rank_label(to));
        format!("channel {channel} leads from rank {from} to rank {to}: {what}")
    };
    if let Some(failed) = [from, to].into_iter().find(|&rank| !topology.is_alive(rank)) {
        return Some((Code::T001, words(&format!("rank {failed} failed"))));
    }
    let mut fitting = topology
        .links_between(from, to)
        .map(|id| topology.link(id))
        .filter(|link| ends.via.is_none() || link.direction == ends.via)
        .peekable();
    if fitting.peek().is_none() {
        return Some((Code::T002, words("there is no such link")));
    }
    if !fitting.any(|link| link.alive) {
        return Some((Code::T003, words("the link failed")));
    }
    None
}
