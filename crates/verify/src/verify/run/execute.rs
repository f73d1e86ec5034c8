//! Executing a schedule on sets of contributions instead of numbers, one chunk at a time.
//!
//! Chunks are independent, so the moves are sorted by chunk and each chunk runs alone, with one small array of what
//! every rank holds of it.
//!
//! What a violation delivers is *spoiled*: it moves on, but whatever fails because of it counts as a consequence of
//! that first cause and is not reported again.

use super::holdings::{Holdings, Stay};
use super::moves::Move;
use super::orders::OrderId;
use super::routes::{Passage, Route};
use super::scope::Scope;
use super::values::{ValueId, Values};
use crate::verify::facts::code::Code;
use crate::verify::facts::fact::{Data, Fact, Place};
use crate::verify::facts::ledger::Ledger;
use crate::verify::facts::report::Observed;
use collsynth_core::collective::{ChunkId, ChunkRule, Combining, Holders};
use collsynth_core::exact::narrow;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::Op;
use collsynth_core::topology::RankId;

/// What a run shows besides facts.
pub(in crate::verify) struct Shown {
    /// Per transfer, the consequences of its having no link.
    pub(in crate::verify) spoiled: Vec<u64>,
    /// Meaningful only if there is no violation.
    pub(in crate::verify) observed: Option<Observed>,
}

/// Runs the chunks in the scope, given all their moves, sorted, and records what is wrong. A move costs O(1), an
/// addition O(ranks / 64).
pub(in crate::verify) fn run(
    problem: &Problem,
    routes: &[Route],
    moves: &[Move],
    scope: &Scope<'_>,
    ledger: &mut Ledger,
) -> Shown {
    let mut execution = Execution::new(problem, routes, scope.is_whole(), ledger);
    let mut rest = moves;
    for chunk in scope.chunks() {
        let length = rest.iter().take_while(|one| one.chunk() == chunk).count();
        let (mine, others) = rest.split_at(length);
        if mine.is_empty() && execution.stays(chunk) {
            continue;
        }
        // A move adds at most once; growing arrays count twice.
        let sums = if problem.rule(chunk).combining == Combining::Never { 0 } else { length };
        if !execution.ledger.fits(2 * sums as u64 * Values::sum_bytes(problem.topology().rank_count())) {
            break;
        }
        execution.run_chunk(chunk, mine);
        rest = others;
    }
    let held = execution.holdings.and_then(|holdings| holdings.peak(problem));
    let sums = execution.values.orders().sums();
    Shown { spoiled: execution.spoiled_by_transfer, observed: held.map(|held| Observed { held, sums }) }
}

/// What a rank holds of the current chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Nothing,
    Value(ValueId),
    /// Something a violation delivered.
    Spoiled(CauseId),
}

/// A number among the causes of the current chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CauseId(u32);

#[derive(Clone, Copy)]
struct Cell {
    held: Held,
    /// The move that brought it; `None` if it was there from the start.
    brought_by: Option<Move>,
    /// The first arrival since the rank last sent the chunk.
    unsent: Option<Move>,
    stay: Stay,
}

const EMPTY: Cell = Cell { held: Held::Nothing, brought_by: None, unsent: None, stay: Stay::NONE };

/// A delivery in the current step.
#[derive(Clone, Copy)]
struct Arrival {
    to: RankId,
    one: Move,
    held: Held,
}

/// A violation whose consequences are still being counted.
struct Cause {
    spoiled: u64,
    kind: CauseKind,
}

enum CauseKind {
    /// A transfer without a link, already recorded.
    Transfer(usize),
    /// A violation; `None` if it is not among the first.
    Violation(Option<Fact>),
}

struct Execution<'a> {
    problem: &'a Problem,
    routes: &'a [Route],
    ledger: &'a mut Ledger,
    spoiled_by_transfer: Vec<u64>,
    /// `None` if only some of the chunks run: nothing is reported of them.
    holdings: Option<Holdings>,
    // The state of the current chunk.
    cells: Vec<Cell>,
    /// Ranks whose cell must be cleared afterwards, some more than once.
    touched: Vec<RankId>,
    values: Values,
    arrivals: Vec<Arrival>,
    causes: Vec<Cause>,
    /// The order of addition at each rank that ends with the chunk.
    final_orders: Vec<OrderId>,
}

/// The current chunk, its rule, and all its moves.
#[derive(Clone, Copy)]
struct ChunkRun<'m> {
    chunk: ChunkId,
    rule: ChunkRule,
    moves: &'m [Move],
}

impl<'a> Execution<'a> {
    fn new(problem: &'a Problem, routes: &'a [Route], is_whole: bool, ledger: &'a mut Ledger) -> Self {
        let ranks = problem.topology().rank_count();
        Self {
            problem,
            routes,
            ledger,
            spoiled_by_transfer: vec![0; routes.len()],
            holdings: is_whole.then(|| Holdings::new(ranks, routes)),
            cells: vec![EMPTY; ranks],
            touched: Vec::new(),
            values: if is_whole { Values::new(ranks) } else { Values::unreported(ranks) },
            arrivals: Vec::new(),
            causes: Vec::new(),
            final_orders: Vec::new(),
        }
    }

    /// Counts a chunk without moves that is where it must end up. There may be a hundred million of them.
    fn stays(&mut self, chunk: ChunkId) -> bool {
        let rule = self.problem.rule(chunk);
        let (Holders::One(rank), Combining::Never) = (rule.before, rule.combining) else { return false };
        let is_home = rule.after == rule.before && self.problem.is_holder(rule.before, rank);
        if let Some(holdings) = self.holdings.as_mut().filter(|_| is_home) {
            holdings.end(holdings.begin(rank), rank, true);
        }
        is_home
    }

    fn run_chunk(&mut self, chunk: ChunkId, moves: &[Move]) {
        let run = ChunkRun { chunk, rule: self.problem.rule(chunk), moves };
        for rank in self.problem.holders(run.rule.before) {
            let stay = self.holdings.as_ref().map_or(Stay::NONE, |holdings| holdings.begin(rank));
            let held = Held::Value(self.values.contribution(rank));
            self.cells[rank.index()] = Cell { held, stay, ..EMPTY };
            self.touched.push(rank);
        }
        for step in moves.chunk_by(|a, b| self.routes[a.transfer()].step == self.routes[b.transfer()].step) {
            self.send(run, step);
            self.receive(run);
        }
        self.check_end(run);
        self.clear(run);
    }

    /// Reads what the senders of a step hold at its beginning.
    fn send(&mut self, run: ChunkRun<'_>, step: &[Move]) {
        for same in step.chunk_by(|a, b| a == b) {
            let one = same[0];
            if same.len() > 1 {
                self.note(Code::F006, run, one, Data::Times(same.len()));
            }
            let Route { from, to, op, passage, .. } = self.routes[one.transfer()];
            let held = match passage {
                Passage::Nowhere => continue,
                Passage::Refused => {
                    self.causes.push(Cause { spoiled: 0, kind: CauseKind::Transfer(one.transfer()) });
                    self.last_cause()
                }
                Passage::Open => {
                    if !self.problem.may_hold(run.chunk, to) {
                        self.note(Code::D004, run, one, Data::None);
                    }
                    self.sent_from(run, one, from, op)
                }
            };
            self.arrivals.push(Arrival { to, one, held });
        }
    }

    /// What an open transfer carries.
    fn sent_from(&mut self, run: ChunkRun<'_>, one: Move, from: RankId, op: Op) -> Held {
        let cell = &mut self.cells[from.index()];
        cell.unsent = None;
        if let Some(holdings) = &self.holdings {
            holdings.send(&mut cell.stay, one.transfer());
        }
        let mut held = cell.held;
        match held {
            Held::Value(_) => {}
            Held::Spoiled(cause) => self.causes[cause.0 as usize].spoiled += 1,
            Held::Nothing => held = self.violation(Code::D001, run, one, Data::None),
        }
        if run.rule.combining == Combining::Never && op == Op::Reduce {
            held = self.violation(Code::R003, run, one, Data::None);
        }
        held
    }

    /// Delivers what was sent, in the order of the schedule at each receiver.
    fn receive(&mut self, run: ChunkRun<'_>) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        if arrivals.len() > 1 {
            arrivals.sort_unstable_by_key(|arrival| (arrival.to, arrival.one));
        }
        for group in arrivals.chunk_by(|a, b| a.to == b.to) {
            let is_copy = |arrival: &Arrival| self.routes[arrival.one.transfer()].op == Op::Copy;
            if group.len() > 1 && group.iter().any(is_copy) {
                self.receive_conflicting(run, group);
            } else {
                for arrival in group {
                    self.receive_one(run, arrival);
                }
            }
            self.touched.push(group[0].to);
        }
        arrivals.clear();
        self.arrivals = arrivals;
    }

    /// Several arrivals, not all to be added: which one stays is undefined, unless the chunk has only one value.
    fn receive_conflicting(&mut self, run: ChunkRun<'_>, group: &[Arrival]) {
        let one = group[1].one;
        let arrivals = group.iter().map(|arrival| arrival.one.transfer()).collect();
        let spoiled = self.violation(Code::D003, run, one, Data::Arrivals(arrivals));
        let cell = &mut self.cells[group[0].to.index()];
        let fixed = |held: Held| run.rule.combining == Combining::Never && matches!(held, Held::Value(_));
        let good = std::iter::once(cell.held).chain(group.iter().map(|arrival| arrival.held)).find(|&held| fixed(held));
        cell.held = good.unwrap_or(spoiled);
        cell.brought_by = Some(one);
    }

    fn receive_one(&mut self, run: ChunkRun<'_>, arrival: &Arrival) {
        let Arrival { to, one, held: new } = *arrival;
        let cell = &mut self.cells[to.index()];
        let old = cell.held;
        let reduce = self.routes[one.transfer()].op == Op::Reduce && run.rule.combining != Combining::Never;
        if let Some(holdings) = &mut self.holdings {
            holdings.arrive(&mut cell.stay, one.transfer(), reduce && old != Held::Nothing);
        }
        let result = match (old, new) {
            (_, Held::Nothing) | (Held::Spoiled(_), Held::Spoiled(_)) => return,
            (Held::Nothing, _) => new,
            (Held::Value(_), Held::Spoiled(_)) if run.rule.combining == Combining::Never => return,
            (Held::Value(_), Held::Spoiled(_)) => new,
            (Held::Spoiled(_), Held::Value(_)) if reduce => return,
            (Held::Spoiled(_), Held::Value(_)) => new,
            (Held::Value(old), Held::Value(new)) if reduce => self.reduced(run, one, old, new),
            (Held::Value(old), Held::Value(new)) if self.values.same(old, new) => {
                return self.note(Code::W001, run, one, Data::None);
            }
            (Held::Value(old), Held::Value(value)) => {
                // Arrivals of a step are added in the order of their senders, which translation changes.
                if self.values.count(old) == self.values.count(value) && self.values.includes(old, value) {
                    self.ledger.suspect(run.chunk);
                }
                new
            }
        };
        let cell = &mut self.cells[to.index()];
        cell.held = result;
        cell.brought_by = Some(one);
        if let Held::Value(_) = result {
            cell.unsent.get_or_insert(one);
        }
    }

    /// What a rank that held `old` holds when `new` has been reduced into it.
    fn reduced(&mut self, run: ChunkRun<'_>, one: Move, old: ValueId, new: ValueId) -> Held {
        if run.rule.combining == Combining::Union && self.values.includes(old, new) {
            self.note(Code::W001, run, one, Data::None);
            return Held::Value(old);
        }
        if run.rule.combining == Combining::Sum && self.values.overlap(old, new) {
            let shared = self.values.shared(old, new).collect();
            return self.violation(Code::R001, run, one, Data::Ranks(shared));
        }
        Held::Value(self.values.join(old, new))
    }

    /// Checks what ranks hold after the last step.
    fn check_end(&mut self, run: ChunkRun<'_>) {
        let ChunkRun { chunk, rule, .. } = run;
        let contributions = match rule.before {
            Holders::One(origin) if !self.problem.is_holder(rule.before, origin) => return,
            Holders::One(_) => 1,
            holders => narrow(self.problem.holder_count(holders)),
        };
        let problem = self.problem;
        let mut first: Option<(RankId, OrderId)> = None;
        let mut reordered = None;
        for rank in problem.holders(rule.after) {
            match self.cells[rank.index()].held {
                Held::Spoiled(cause) => self.causes[cause.0 as usize].spoiled += 1,
                Held::Nothing => {
                    let data = || Data::LastArrival(last_arrival(self.routes, &self.cells, run.moves));
                    self.ledger.add(Code::D002, Place::AtEnd { chunk, rank }, data);
                }
                Held::Value(value) if self.values.count(value) < contributions => {
                    self.ledger.add(Code::R002, Place::AtEnd { chunk, rank }, || {
                        let missing = problem.holders(rule.before).filter(|&other| !self.values.holds(value, other));
                        Data::Ranks(missing.collect())
                    });
                }
                Held::Value(value) if rule.combining == Combining::Sum => {
                    let order = self.values.order(value);
                    self.final_orders.push(order);
                    let (other, expected) = *first.get_or_insert((rank, order));
                    if order != expected && reordered.is_none() {
                        reordered = Some((other, rank));
                    }
                }
                Held::Value(_) => {}
            }
        }
        self.values.orders().finish(&self.final_orders);
        self.final_orders.clear();
        if let Some((one, other)) = reordered {
            self.ledger.add(Code::W003, Place::AtEnd { chunk, rank: other }, || Data::Other(one));
        }
        if let Holders::One(needed) = rule.after {
            self.warn_of_dead_ends(run, needed);
        }
    }

    /// Arrivals at ranks that neither need the chunk nor sent it on.
    fn warn_of_dead_ends(&mut self, run: ChunkRun<'_>, needed: RankId) {
        let touched = std::mem::take(&mut self.touched);
        for &rank in touched.iter().filter(|&&rank| rank != needed) {
            let cell = &mut self.cells[rank.index()];
            if let (Some(one), Held::Value(_)) = (cell.unsent.take(), cell.held) {
                self.note(Code::W002, run, one, Data::None);
            }
        }
        self.touched = touched;
    }

    /// Hands over the violations of this chunk with their consequences, and clears its state.
    fn clear(&mut self, run: ChunkRun<'_>) {
        for cause in self.causes.drain(..) {
            match cause.kind {
                CauseKind::Transfer(transfer) => self.spoiled_by_transfer[transfer] += cause.spoiled,
                CauseKind::Violation(Some(fact)) => self.ledger.keep(Fact { consequences: cause.spoiled, ..fact }),
                CauseKind::Violation(None) => {}
            }
        }
        for rank in self.touched.drain(..) {
            let Cell { held, stay, .. } = std::mem::replace(&mut self.cells[rank.index()], EMPTY);
            if let Some(holdings) = &mut self.holdings {
                let needed = held != Held::Nothing && self.problem.is_holder(run.rule.after, rank);
                holdings.end(stay, rank, needed);
            }
        }
        self.values.clear();
    }

    /// Records a violation that spoils what the move delivers.
    fn violation(&mut self, code: Code, run: ChunkRun<'_>, one: Move, data: Data) -> Held {
        let place = self.place(run, one);
        let fact = self.ledger.count(code, place).then_some(Fact { code, place, data, consequences: 0 });
        self.causes.push(Cause { spoiled: 0, kind: CauseKind::Violation(fact) });
        self.last_cause()
    }

    /// Records something that spoils nothing.
    fn note(&mut self, code: Code, run: ChunkRun<'_>, one: Move, data: Data) {
        let place = self.place(run, one);
        self.ledger.add(code, place, || data);
    }

    fn place(&self, run: ChunkRun<'_>, one: Move) -> Place {
        let step = self.routes[one.transfer()].step;
        Place::InStep { step, transfer: Some(one.transfer()), chunk: Some(run.chunk) }
    }

    fn last_cause(&self) -> Held {
        Held::Spoiled(CauseId(narrow(self.causes.len()) - 1))
    }
}

/// The transfer of the last of a chunk's moves whose delivery is still at its receiver.
fn last_arrival(routes: &[Route], cells: &[Cell], moves: &[Move]) -> Option<usize> {
    let stayed = |one: &&Move| {
        let cell = cells.get(routes[one.transfer()].to.index());
        cell.is_some_and(|cell| matches!(cell.held, Held::Value(_)) && cell.brought_by == Some(**one))
    };
    moves.iter().rev().find(stayed).map(|one| one.transfer())
}
