//! Does every operation name only what exists, and does every channel have one worker at each end?

use crate::audit::facts::code::ProgramCode;
use crate::audit::facts::fact::{BadOperation, End, Fact};
use crate::audit::facts::ledger::Ledger;
use collsynth_core::exact::narrow;
use collsynth_core::program::{Layout, Operation, Program};
use collsynth_core::topology::RankId;

/// The workers at the ends of the channels; [`NOBODY`] where no operation uses one.
pub(in crate::audit) struct Ends {
    pub(in crate::audit) sender: Vec<u32>,
    pub(in crate::audit) receiver: Vec<u32>,
}

/// The most slots of scratch of all ranks together: more might not fit in memory.
const MOST_SCRATCH: u64 = 1 << 27;

/// No worker has this number.
pub(in crate::audit) const NOBODY: u32 = u32::MAX;

/// Checks all operations; `None` if something is wrong: then the program has no meaning.
pub(in crate::audit) fn check(program: &Program, ledger: &mut Ledger) -> Option<Ends> {
    let before = ledger.count();
    let channels = program.channels.len();
    let mut ends = Ends { sender: vec![NOBODY; channels], receiver: vec![NOBODY; channels] };
    let scratch: u64 = program.scratch.iter().map(|&slots| u64::from(slots)).sum();
    if scratch > MOST_SCRATCH {
        ledger.add(ProgramCode::P006, None, || Fact::TooMuchScratch { slots: scratch, most: MOST_SCRATCH });
    }
    for (channel, stated) in program.channels.iter().enumerate() {
        let known = |rank: RankId| rank.index() < program.rank_count();
        if !known(stated.from) || !known(stated.to) || stated.from == stated.to || stated.slots == 0 {
            ledger.add(ProgramCode::P006, None, || Fact::BadChannel { channel });
        }
    }
    for rank in (0..narrow(program.rank_count())).map(RankId) {
        let layout = program.layout(rank);
        for worker in program.workers(rank) {
            for number in program.range(worker) {
                let mut check = Check { program, rank, worker: narrow(worker), number, ends: &mut ends, ledger };
                check.operation(&layout);
            }
        }
    }
    (ledger.count() == before).then_some(ends)
}

/// The current operation.
struct Check<'a> {
    program: &'a Program,
    rank: RankId,
    worker: u32,
    number: usize,
    ends: &'a mut Ends,
    ledger: &'a mut Ledger,
}

impl Check<'_> {
    fn operation(&mut self, layout: &Layout<'_>) {
        let program = self.program;
        let operation = program.operations()[self.number];
        match operation {
            Operation::Send { channel, .. } => self.uses(channel, End::Sender),
            Operation::Receive { channel, forward, .. } => {
                self.uses(channel, End::Receiver);
                if let Some(forward) = forward {
                    self.uses(forward, End::Sender);
                }
            }
            Operation::Wait { worker, operation } => {
                let workers = program.workers(self.rank);
                let target = workers.start + worker as usize;
                if worker as usize >= workers.len() {
                    self.wrong(BadOperation::NoWorker);
                } else if operation as usize >= program.range(target).len() {
                    self.wrong(BadOperation::NoOperation { worker, target });
                }
            }
            Operation::Copy { .. } | Operation::Reduce { .. } => {}
        }
        let written = operation.writes();
        for (slot, count) in operation.reads().chain(written) {
            if u64::from(slot.offset) + u64::from(count) > u64::from(layout.len(slot.buffer)) {
                self.wrong(BadOperation::Beyond { buffer: slot.buffer, len: layout.len(slot.buffer) });
                return;
            }
        }
        if let Some((dst, count)) = written.filter(|&(_, count)| count > 0) {
            for (src, _) in operation.reads() {
                let distance = layout.place(src).abs_diff(layout.place(dst));
                if distance > 0 && distance < count as usize {
                    self.wrong(BadOperation::Overlap);
                }
            }
        }
    }

    /// The worker must be the only one at this end of the channel, which must be at its rank.
    fn uses(&mut self, channel: u32, end: End) {
        let Some(ends) = self.program.channels.get(channel as usize) else {
            return self.wrong(BadOperation::NoChannel);
        };
        let (rank, workers) = match end {
            End::Sender => (ends.from, &mut self.ends.sender),
            End::Receiver => (ends.to, &mut self.ends.receiver),
        };
        if rank != self.rank {
            return self.wrong(BadOperation::OtherRank { channel, rank, end });
        }
        let other = std::mem::replace(&mut workers[channel as usize], self.worker);
        if other != NOBODY && other != self.worker {
            let workers = [other, self.worker];
            self.ledger.add(ProgramCode::P005, Some(self.number), || Fact::SharedEnd { channel, end, workers });
        }
    }

    fn wrong(&mut self, what: BadOperation) {
        self.ledger.add(ProgramCode::P006, Some(self.number), || Fact::BadOperation(what));
    }
}
