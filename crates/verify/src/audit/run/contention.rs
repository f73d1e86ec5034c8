//! Is a link ever shared? No two transfers may be on one link at the same time in any interleaving.
//!
//! A packet is on its link from the operation that sends it to the end of the one that receives it; a transfer is a
//! packet, or several packets of a channel that the program declares to belong together. So a link is never shared if
//! its transfers can be put in sequence such that the receive of the last packet of each comes before the send of the
//! first of the next, by worker orders, waits and packets (Lamport, CACM 1978):
//!
//! ```text
//! rank 3   send A ........................ send B           ... must be a chain of orders
//! rank 7          receive A --- token ---/
//! ```
//!
//! If there is such a sequence, it is the one in the interleaving that was executed, so only consecutive transfers need
//! comparing. Otherwise some interleaving has both in flight at a time. Tokens carry no data and are left out.
//! Back-pressure from a full channel does not count as an order.
//!
//! First the orders within the two ranks of a channel are tried, in O(their operations), then those through a few
//! workers (`hub`), in O(all operations) each. The rest is searched in the whole program, for a batch of channels at a
//! time.

use collsynth_core::exact::narrow;
use std::collections::{BTreeMap, BTreeSet};

use super::execute::Interleaving;
use super::hub::{Hub, chain};
use super::order::{Order, join};
use super::structure::NOBODY;
use crate::audit::facts::code::ProgramCode;
use crate::audit::facts::fact::Fact;
use crate::audit::facts::ledger::Ledger;
use crate::audit::machine::Machine;

use collsynth_core::program::{Operation, Program};
use collsynth_core::topology::{Direction, RankId};

/// Channels per search of the whole program.
const BATCH: usize = 32;
/// Claims for which a chain of orders is searched, and the workers on it that are tried.
const TRIES: usize = 8;
const WORKERS: usize = 12;

/// Reports transfers that may be on a link together.
pub(in crate::audit) fn check(
    program: &Program,
    machine: Option<&Machine<'_>>,
    run: &Interleaving<'_>,
    order: &Order,
    ledger: &mut Ledger,
) {
    let Some(transfers) = transfers(program, run, ledger) else { return };
    let mut claims = vec![Vec::new(); program.channels.len()];
    for mut sequence in by_link(program, machine.is_some() || program.has_links, transfers).into_values() {
        sequence.sort_by_key(|transfer| order.position[transfer.first_send]);
        for pair in sequence.windows(2) {
            let (one, next) = (&pair[0], &pair[1]);
            claims[one.channel].push(Claim { received: one.received, last: one.last_receive, send: next.first_send });
        }
    }
    let operations = program.operations().len();
    let mut near = Counts { program, run, order, channels: vec![0], counts: vec![0; operations] };
    let mut open = Vec::new();
    for (channel, claims) in (0..).zip(claims).filter(|(_, claims)| !claims.is_empty()) {
        near.channels[0] = channel;
        near.pass_nearby();
        let proven = |claim: &Claim| near.has_passed_nearby(claim.send) && near.proves(claim, 0);
        open.extend(claims.into_iter().filter(|claim| !proven(claim)).map(|claim| (channel, claim)));
    }
    let (open, mut wrong) = try_hubs(program, run, order, open);
    for batch in open.chunk_by(|one, other| one.0 == other.0).collect::<Vec<_>>().chunks(BATCH) {
        let channels: Vec<u32> = batch.iter().map(|claims| claims[0].0).collect();
        let counts = vec![0; operations * channels.len()];
        let mut far = Counts { program, run, order, channels, counts };
        far.pass_everywhere();
        for (place, claims) in batch.iter().enumerate() {
            wrong.extend(claims.iter().filter(|(_, claim)| !far.proves(claim, place)));
        }
    }
    wrong.sort_by_key(|(channel, claim)| (*channel, claim.received));
    for (channel, claim) in wrong {
        let Claim { last: receive, send, .. } = claim;
        ledger.add(ProgramCode::P008, Some(send), || Fact::SharedLink { channel, send, receive });
    }
}

/// Proves claims by chains through a few workers. Returns those still open, in the same order, and those refuted.
fn try_hubs(program: &Program, run: &Interleaving<'_>, order: &Order, mut open: Vec<Open>) -> (Vec<Open>, Vec<Open>) {
    let mut wrong = Vec::new();
    // A barrier of all ranks usually leads through the first worker.
    let first = (0..program.worker_count()).find(|&worker| !program.range(worker).is_empty());
    if let Some(worker) = first.filter(|_| !open.is_empty()) {
        let hub = Hub::new(program, run, order, worker);
        open.retain(|(_, claim)| !hub.joins(claim.last, claim.send));
    }
    for turn in 1..=TRIES {
        if open.is_empty() {
            break;
        }
        let sample = open.len() * turn / (TRIES + 1);
        let claim = open[sample].1;
        let Some(workers) = chain(program, run, order, claim.last, claim.send) else {
            wrong.push(open.remove(sample));
            continue;
        };
        // Each worker on the chain proves at least this claim.
        for worker in workers.into_iter().take(WORKERS) {
            let hub = Hub::new(program, run, order, worker);
            let before = open.len();
            open.retain(|(_, claim)| !hub.joins(claim.last, claim.send));
            if open.len() * 2 < before {
                break;
            }
        }
    }
    (open, wrong)
}

/// Packets that are one transfer.
struct Transfer {
    channel: usize,
    first_send: usize,
    last_receive: usize,
    /// The packets with slots that the channel has delivered when the transfer ends.
    received: u32,
}

/// A claim and the channel of the packets received.
type Open = (u32, Claim);

/// To be proven: `received` packets of a channel were received, the last by operation `last`, before `send`.
#[derive(Clone, Copy)]
struct Claim {
    received: u32,
    last: usize,
    send: usize,
}

/// The transfers of all channels; `None` if the program miscounts its packets.
fn transfers(program: &Program, run: &Interleaving<'_>, ledger: &mut Ledger) -> Option<Vec<Transfer>> {
    let mut received_by = vec![NOBODY; program.operations().len()];
    for (number, &sender) in run.sent_by.iter().enumerate().filter(|&(_, &sender)| sender != NOBODY) {
        received_by[sender as usize] = narrow(number);
    }
    let before = ledger.count();
    let mut transfers = Vec::new();
    for (channel, sends) in program.sends().into_iter().enumerate() {
        let stated = program.transfers.get(channel).map_or(&[][..], Vec::as_slice);
        let total: u64 = stated.iter().map(|&count| u64::from(count)).sum();
        if !stated.is_empty() && total != sends.len() as u64 {
            let packets = sends.len();
            let fact = || Fact::PacketCount { channel, packets, stated: total };
            ledger.add(ProgramCode::P008, sends.first().copied(), fact);
            continue;
        }
        let mut begin = 0;
        for end in program.transfer_ends(channel, sends.len()) {
            let last_receive = received_by[sends[end - 1]] as usize;
            transfers.push(Transfer { channel, first_send: sends[begin], last_receive, received: narrow(end) });
            begin = end;
        }
    }
    (ledger.count() == before).then_some(transfers)
}

/// The link of a channel: the ranks of the program that it joins, which no two places on the machine share, and the
/// direction if there is a machine that has it and all channels between them state one.
type Link = (RankId, RankId, Option<Direction>);

fn by_link(program: &Program, has_links: bool, transfers: Vec<Transfer>) -> BTreeMap<Link, Vec<Transfer>> {
    let ends = |channel: usize| {
        let channel = program.channels[channel];
        (channel.from, channel.to, channel.via.filter(|_| has_links))
    };
    // A channel without `via` may take either of two links.
    let ambiguous: BTreeSet<(RankId, RankId)> =
        transfers.iter().map(|one| ends(one.channel)).filter(|end| end.2.is_none()).map(|end| (end.0, end.1)).collect();
    let mut by_link: BTreeMap<Link, Vec<Transfer>> = BTreeMap::new();
    for transfer in transfers {
        let (from, to, via) = ends(transfer.channel);
        let via = via.filter(|_| !ambiguous.contains(&(from, to)));
        by_link.entry((from, to, via)).or_default().push(transfer);
    }
    by_link
}

/// The packets of some channels received before or by each operation, propagated from operation to operation.
struct Counts<'a> {
    program: &'a Program,
    run: &'a Interleaving<'a>,
    order: &'a Order,
    channels: Vec<u32>,
    /// For each operation passed, a count for each channel.
    counts: Vec<u32>,
}

impl Counts<'_> {
    /// Passes all operations.
    fn pass_everywhere(&mut self) {
        for &number in &self.run.order {
            self.pass(number as usize, |_| true);
        }
    }

    /// Passes the operations at the ends of the only channel, and follows packets only between these.
    fn pass_nearby(&mut self) {
        let ends = self.program.channels[self.channels[0] as usize];
        let mut numbers = self.order.by_rank[ends.from.index()].clone();
        if ends.to != ends.from {
            numbers.extend(&self.order.by_rank[ends.to.index()]);
            numbers.sort_by_key(|&number| self.order.position[number as usize]);
        }
        for number in numbers {
            self.pass(number as usize, |rank| rank == ends.from || rank == ends.to);
        }
    }

    /// True if `pass_nearby` passed the operation: else its count is that of another channel.
    fn has_passed_nearby(&self, number: usize) -> bool {
        let ends = self.program.channels[self.channels[0] as usize];
        [ends.from, ends.to].contains(&self.order.rank[number])
    }

    /// Passes an operation, after all that come before it. Follows packets only from some ranks.
    fn pass(&mut self, number: usize, follow: impl Fn(RankId) -> bool) {
        let width = self.channels.len();
        self.counts[number * width..(number + 1) * width].fill(0);
        for earlier in self.order.before(self.program, self.run, number).into_iter().flatten() {
            if follow(self.order.rank[earlier]) {
                join(&mut self.counts, width, number, earlier);
            }
        }
        // All receives of a channel are in one worker, so earlier ones are already counted.
        if let Operation::Receive { channel, count: 1.., .. } = self.program.operations()[number]
            && let Some(place) = self.channels.iter().position(|&one| one == channel)
        {
            self.counts[number * width + place] += 1;
        }
    }

    /// True if the operations passed prove the claim.
    fn proves(&self, claim: &Claim, place: usize) -> bool {
        self.counts[claim.send * self.channels.len() + place] >= claim.received
    }
}
