//! What can be said of each transfer on its own: its ranks, its link, its room, its chunk ids.

use super::report::{Ledger, Place};
use super::{Code, Finding};
use collsynth_core::collective::ChunkId;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Op, Schedule, Step, Transfer};
use collsynth_core::topology::{Link, LinkId, RankId, Topology};

/// A transfer as the execution needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) step: u32,
    /// Counted from 0 within the step.
    pub(super) number: u32,
    pub(super) from: RankId,
    pub(super) to: RankId,
    pub(super) op: Op,
    pub(super) passage: Passage,
}

/// Whether a transfer gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// There is a live link for it.
    Open,
    /// There is none: the receiver would wait for something that never comes.
    Refused,
    /// There is not even a receiver.
    Nowhere,
}

/// Finds the link of every transfer and reports all that is wrong with transfers, steps and chunk ids in themselves
/// (T001 to T003, L001, L002, F005, W001 for empty transfers, W004). O(transfers * links of a rank + moves).
pub(super) fn resolve(problem: &Problem, schedule: &Schedule, ledger: &mut Ledger) -> Vec<Route> {
    let topology = problem.topology();
    let mut routes = Vec::with_capacity(schedule.transfers().len());
    let mut used_by: Vec<Option<(u32, usize)>> = vec![None; topology.links().len()];
    for step in schedule.steps() {
        if step.transfers.is_empty() {
            let place = Place::InStep { step: step.number, transfer: None, chunk: None };
            ledger.add(Code::W004, place, || Finding {
                code: Code::W004,
                step: Some(step.number),
                transfer: None,
                chunk_index: None,
                from: None,
                to: None,
                chunk: None,
                message: format!("step {} has no transfer, but costs a start-up and its width", step.number),
                consequences: 0,
                trace: None,
            });
        }
        for (number, transfer) in step.transfers.iter().enumerate() {
            let at = At { step, number, transfer };
            let found = find_link(topology, transfer);
            if let Ok(link) = found {
                check_room(problem, schedule, &at, link, &mut used_by, ledger);
            }
            let passage = match found {
                Ok(_) => Passage::Open,
                Err(_) if transfer.to.index() >= topology.rank_count() => Passage::Nowhere,
                Err(_) => Passage::Refused,
            };
            if let Err(code) = found {
                ledger.add(code, at.place(None), || at.finding(code, no_link_message(topology, transfer)));
            }
            check_chunk_ids(problem, schedule, &at, ledger);
            let Transfer { from, to, op, .. } = *transfer;
            routes.push(Route { step: step.number, number: number as u32, from, to, op, passage });
        }
    }
    routes
}

/// A transfer and where it stands.
struct At<'a> {
    step: Step<'a>,
    number: usize,
    transfer: &'a Transfer,
}

impl At<'_> {
    fn place(&self, chunk: Option<ChunkId>) -> Place {
        Place::InStep { step: self.step.number, transfer: Some(self.step.first_transfer + self.number), chunk }
    }

    fn finding(&self, code: Code, message: String) -> Finding {
        Finding {
            code,
            step: Some(self.step.number),
            transfer: Some(self.number),
            chunk_index: None,
            from: Some(self.transfer.from),
            to: Some(self.transfer.to),
            chunk: None,
            message,
            consequences: 0,
            trace: None,
        }
    }
}

/// The live link a transfer goes over, or the code that says why there is none.
fn find_link(topology: &Topology, transfer: &Transfer) -> Result<LinkId, Code> {
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

fn links_that_fit<'a>(topology: &'a Topology, transfer: &'a Transfer) -> impl Iterator<Item = LinkId> + 'a {
    topology
        .links_between(transfer.from, transfer.to)
        .filter(|&id| transfer.via.is_none() || topology.link(id).direction == transfer.via)
}

fn check_room(
    problem: &Problem,
    schedule: &Schedule,
    at: &At<'_>,
    link: LinkId,
    used_by: &mut [Option<(u32, usize)>],
    ledger: &mut Ledger,
) {
    let topology = problem.topology();
    let step = at.step.number;
    match used_by[link.index()] {
        Some((busy, other)) if busy == step => ledger.add(Code::L001, at.place(None), || {
            let link = topology.link_label(link);
            at.finding(Code::L001, format!("link {link} is already used in step {step}, by transfers[{other}]"))
        }),
        _ => used_by[link.index()] = Some((step, at.number)),
    }
    let chunks = schedule.chunks(at.transfer).len();
    let Link { capacity, .. } = *topology.link(link);
    let room = u64::from(at.step.width) * u64::from(capacity);
    if chunks as u64 > room {
        ledger.add(Code::L002, at.place(None), || {
            let (link, width) = (topology.link_label(link), at.step.width);
            let message = format!(
                "{chunks} chunks over link {link}, which takes {room} in step {step} (width {width}, capacity {capacity})"
            );
            at.finding(Code::L002, message)
        });
    }
    if chunks == 0 {
        ledger.add(Code::W001, at.place(None), || {
            let (from, to) = (topology.rank_label(at.transfer.from), topology.rank_label(at.transfer.to));
            at.finding(Code::W001, format!("the transfer from rank {from} to rank {to} carries no chunk"))
        });
    }
}

fn check_chunk_ids(problem: &Problem, schedule: &Schedule, at: &At<'_>, ledger: &mut Ledger) {
    for (index, &chunk) in schedule.chunks(at.transfer).iter().enumerate() {
        if chunk.0 >= problem.chunk_count() {
            ledger.add(Code::F005, at.place(Some(chunk)), || {
                let kind = problem.collective().kind.name();
                let message = match problem.chunk_count() {
                    0 => format!("chunk {chunk} is out of range: this {kind} has no chunks"),
                    count => format!("chunk {chunk} is out of range: the chunks of this {kind} are 0 to {}", count - 1),
                };
                Finding { chunk: Some(chunk), chunk_index: Some(index), ..at.finding(Code::F005, message) }
            });
        }
    }
}

/// Why a transfer has no live link: its ranks, then what leaves the sender.
fn no_link_message(topology: &Topology, transfer: &Transfer) -> String {
    for (what, rank) in [("sender", transfer.from), ("receiver", transfer.to)] {
        if rank.index() >= topology.rank_count() {
            let last = topology.rank_count() - 1;
            return format!("the {what} is rank {rank}, which is out of range: ranks are 0 to {last}");
        }
        if !topology.is_alive(rank) {
            return format!("the {what} is rank {}, which failed", topology.rank_label(rank));
        }
    }
    let (from, to) = (topology.rank_label(transfer.from), topology.rank_label(transfer.to));
    let joining: Vec<LinkId> = topology.links_between(transfer.from, transfer.to).collect();
    let ways: Vec<String> =
        joining.iter().filter_map(|&id| topology.link(id).direction).map(|way| way.to_string()).collect();
    let fitting = links_that_fit(topology, transfer).next();
    match (fitting, transfer.via, &joining[..]) {
        (_, _, []) if transfer.from == transfer.to => format!("rank {from} sends to itself; chunks move between ranks"),
        (_, _, []) => {
            let neighbours = neighbour_list(topology, transfer.from);
            format!("there is no link from rank {from} to rank {to}; rank {from} has live links to {neighbours}")
        }
        (None, Some(via), _) if ways.is_empty() => {
            format!("`via` says {via}, but the links of an explicit graph have no direction: leave `via` out")
        }
        (None, Some(via), _) => {
            format!("there is no link from rank {from} to rank {to} in direction {via}: it goes {}", ways.join(" or "))
        }
        (Some(_), None, [_, _, ..]) => {
            format!("two links join rank {from} to rank {to}: say which one with `via`, {}", ways.join(" or "))
        }
        (fitting, ..) => {
            let link = fitting.map(|id| topology.link_label(id)).unwrap_or_default();
            let neighbours = neighbour_list(topology, transfer.from);
            format!("link {link} has failed; rank {from} has live links to {neighbours}")
        }
    }
}

/// The live neighbours of a rank, each once, at most eight.
fn neighbour_list(topology: &Topology, rank: RankId) -> String {
    let live = topology.links_from(rank).map(|id| topology.link(id)).filter(|link| link.alive);
    let mut neighbours: Vec<RankId> = live.map(|link| link.to).collect();
    neighbours.dedup();
    let mut names: Vec<String> = neighbours.iter().take(8).map(|&rank| topology.rank_label(rank)).collect();
    if neighbours.len() > names.len() {
        names.push("...".to_owned());
    }
    if names.is_empty() { "no rank".to_owned() } else { names.join(", ") }
}
