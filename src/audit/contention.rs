//! Is a link ever shared? Two transfers must never be on one link at the same time, whatever the interleaving.
//!
//! A message is on its link from the operation that sends it to the end of the one that receives it; a transfer is a
//! message, or as many messages of a channel as the program says belong together. So a link is never shared if its
//! transfers can be put in a row such that what receives the last message of each comes before what sends the first of
//! the next, by worker orders, waits and messages (Lamport, CACM 1978):
//!
//! ```text
//! rank 3   send A ........................ send B           ... must be a chain of orders
//! rank 7          receive A --- token ---/
//! ```
//!
//! If there is such a row, it is the one in which the transfers ran in the one interleaving that was executed, so
//! neighbours in that row are all that has to be compared. Otherwise some interleaving has both on their way at a time.
//! Tokens carry no data and are left out. That a full channel holds its sender back counts as no order.
//!
//! First the orders within the two ranks of a channel are tried, in O(their operations); what they do not prove is looked
//! for in the whole program, for so many channels at a time.

use std::collections::BTreeMap;

use super::run::Outcome;
use super::structure::NOBODY;
use super::words::describe;
use super::{Code, Machine, Report};
use crate::program::{Operation, Program};
use crate::topology::{Direction, RankId};

/// Channels that are followed through the whole program at a time.
const AT_A_TIME: usize = 32;

/// Reports transfers that may be on a link together.
pub(super) fn check(program: &Program, machine: Option<Machine<'_>>, outcome: &Outcome<'_>, report: &mut Report) {
    let Some(transfers) = transfers(program, outcome, report) else { return };
    let mut position = vec![0; program.operations().len()];
    for (at, &number) in outcome.order.iter().enumerate() {
        position[number as usize] = at;
    }
    let mut claims = vec![Vec::new(); program.channels.len()];
    for mut row in by_link(program, machine, transfers).into_values() {
        row.sort_by_key(|transfer| position[transfer.first_send]);
        for pair in row.windows(2) {
            let (one, next) = (&pair[0], &pair[1]);
            claims[one.channel].push(Claim { received: one.received, last: one.last_receive, send: next.first_send });
        }
    }
    let operations = program.operations().len();
    let places = Places::new(program, outcome, position);
    let mut near = Counts { program, outcome, places: &places, channels: vec![0], counts: vec![0; operations] };
    let mut open = Vec::new();
    for (channel, claims) in (0..).zip(claims).filter(|(_, claims)| !claims.is_empty()) {
        near.channels[0] = channel;
        near.pass_nearby();
        let left: Vec<Claim> = claims.into_iter().filter(|claim| !near.proves(claim, 0)).collect();
        if !left.is_empty() {
            open.push((channel, left));
        }
    }
    for batch in open.chunks(AT_A_TIME) {
        let channels: Vec<u32> = batch.iter().map(|&(channel, _)| channel).collect();
        let counts = vec![0; operations * channels.len()];
        let mut far = Counts { program, outcome, places: &places, channels, counts };
        far.pass_everywhere();
        for (place, (channel, claims)) in batch.iter().enumerate() {
            for claim in claims.iter().filter(|claim| !far.proves(claim, place)) {
                report.add(Code::P008, Some(claim.send), || words(program, *channel, claim));
            }
        }
    }
}

fn words(program: &Program, channel: u32, claim: &Claim) -> String {
    let ends = program.channels[channel as usize];
    let (send, receive) = (describe(program, claim.send), describe(program, claim.last));
    let (from, to) = (ends.from, ends.to);
    format!(
        "two transfers may be on the link from rank {from} to rank {to} at a time: {send} does not come after {receive}"
    )
}

/// Messages that are one transfer.
struct Transfer {
    channel: usize,
    first_send: usize,
    last_receive: usize,
    /// How many messages with slots the channel has brought when it is over.
    received: u32,
}

/// What is to be proven: so many messages of a channel were received, the last by that operation, before that send.
#[derive(Clone, Copy)]
struct Claim {
    received: u32,
    last: usize,
    send: usize,
}

/// The transfers of all channels. `None` if the program does not count its messages right.
fn transfers(program: &Program, outcome: &Outcome<'_>, report: &mut Report) -> Option<Vec<Transfer>> {
    let mut received_by = vec![NOBODY; program.operations().len()];
    for (number, &sender) in outcome.sent_by.iter().enumerate().filter(|&(_, &sender)| sender != NOBODY) {
        received_by[sender as usize] = number as u32;
    }
    let before = report.violation_count();
    let mut transfers = Vec::new();
    for (channel, sends) in program.sends().into_iter().enumerate() {
        let stated = program.transfers.get(channel).map_or(&[][..], Vec::as_slice);
        let total: u64 = stated.iter().map(|&count| u64::from(count)).sum();
        if !stated.is_empty() && total != sends.len() as u64 {
            report.add(Code::P008, sends.first().copied(), || {
                let count = sends.len();
                format!(
                    "channel {channel} has {count} message(s) with slots, but {total} are said to make up its transfers"
                )
            });
            continue;
        }
        let mut begin = 0;
        for end in program.transfer_ends(channel, sends.len()) {
            let last_receive = received_by[sends[end - 1]] as usize;
            transfers.push(Transfer { channel, first_send: sends[begin], last_receive, received: end as u32 });
            begin = end;
        }
    }
    (report.violation_count() == before).then_some(transfers)
}

/// The link of a channel: its ends on the machine, and the direction where all channels between them state one.
type Link = (RankId, RankId, Option<Direction>);

fn by_link(program: &Program, machine: Option<Machine<'_>>, transfers: Vec<Transfer>) -> BTreeMap<Link, Vec<Transfer>> {
    let on_machine = |rank: RankId| match machine {
        Some(machine) => machine.rank_map.get(rank.index()).copied().unwrap_or(rank),
        None => rank,
    };
    let ends = |channel: usize| {
        let channel = program.channels[channel];
        (on_machine(channel.from), on_machine(channel.to), channel.via)
    };
    // A channel that does not say which of two links it takes may share either.
    let mut unsaid: BTreeMap<(RankId, RankId), bool> = BTreeMap::new();
    for transfer in &transfers {
        let (from, to, via) = ends(transfer.channel);
        *unsaid.entry((from, to)).or_default() |= via.is_none();
    }
    let mut by_link: BTreeMap<Link, Vec<Transfer>> = BTreeMap::new();
    for transfer in transfers {
        let (from, to, via) = ends(transfer.channel);
        let via = via.filter(|_| !unsaid[&(from, to)]);
        by_link.entry((from, to, via)).or_default().push(transfer);
    }
    by_link
}

/// Where operations stand.
struct Places {
    /// For each operation its worker and its rank, and its place in the order in which they ran.
    worker: Vec<u32>,
    rank: Vec<RankId>,
    position: Vec<usize>,
    /// The operations of each rank in the order in which they ran.
    by_rank: Vec<Vec<u32>>,
}

impl Places {
    fn new(program: &Program, outcome: &Outcome<'_>, position: Vec<usize>) -> Self {
        let count = program.operations().len();
        let (mut worker, mut rank) = (vec![0; count], vec![RankId(0); count]);
        for own in (0..program.rank_count() as u32).map(RankId) {
            for number in program.workers(own) {
                worker[program.range(number)].fill(number as u32);
                rank[program.range(number)].fill(own);
            }
        }
        let mut by_rank = vec![Vec::new(); program.rank_count()];
        for &number in &outcome.order {
            by_rank[rank[number as usize].index()].push(number);
        }
        Self { worker, rank, position, by_rank }
    }
}

/// How many messages of some channels were received before or by each operation, carried from one operation to the next.
struct Counts<'a> {
    program: &'a Program,
    outcome: &'a Outcome<'a>,
    places: &'a Places,
    channels: Vec<u32>,
    /// For each operation that was gone through, a count for each of the channels.
    counts: Vec<u32>,
}

impl Counts<'_> {
    /// Goes through all operations.
    fn pass_everywhere(&mut self) {
        for &number in &self.outcome.order {
            self.pass(number as usize, |_| true);
        }
    }

    /// Goes through the operations at the ends of the one channel, and follows messages between these alone.
    fn pass_nearby(&mut self) {
        let ends = self.program.channels[self.channels[0] as usize];
        let places = self.places;
        let of = |rank: RankId| places.by_rank[rank.index()].as_slice();
        let (mut one, mut other) = (of(ends.from), if ends.from == ends.to { &[] } else { of(ends.to) });
        while let Some(&number) = one.first().or(other.first()) {
            let is_later = |first: &u32| places.position[*first as usize] < places.position[number as usize];
            let number = match other.first().filter(|first| is_later(first)) {
                Some(&number) => {
                    other = &other[1..];
                    number
                }
                None if one.is_empty() => {
                    other = &other[1..];
                    number
                }
                None => {
                    one = &one[1..];
                    number
                }
            };
            self.pass(number as usize, |rank| rank == ends.from || rank == ends.to);
        }
    }

    /// Goes through an operation, after all that come before it; of messages, only those from some ranks are followed.
    fn pass(&mut self, number: usize, follow: impl Fn(RankId) -> bool) {
        let width = self.channels.len();
        self.counts[number * width..(number + 1) * width].fill(0);
        if number > self.program.range(self.places.worker[number] as usize).start {
            self.join(number, number - 1);
        }
        let operation = self.program.operations()[number];
        if let Operation::Wait { worker: other, operation } = operation {
            let target = self.program.workers(self.places.rank[number]).start + other as usize;
            self.join(number, self.program.range(target).start + operation as usize);
        }
        let sender = self.outcome.sent_by[number];
        if sender != NOBODY && follow(self.places.rank[sender as usize]) {
            self.join(number, sender as usize);
        }
        // All receives of a channel are in one worker, so those before this one are counted by now.
        if let Operation::Receive { channel, count: 1.., .. } = operation
            && let Some(place) = self.channels.iter().position(|&one| one == channel)
        {
            self.counts[number * width + place] += 1;
        }
    }

    fn join(&mut self, to: usize, from: usize) {
        let width = self.channels.len();
        for place in 0..width {
            self.counts[to * width + place] = self.counts[to * width + place].max(self.counts[from * width + place]);
        }
    }

    /// True if the operations that were gone through show that the claim is true.
    fn proves(&self, claim: &Claim, place: usize) -> bool {
        self.counts[claim.send * self.channels.len() + place] >= claim.received
    }
}
