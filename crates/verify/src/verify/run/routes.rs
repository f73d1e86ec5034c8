//! Each transfer on its own: ranks, link, room, chunk ids.

use super::scope::Scope;
use crate::verify::facts::code::Code;
use crate::verify::facts::fact::{Data, Place};
use crate::verify::facts::ledger::Ledger;
use collsynth_core::collective::ChunkId;
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule, Step, Transfer};
use collsynth_core::topology::{LinkId, RankId, Topology};

/// A transfer as the execution needs it.
#[derive(Clone, Copy, Debug)]
pub(in crate::verify) struct Route {
    pub(in crate::verify) step: u32,
    /// Counted from 0 within the step.
    pub(in crate::verify) number: u32,
    pub(in crate::verify) from: RankId,
    pub(in crate::verify) to: RankId,
    pub(in crate::verify) op: Op,
    pub(in crate::verify) passage: Passage,
}

/// Whether a transfer gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Passage {
    /// It has a live link.
    Open,
    /// It has none: the receiver would wait forever.
    Refused,
    /// It does not even have a receiver.
    Nowhere,
}

/// Finds the link of every transfer and records what is wrong with transfers, steps and chunk ids on their own (T001 to
/// T003, L001, L002, F005, W001 for empty transfers, W004). O(transfers * links of a rank + moves).
pub(in crate::verify) fn resolve(
    problem: &Problem,
    schedule: &Schedule,
    scope: &Scope<'_>,
    ledger: &mut Ledger,
) -> Vec<Route> {
    let topology = problem.machine();
    let mut routes = Vec::with_capacity(schedule.transfers().len());
    let mut used_by: Vec<Option<(u32, usize)>> = vec![None; topology.links().len()];
    for step in schedule.steps() {
        if scope.is_idle(&step) {
            let place = Place::InStep { step: step.number, transfer: None, chunk: None };
            ledger.add(Code::W004, place, || Data::None);
        }
        for (index, transfer) in step.transfers.iter().enumerate() {
            let at = At { step, index, number: scope.number(&step, index) };
            let passage = match find_link(topology, transfer) {
                Ok(link) => {
                    check_room(problem, scope.carried(schedule, &step, index), &at, link, &mut used_by, ledger);
                    Passage::Open
                }
                Err(code) => {
                    ledger.add(code, at.place(None), || Data::None);
                    let has_receiver = transfer.to.index() < topology.rank_count();
                    if has_receiver { Passage::Refused } else { Passage::Nowhere }
                }
            };
            for (index, &chunk) in schedule.chunks(transfer).iter().enumerate() {
                if chunk.0 >= problem.chunk_count() {
                    ledger.add(Code::F005, at.place(Some(chunk)), || Data::Index(index));
                }
            }
            let Transfer { from, to, op, .. } = *transfer;
            routes.push(Route { step: step.number, number: narrow(at.number), from, to, op, passage });
        }
    }
    routes
}

/// A transfer in its step.
struct At<'a> {
    step: Step<'a>,
    /// Among the transfers of the schedule that is run.
    index: usize,
    /// Among those of the schedule that is judged.
    number: usize,
}

impl At<'_> {
    fn place(&self, chunk: Option<ChunkId>) -> Place {
        Place::InStep { step: self.step.number, transfer: Some(self.step.first_transfer + self.index), chunk }
    }
}

/// The live link of a transfer, or the code that says why it has none.
pub(in crate::verify) fn find_link(topology: &Topology, transfer: &Transfer) -> Result<LinkId, Code> {
    if !topology.is_alive(transfer.from) || !topology.is_alive(transfer.to) {
        return Err(Code::T001);
    }
    let mut fitting = links_that_fit(topology, transfer);
    match (fitting.next(), fitting.next()) {
        (Some(link), None) if topology.link(link).alive => Ok(link),
        (Some(_), None) => Err(Code::T003),
        _ => Err(Code::T002),
    }
}

/// The links between its ranks that `via` allows.
pub(in crate::verify) fn links_that_fit<'a>(
    topology: &'a Topology,
    transfer: &'a Transfer,
) -> impl Iterator<Item = LinkId> + 'a {
    topology
        .links_between(transfer.from, transfer.to)
        .filter(|&id| transfer.via.is_none() || topology.link(id).direction == transfer.via)
}

fn check_room(
    problem: &Problem,
    chunks: u64,
    at: &At<'_>,
    link: LinkId,
    used_by: &mut [Option<(u32, usize)>],
    ledger: &mut Ledger,
) {
    let (step, width) = (at.step.number, at.step.width);
    match used_by[link.index()] {
        Some((busy, other)) if busy == step => ledger.add(Code::L001, at.place(None), || Data::Busy(link, other)),
        _ => used_by[link.index()] = Some((step, at.number)),
    }
    let room = u64::from(width) * u64::from(problem.topology().link(link).capacity);
    if chunks > room {
        ledger.add(Code::L002, at.place(None), || Data::Full { link, width, room, chunks });
    }
    if chunks == 0 {
        ledger.add(Code::W001, at.place(None), || Data::None);
    }
}
