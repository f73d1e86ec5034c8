//! Do the ranks that work live, and do the channels in use lie on live links of the machine?

use crate::audit::facts::code::ProgramCode;
use crate::audit::facts::fact::{Fact, NoLink};
use crate::audit::facts::ledger::Ledger;
use crate::audit::machine::Machine;
use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::{RankId, Topology};

/// Checks that ranks with operations are alive, on the program's own machine and the given one, and so are the live
/// members of the collective on the given one; and that the channels in use lie on links of the given machine, or else
/// of the program's own.
pub(in crate::audit) fn check(program: &Program, machine: Option<&Machine<'_>>, ledger: &mut Ledger) {
    let own = program.problem.topology();
    let mut takes_part = vec![false; program.rank_count()];
    program.problem.members().for_each(|rank| takes_part[rank.index()] = true);
    for rank in (0..).map(RankId).take(program.rank_count()) {
        let worker = program.workers(rank).find(|&worker| !program.range(worker).is_empty());
        let operation = worker.map(|worker| program.range(worker).start);
        if operation.is_some() && !own.is_alive(rank) {
            ledger.add(ProgramCode::T001, operation, || Fact::FailedRankWorks(rank));
        }
        let Some(machine) = machine.filter(|_| operation.is_some() || takes_part[rank.index()]) else { continue };
        match machine.place(rank) {
            Some(place) if machine.topology().is_alive(place) => {}
            place => ledger.add(ProgramCode::T001, operation, || Fact::NoPlace { rank, place }),
        }
    }
    let (topology, map): (&Topology, &dyn Fn(RankId) -> Option<RankId>) = match machine {
        Some(machine) => (machine.topology(), &|rank| machine.place(rank)),
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
        if let Some((code, fact)) = trouble(program, topology, map, channel) {
            ledger.add(code, Some(number), || fact);
        }
    }
}

/// What is wrong with the link a channel lies on.
fn trouble(
    program: &Program,
    topology: &Topology,
    map: &dyn Fn(RankId) -> Option<RankId>,
    channel: usize,
) -> Option<(ProgramCode, Fact)> {
    let ends = program.channels[channel];
    let end = |rank: RankId| map(rank).filter(|rank| rank.index() < topology.rank_count());
    let (Some(from), Some(to)) = (end(ends.from), end(ends.to)) else {
        return Some((ProgramCode::T001, Fact::NotOnMachine { channel }));
    };
    let trouble = |code, why| Some((code, Fact::NoLink { channel, from, to, why }));
    if let Some(failed) = [from, to].into_iter().find(|&rank| !topology.is_alive(rank)) {
        return trouble(ProgramCode::T001, NoLink::Failed(failed));
    }
    let mut fitting = topology
        .links_between(from, to)
        .map(|id| topology.link(id))
        .filter(|link| ends.via.is_none() || link.direction == ends.via)
        .peekable();
    if fitting.peek().is_none() {
        return trouble(ProgramCode::T002, NoLink::Missing);
    }
    // Without `via`, the channel may take any of them.
    if !fitting.all(|link| link.alive) {
        return trouble(ProgramCode::T003, NoLink::Dead);
    }
    None
}
