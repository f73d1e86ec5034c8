//! Does every operation name what exists, and has every channel one worker at each end?

use super::words::describe;
use super::{Code, Report};
use collsynth_core::program::{Buffer, Layout, Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// The workers at the ends of the channels; [`NOBODY`] where no operation uses one.
pub(super) struct Ends {
    pub(super) sender: Vec<u32>,
    pub(super) receiver: Vec<u32>,
}

/// Slots of scratch of all ranks together: more could not be held in memory.
const MOST_SCRATCH: u64 = 1 << 27;

/// No worker has this number.
pub(super) const NOBODY: u32 = u32::MAX;

/// Checks all operations. `None` if something is wrong: the program has then no meaning.
pub(super) fn check(program: &Program, report: &mut Report) -> Option<Ends> {
    let before = report.violation_count();
    let channels = program.channels.len();
    let mut ends = Ends { sender: vec![NOBODY; channels], receiver: vec![NOBODY; channels] };
    let scratch: u64 = program.scratch.iter().map(|&slots| u64::from(slots)).sum();
    if scratch > MOST_SCRATCH {
        report
            .add(Code::P006, None, || format!("{scratch} slots of scratch in all; at most {MOST_SCRATCH} are judged"));
    }
    for (number, channel) in program.channels.iter().enumerate() {
        let known = |rank: RankId| rank.index() < program.rank_count();
        if !known(channel.from) || !known(channel.to) || channel.slots == 0 {
            report.add(Code::P006, None, || match channel.slots {
                0 => format!("channel {number} has no slots: no packet ever fits"),
                _ => format!("channel {number} joins rank {} to rank {}, not both there", channel.from, channel.to),
            });
        }
    }
    for rank in (0..program.rank_count() as u32).map(RankId) {
        let layout = program.layout(rank);
        for worker in program.workers(rank) {
            for number in program.range(worker) {
                let mut place = Place { program, rank, worker: worker as u32, number, ends: &mut ends, report };
                place.check(&layout);
            }
        }
    }
    (report.violation_count() == before).then_some(ends)
}

/// The operation that is looked at.
struct Place<'a> {
    program: &'a Program,
    rank: RankId,
    worker: u32,
    number: usize,
    ends: &'a mut Ends,
    report: &'a mut Report,
}

impl Place<'_> {
    fn check(&mut self, layout: &Layout<'_>) {
        let program = self.program;
        let operation = program.operations()[self.number];
        match operation {
            Operation::Send { channel, .. } => self.sends_on(channel),
            Operation::Receive { channel, forward, .. } => {
                self.receives_from(channel);
                if let Some(forward) = forward {
                    self.sends_on(forward);
                }
            }
            Operation::Wait { worker, operation } => {
                let workers = program.workers(self.rank);
                let target = workers.start + worker as usize;
                if worker as usize >= workers.len() {
                    self.wrong(&format!("the rank has {} worker(s)", workers.len()));
                } else if operation as usize >= program.range(target).len() {
                    self.wrong(&format!("worker {worker} has {} operation(s)", program.range(target).len()));
                }
            }
            Operation::Copy { .. } | Operation::Reduce { .. } => {}
        }
        let written = operation.writes();
        for (slot, count) in operation.reads().chain(written) {
            if u64::from(slot.offset) + u64::from(count) > u64::from(layout.len(slot.buffer)) {
                self.beyond(slot.buffer, layout.len(slot.buffer));
                return;
            }
        }
        if let Some((dst, count)) = written {
            for (src, _) in operation.reads() {
                self.check_overlap(layout, src, dst, count);
            }
        }
    }

    fn check_overlap(&mut self, layout: &Layout<'_>, src: Slot, dst: Slot, count: u32) {
        if count > 0 {
            let distance = layout.place(src).abs_diff(layout.place(dst));
            if distance > 0 && distance < count as usize {
                self.wrong("the slots it writes overlap in part those it reads");
            }
        }
    }

    fn sends_on(&mut self, channel: u32) {
        let from = self.program.channels.get(channel as usize).map(|ends| ends.from);
        if self.is_own(channel, from, "sends") {
            let sender = &mut self.ends.sender[channel as usize];
            let other = std::mem::replace(sender, self.worker);
            self.check_alone(channel, other, "send on");
        }
    }

    fn receives_from(&mut self, channel: u32) {
        let to = self.program.channels.get(channel as usize).map(|ends| ends.to);
        if self.is_own(channel, to, "receives") {
            let receiver = &mut self.ends.receiver[channel as usize];
            let other = std::mem::replace(receiver, self.worker);
            self.check_alone(channel, other, "receive from");
        }
    }

    fn is_own(&mut self, channel: u32, end: Option<RankId>, what: &str) -> bool {
        match end {
            Some(end) if end == self.rank => return true,
            Some(end) => self.wrong(&format!("on channel {channel}, rank {end} {what}")),
            None => self.wrong(&format!("there are {} channel(s)", self.program.channels.len())),
        }
        false
    }

    fn check_alone(&mut self, channel: u32, other: u32, what: &str) {
        let (program, worker) = (self.program, self.worker);
        if other != NOBODY && other != worker {
            self.report.add(Code::P005, Some(self.number), || {
                let first = program.workers(program.rank_of(other as usize)).start as u32;
                format!(
                    "{}: workers {} and {} both {what} channel {channel}",
                    describe(program, self.number),
                    other - first,
                    worker - first
                )
            });
        }
    }

    fn beyond(&mut self, buffer: Buffer, len: u32) {
        self.wrong(&format!("the {} of rank {} has {len} slot(s)", buffer.name(), self.rank));
    }

    fn wrong(&mut self, what: &str) {
        let (program, number) = (self.program, self.number);
        self.report.add(Code::P006, Some(number), || format!("{}: {what}", describe(program, number)));
    }
}
