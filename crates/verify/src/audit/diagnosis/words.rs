//! From facts to sentences.

use super::operation::{describe, name};
use crate::audit::facts::fact::{Access, BadOperation, End, Fact, NoLink, Obstacle, Output, Waiting, Wrong};
use crate::audit::facts::values::FaultKind;
use crate::audit::machine::Machine;
use collsynth_core::exact::narrow;
use collsynth_core::program::{Buffer, Program, Slot};
use collsynth_core::topology::RankId;

/// The most ranks a sentence lists.
const LISTED: usize = 8;

/// What is wrong, in words.
pub(in crate::audit) fn sentence(
    program: &Program,
    machine: Option<&Machine<'_>>,
    operation: Option<usize>,
    fact: &Fact,
) -> String {
    let one = |operation: usize| describe(program, operation);
    let this = || operation.map(one).unwrap_or_default();
    let label = |rank| program.problem.topology().numbered_name(rank);
    let ends = |channel: usize| (label(program.channels[channel].from), label(program.channels[channel].to));
    match *fact {
        Fact::FailedRankWorks(rank) => format!("rank {} failed, but has operations", label(rank)),
        Fact::NoPlace { rank, place } => {
            let topology = machine.map_or(program.problem.topology(), Machine::topology);
            let works = if operation.is_some() { "has operations" } else { "takes part" };
            let rank = label(rank);
            match place {
                Some(place) => {
                    format!("rank {rank} {works}, but is on rank {}, which failed", topology.numbered_name(place))
                }
                None => format!("rank {rank} {works}, but is not on the machine"),
            }
        }
        Fact::NotOnMachine { channel } => {
            let (from, to) = ends(channel);
            format!("channel {channel} joins rank {from} to rank {to}, but not both are on the machine")
        }
        Fact::NoLink { channel, from, to, why } => {
            let topology = machine.map_or(program.problem.topology(), Machine::topology);
            let (from, to) = (topology.rank_label(from), topology.rank_label(to));
            let why = match why {
                NoLink::Failed(rank) => format!("rank {} failed", topology.numbered_name(rank)),
                NoLink::Missing => "there is no such link".to_owned(),
                NoLink::Dead => "the link failed".to_owned(),
            };
            format!("channel {channel} leads from rank {from} to rank {to}: {why}")
        }
        Fact::TooMuchScratch { slots, most } => format!("{slots} slots of scratch in all; at most {most} are judged"),
        Fact::BadChannel { channel } if program.channels[channel].slots == 0 => {
            format!("channel {channel} has no slots: no packet ever fits")
        }
        Fact::BadChannel { channel } if program.channels[channel].from == program.channels[channel].to => {
            format!("channel {channel} leads from rank {} to itself: it joins two ranks", ends(channel).0)
        }
        Fact::BadChannel { channel } => {
            let (from, to) = ends(channel);
            format!("channel {channel} joins rank {from} to rank {to}, but not both exist")
        }
        Fact::BadOperation(what) => {
            let rank = operation.map(|number| program.rank_of(program.worker_of(number))).unwrap_or(RankId(0));
            format!("{}: {}", this(), bad_operation(program, rank, what))
        }
        Fact::SharedEnd { channel, end, workers: [one, other] } => {
            let first = narrow(program.workers(program.rank_of(one as usize)).start);
            let what = if matches!(end, End::Sender) { "send on" } else { "receive from" };
            format!("{}: workers {} and {} both {what} channel {channel}", this(), one - first, other - first)
        }
        Fact::OtherLength { sender, sent, count } => {
            let takes = counted(count as usize, "slot");
            format!("{} takes {takes}, but the packet has {sent}, from {}", this(), one(sender))
        }
        Fact::WaitsForever(obstacle) => {
            let why = match obstacle {
                Some(Obstacle::Packet(channel)) => format!("no more sends on channel {channel}"),
                Some(Obstacle::Room(channel)) => format!("channel {channel} is full, and no more receives from it"),
                Some(Obstacle::Operation(_)) | None => "what it waits for never comes".to_owned(),
            };
            format!("{} waits forever: {why}", this())
        }
        Fact::NeverReceived { channel, packets } => {
            let (packets, are) = (counted(packets, "packet"), if packets == 1 { "is" } else { "are" });
            format!("{packets} on channel {channel} {are} never received, the first from {}", this())
        }
        Fact::Deadlock(ref cycle) => {
            let cycle: Vec<String> = cycle.iter().map(|&one| waiting(program, one)).collect();
            format!("deadlock: {}", cycle.join("; "))
        }
        Fact::Race { rank, place, earlier, later } => {
            let does = |access: Access| if access == Access::Read { "reads" } else { "writes" };
            let ((earlier, did), (later, does_later)) =
                ((one(earlier.0), does(earlier.1)), (one(later.0), does(later.1)));
            let slot = slot_at(program, rank, place);
            format!("race on {slot}: {earlier} {did} it, {later} {does_later} it, and nothing orders them")
        }
        Fact::Output { output, ref wrong } => wrong_output(program, output, wrong),
        Fact::PacketCount { channel, packets, stated } => format!(
            "channel {channel} has {} with slots, but its transfers are stated to have {stated}",
            counted(packets, "packet")
        ),
        Fact::SharedLink { channel, send, receive } => {
            let ((from, to), send, receive) = (ends(channel as usize), one(send), one(receive));
            format!(
                "two transfers may be on the link from rank {from} to rank {to} at a time: {send} does not come after \
                 {receive}"
            )
        }
    }
}

fn bad_operation(program: &Program, rank: RankId, what: BadOperation) -> String {
    match what {
        BadOperation::NoWorker => format!("the rank has {}", counted(program.workers(rank).len(), "worker")),
        BadOperation::NoOperation { worker, target } => {
            format!("worker {worker} has {}", counted(program.range(target).len(), "operation"))
        }
        BadOperation::NoChannel => match program.channels.len() {
            1 => "there is 1 channel".to_owned(),
            many => format!("there are {many} channels"),
        },
        BadOperation::OtherRank { channel, rank, end } => {
            let rank = program.problem.topology().numbered_name(rank);
            let does = if matches!(end, End::Sender) { "sends" } else { "receives" };
            format!("on channel {channel}, rank {rank} {does}")
        }
        BadOperation::Beyond { buffer, len } => {
            let rank = program.problem.topology().numbered_name(rank);
            format!("the {} of rank {rank} has {}", buffer.name(), counted(len as usize, "slot"))
        }
        BadOperation::Overlap => "the slots it writes overlap in part those it reads".to_owned(),
    }
}

fn waiting(program: &Program, waiting: Waiting) -> String {
    let why = match waiting.obstacle {
        Some(Obstacle::Packet(_)) => "waits for a packet from".to_owned(),
        Some(Obstacle::Room(channel)) => {
            let full = match program.channels[channel as usize].slots {
                1 => "its only slot is full".to_owned(),
                slots => format!("all {slots} slots are full"),
            };
            format!("waits for room in channel {channel} ({full}) from")
        }
        Some(Obstacle::Operation(_)) | None => "waits for".to_owned(),
    };
    format!("{} {why} {}", describe(program, waiting.operation), name(program, waiting.worker))
}

/// The slot at a place of a rank.
fn slot_at(program: &Program, rank: RankId, place: usize) -> String {
    let layout = program.layout(rank);
    let slots = |buffer| (0..layout.len(buffer)).map(move |offset| Slot { buffer, offset });
    let slot = Buffer::ALL.into_iter().flat_map(slots).find(|&slot| layout.place(slot) == place);
    slot.map(|slot| slot.to_string()).unwrap_or_default()
}

fn wrong_output(program: &Program, output: Output, wrong: &Wrong) -> String {
    let label = |chunk| program.problem.chunk_label(chunk);
    let named = |rank: &RankId| program.problem.topology().numbered_name(*rank);
    let demand = format!("rank {} must have chunk {} in {}", named(&output.rank), label(output.chunk), output.slot);
    let written = output.writer.map(|writer| format!("; written last by {}", describe(program, writer)));
    match wrong {
        Wrong::Unset => match written {
            None => format!("{demand}, but {} is never written", output.slot),
            Some(written) => format!("{demand}, but holds what was never written{written}"),
        },
        Wrong::Fault(operation, kind) => {
            let what = match *kind {
                FaultKind::Unset => "added to or from a slot that was never written".to_owned(),
                FaultKind::Mixed(a, b) => format!("added chunks {} and {}", label(a), label(b)),
                FaultKind::Uncombinable(chunk) => {
                    format!("added values of chunk {}, which cannot be combined", label(chunk))
                }
            };
            format!("{demand}: {} {what}", describe(program, *operation))
        }
        Wrong::OtherChunk(chunk) => {
            format!("{demand}, but it holds chunk {}{}", label(*chunk), written.unwrap_or_default())
        }
        Wrong::Repeated(operation, counts) => {
            let times = counts.iter().map(|(rank, count)| format!("rank {}'s {count} times", named(rank)));
            let (shown, more) = listed(times);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            format!("{demand}, but counts {shown}{more}; first at {}", describe(program, *operation))
        }
        Wrong::Lacks(missing) => {
            let (shown, more) = listed(missing.iter().map(named));
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{demand}, but lacks what ranks {shown}{more} contribute{}", written.unwrap_or_default())
        }
    }
}

/// `1 slot`, `2 slots`.
fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The first names, and how many are left out.
fn listed(names: impl ExactSizeIterator<Item = String>) -> (String, usize) {
    let more = names.len().saturating_sub(LISTED);
    (names.take(LISTED).collect::<Vec<_>>().join(", "), more)
}
