//! Races: two operations of a rank that touch the same slot, one to write it, and that nothing orders.
//!
//! The operations of a rank are examined in the order of the run, with vector clocks: for each worker of the rank, how
//! many of its operations come before. For each place, the last write and each worker's last read since are kept; a new
//! access must come after those it conflicts with (Flanagan and Freund, "FastTrack", PLDI 2009).
//!
//! First only waits within the rank count as orders. If they do not order two accesses, packets through other ranks
//! still may: then the clocks of this rank's workers are propagated through the whole program. So the answer is exact,
//! and cheap for programs that order accesses by waits.

use super::execute::Interleaving;
use super::order::{Order, join};
use super::structure::NOBODY;
use crate::audit::facts::code::ProgramCode;
use crate::audit::facts::fact::{Access, Fact};
use crate::audit::facts::ledger::Ledger;
use collsynth_core::exact::narrow;

use collsynth_core::program::{Operation, Program, Slot};
use collsynth_core::topology::RankId;

/// Reports the races of a program that terminates.
pub(in crate::audit) fn check(program: &Program, run: &Interleaving<'_>, order: &Order, ledger: &mut Ledger) {
    for rank in (0..narrow(program.rank_count())).map(RankId) {
        let mine = &order.by_rank[rank.index()];
        let Some(suspects) = Rank::new(program, run, rank, ledger).and_then(|rank| rank.suspects(mine)) else {
            ledger.memory.exceed();
            return;
        };
        if suspects.is_empty() {
            continue;
        }
        let clocks_bytes = program.operations().len() * program.workers(rank).len() * size_of::<u32>();
        if !ledger.memory.fits((clocks_bytes + suspects.len() * size_of::<Suspect>()) as u64) {
            return;
        }
        let clocks = clocks_through_all(program, run, order, rank);
        let workers = program.workers(rank);
        for suspect in suspects {
            let Suspect { place, what, .. } = suspect;
            let (earlier, later) = (suspect.earlier as usize, suspect.later as usize);
            let worker = program.worker_of(earlier);
            let entry = later * workers.len() + (worker - workers.start);
            if clocks[entry] as usize <= earlier - program.range(worker).start {
                let (earlier, later) = ((earlier, what.0), (later, what.1));
                ledger.add(ProgramCode::P004, Some(later.0), || Fact::Race { rank, place, earlier, later });
            }
        }
    }
}

/// Two accesses of a place.
struct Suspect {
    earlier: u32,
    later: u32,
    /// The place, and what the two do there.
    place: usize,
    what: (Access, Access),
}

/// For each operation of the program, how many operations of each worker of a rank come no later.
fn clocks_through_all(program: &Program, run: &Interleaving<'_>, order: &Order, rank: RankId) -> Vec<u32> {
    let own = program.workers(rank);
    let width = own.len();
    let mut clocks = vec![0; program.operations().len() * width];
    for number in run.order.iter().map(|&number| number as usize) {
        for earlier in order.before(program, run, number).into_iter().flatten() {
            join(&mut clocks, width, number, earlier);
        }
        let worker = order.worker[number] as usize;
        if own.contains(&worker) {
            clocks[number * width + worker - own.start] = narrow(number - program.range(worker).start) + 1;
        }
    }
    clocks
}

/// What the first reader of a place takes, and each further one.
const FIRST_READER: u64 = 32;
const READER: u64 = 8;

/// The accesses of one rank, ordered by its own waits.
struct Rank<'a> {
    program: &'a Program,
    run: &'a Interleaving<'a>,
    rank: RankId,
    first_worker: usize,
    width: usize,
    first_operation: usize,
    /// `width` entries per operation of the rank.
    clocks: Vec<u32>,
    /// For each place, the last write and each worker's last read since.
    written: Vec<u32>,
    read: Vec<Vec<u32>>,
    suspects: Vec<Suspect>,
    /// The bytes that `read` and `suspects` may still take.
    room: u64,
}

impl<'a> Rank<'a> {
    /// `None` if this takes more memory than is left.
    fn new(program: &'a Program, run: &'a Interleaving<'a>, rank: RankId, ledger: &Ledger) -> Option<Self> {
        let workers = program.workers(rank);
        let first_operation = if workers.is_empty() { 0 } else { program.range(workers.start).start };
        let last = if workers.is_empty() { 0 } else { program.range(workers.end - 1).end };
        let places = run.layouts[rank.index()].place_count();
        let clocks = (last - first_operation) * workers.len();
        let bytes = clocks * size_of::<u32>() + places * (size_of::<u32>() + size_of::<Vec<u32>>());
        let room = ledger.memory.left().checked_sub(bytes as u64)?;
        Some(Self {
            program,
            run,
            rank,
            first_worker: workers.start,
            width: workers.len(),
            first_operation,
            clocks: vec![0; clocks],
            written: vec![NOBODY; places],
            read: vec![Vec::new(); places],
            suspects: Vec::new(),
            room,
        })
    }

    /// `None` if they take more memory than is left.
    fn suspects(mut self, mine: &[u32]) -> Option<Vec<Suspect>> {
        let layout = &self.run.layouts[self.rank.index()];
        for &number in mine {
            self.tick(number as usize);
            let operation = &self.program.operations()[number as usize];
            let places = |(slot, count): (Slot, u32)| match count {
                0 => 0..0,
                _ => layout.place(slot)..layout.place(slot) + count as usize,
            };
            operation.reads().flat_map(places).try_for_each(|place| self.reads(number, place))?;
            operation.writes().into_iter().flat_map(places).try_for_each(|place| self.writes(number, place))?;
        }
        Some(self.suspects)
    }

    fn tick(&mut self, number: usize) {
        let worker = self.program.worker_of(number);
        let start = self.program.range(worker).start;
        let at = number - self.first_operation;
        if number > start {
            join(&mut self.clocks, self.width, at, at - 1);
        }
        if let Operation::Wait { worker: other, operation } = self.program.operations()[number] {
            let target = self.program.range(self.first_worker + other as usize).start + operation as usize;
            join(&mut self.clocks, self.width, at, target - self.first_operation);
        }
        self.clocks[at * self.width + worker - self.first_worker] = narrow(number - start) + 1;
    }

    fn reads(&mut self, number: u32, place: usize) -> Option<()> {
        self.compare(self.written[place], number, place, (Access::Write, Access::Read))?;
        let worker = self.program.worker_of(number as usize);
        let range = self.program.range(worker);
        match self.read[place].iter_mut().find(|earlier| range.contains(&(**earlier as usize))) {
            Some(earlier) => *earlier = number,
            None => {
                self.take(if self.read[place].capacity() == 0 { FIRST_READER } else { READER })?;
                self.read[place].push(number);
            }
        }
        Some(())
    }

    fn writes(&mut self, number: u32, place: usize) -> Option<()> {
        self.compare(self.written[place], number, place, (Access::Write, Access::Write))?;
        let mut read = std::mem::take(&mut self.read[place]);
        for &earlier in &read {
            self.compare(earlier, number, place, (Access::Read, Access::Write))?;
        }
        read.clear();
        self.read[place] = read;
        self.written[place] = number;
        Some(())
    }

    fn take(&mut self, bytes: u64) -> Option<()> {
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }

    /// Records the two accesses unless the rank's own waits order them.
    fn compare(&mut self, earlier: u32, later: u32, place: usize, what: (Access, Access)) -> Option<()> {
        if earlier == NOBODY || earlier == later {
            return Some(());
        }
        let worker = self.program.worker_of(earlier as usize);
        let index = earlier as usize - self.program.range(worker).start;
        let entry = (later as usize - self.first_operation) * self.width + worker - self.first_worker;
        if self.clocks[entry] as usize <= index {
            self.take(2 * size_of::<Suspect>() as u64)?;
            self.suspects.push(Suspect { earlier, later, place, what });
        }
        Some(())
    }
}
