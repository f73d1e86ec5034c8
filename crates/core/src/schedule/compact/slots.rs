//! The expanded schedule a transfer at a time, and its figures, without expanding it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::altered::sent;
use super::{CompactSchedule, Exceptions};
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::schedule::slot::{Key, Source, Way};
use crate::schedule::{Choice, Schedule, Slot, StepLoads, Timetable, Transfer};
use crate::topology::RankId;

/// What is sent a way, and how many chunks that are.
type Sent<'a> = (Way, Arc<[Source<'a>]>, usize);

/// What ranks send in a step, by the pattern and alike in every cell; ways as seen from the sender.
struct Sends<'a> {
    step: u32,
    pattern: Vec<Sent<'a>>,
    /// How many chunks of the pattern do not go a way (by index) as they depart from it; by the sender in the first
    /// cell.
    departed: BTreeMap<(RankId, usize), usize>,
    /// By the sender in the first cell.
    repeated: BTreeMap<RankId, Vec<Sent<'a>>>,
    none: Arc<[Source<'a>]>,
}

impl CompactSchedule {
    /// Visits the transfers of the expanded schedule in order, with those that have no chunk left but exceptions. O(
    /// transfers) time, without the chunks; memory for what the file states of a step.
    pub fn for_each_slot(&self, mut visit: impl FnMut(&Slot<'_>)) {
        for step in self.numbers() {
            self.for_each_of(step, |slot| visit(&slot));
        }
    }

    /// As [`CompactSchedule::for_each_slot`], of one step.
    fn for_each_of<'a>(&'a self, number: u32, mut visit: impl FnMut(Slot<'a>)) {
        let sends = self.sends(number);
        let mut single = self.single(number, &sends.none);
        single.sort_by_key(Slot::key);
        let mut single = single.into_iter().peekable();
        // What is stated comes from any rank, even one that does not exist.
        let mut slots = Vec::new();
        for from in (0..self.translation.rank_count()).map(RankId) {
            self.sent_by(&sends, from, &mut slots);
            slots.extend(std::iter::from_fn(|| single.next_if(|slot| slot.from == from)));
            merge(&mut slots);
            slots.drain(..).for_each(&mut visit);
        }
        slots.extend(single);
        merge(&mut slots);
        slots.into_iter().for_each(visit);
    }

    /// What single chunks do and do not in a step.
    fn single<'a>(&'a self, number: u32, none: &Arc<[Source<'a>]>) -> Vec<Slot<'a>> {
        let Exceptions { without, moves, .. } = &self.exceptions;
        let own = moves.step(number).transfers.iter().map(|one| Slot::stating(moves, number, one, none));
        let lacking = without.step(number).transfers.iter().map(|one| Slot::lacking(without, number, one, none));
        own.chain(lacking).collect()
    }

    /// An upper bound on the transfers of a step.
    pub(super) fn most_slots(&self, number: u32) -> u64 {
        let sends = self.sends(number);
        let in_cell: usize = sends.repeated.values().map(Vec::len).sum();
        let cells = self.cell.as_ref().map_or(0, |cell| u64::from(cell.cells));
        let translated = sends.pattern.len() as u64 * u64::from(self.translation.rank_count()) + in_cell as u64 * cells;
        translated + self.exceptions.moves.step(number).transfers.len() as u64
    }

    /// The rank that stands for a rank in what it sends.
    fn home(&self, rank: RankId) -> RankId {
        self.cell.as_ref().map_or(RankId(0), |cell| cell.home(rank))
    }

    fn is_departed(&self, (of_rank_0, owner): (ChunkId, RankId)) -> bool {
        self.cell.as_ref().is_some_and(|cell| cell.is_departed(of_rank_0, owner))
    }

    fn sends(&self, number: u32) -> Sends<'_> {
        let pattern = self.ways(&self.pattern, self.pattern.step(number).transfers);
        let (mut departed, mut repeated) = (BTreeMap::new(), BTreeMap::new());
        if let Some(cell) = &self.cell {
            for transfer in self.pattern.step(number).transfers {
                let way = (self.translation.between(transfer.from, transfer.to), transfer.via, transfer.op);
                let way = pattern.binary_search_by_key(&way, |sent| sent.0).expect("listed");
                for by in self.pattern.chunks(transfer).iter().flat_map(|&chunk| translations_to(&cell.departed, chunk))
                {
                    let from = cell.home(self.translation.rank(transfer.from, by));
                    *departed.entry((from, way)).or_insert(0) += 1;
                }
            }
            let mut of_step: Vec<Transfer> = cell.stated.moves.step(number).transfers.to_vec();
            of_step.sort_by_key(|transfer| transfer.from);
            for same in of_step.chunk_by(|a, b| a.from == b.from) {
                repeated.insert(same[0].from, self.ways(&cell.stated.moves, same));
            }
        }
        Sends { step: number, pattern, departed, repeated, none: Arc::new([]) }
    }

    /// Where transfers lead, as seen from the sender, and what they carry; sorted.
    fn ways<'a>(&self, schedule: &'a Schedule, transfers: &[Transfer]) -> Vec<Sent<'a>> {
        let mut ways: BTreeMap<Way, Vec<Source<'_>>> = BTreeMap::new();
        for transfer in transfers {
            let towards = self.translation.between(transfer.from, transfer.to);
            let source = Source { from: transfer.from, chunks: schedule.chunks(transfer) };
            ways.entry((towards, transfer.via, transfer.op)).or_default().push(source);
        }
        let counted = ways.into_iter().map(|(way, sources)| {
            let count = sources.iter().map(|source| source.chunks.len()).sum();
            (way, sources.into(), count)
        });
        counted.collect()
    }

    /// What a rank sends by the pattern and as its like in every cell.
    fn sent_by<'a>(&self, sends: &Sends<'a>, from: RankId, slots: &mut Vec<Slot<'a>>) {
        let home = self.home(from);
        let slot = |&(towards, via, op): &Way| {
            let way = (self.translation.rank(towards, from), via, op);
            Slot::empty(sends.step, from, way, &sends.none)
        };
        for (index, (way, sources, count)) in sends.pattern.iter().enumerate() {
            let departed = sends.departed.get(&(home, index)).copied().unwrap_or(0);
            slots.push(Slot { sources: Arc::clone(sources), translated: count - departed, ..slot(way) });
        }
        for (way, sources, count) in sends.repeated.get(&home).into_iter().flatten() {
            slots.push(Slot { repeated: Arc::clone(sources), translated: *count, ..slot(way) });
        }
    }

    /// The chunks of a slot, in no particular order.
    pub fn chunks<'a>(&'a self, slot: &'a Slot<'_>) -> impl Iterator<Item = ChunkId> + 'a {
        let of_pattern = slot.sources.iter().flat_map(move |source| {
            let by = self.translation.between(source.from, slot.from);
            let following = source.chunks.iter().filter(move |&&chunk| !self.is_departed((chunk, by)));
            following.map(move |&chunk| self.translation.chunk(chunk, by))
        });
        let of_cell = slot.repeated.iter().flat_map(move |source| {
            let by = self.translation.between(source.from, slot.from);
            source.chunks.iter().map(move |&chunk| self.translation.chunk(chunk, by))
        });
        let is_sent = |chunk: &ChunkId| !self.is_exception(*chunk) && slot.without.binary_search(chunk).is_err();
        of_pattern.chain(of_cell).filter(is_sent).chain(slot.own.iter().copied())
    }

    /// The wanted slots of a step in order, with those that have no chunk left but exceptions.
    fn stated_slots(&self, number: u32, choice: &Choice) -> Vec<Slot<'_>> {
        let mut slots = Vec::new();
        if !choice.is_stated() {
            self.for_each_of(number, |slot| slots.push(slot));
            return slots;
        }
        let sends = self.sends(number);
        let carrying = choice.chunks.as_ref().map(|chunks| self.carrying(number, chunks));
        for from in self.senders(&sends, choice, carrying.as_deref()) {
            self.sent_by(&sends, from, &mut slots);
        }
        slots.extend(self.single(number, &sends.none));
        let carries = |slot: &Slot<'_>| carrying.as_ref().is_none_or(|keys| keys.binary_search(&slot.key()).is_ok());
        slots.retain(|slot| choice.joins(slot.from, slot.to) && carries(slot));
        merge(&mut slots);
        slots
    }

    /// Ranks that may send what is wanted by the pattern or as their like in every cell; ascending.
    fn senders(&self, sends: &Sends<'_>, choice: &Choice, carrying: Option<&[Key]>) -> Vec<RankId> {
        let mut found: Vec<RankId> = match (carrying, choice.link) {
            (Some(keys), _) => keys.iter().map(|key| key.0).collect(),
            (None, Some((from, _))) => vec![from],
            (None, None) => {
                let ways = sends.pattern.iter().chain(sends.repeated.values().flatten()).map(|(way, ..)| way.0);
                let mut towards: Vec<RankId> = ways.chain([RankId(0)]).collect();
                towards.sort_unstable();
                towards.dedup();
                let exists = |rank: &&RankId| rank.0 < self.translation.rank_count();
                let ranks = choice.ranks.iter().flatten().filter(exists);
                ranks.flat_map(|&rank| towards.iter().map(move |&by| self.translation.between(by, rank))).collect()
            }
        };
        found.retain(|rank| rank.0 < self.translation.rank_count());
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Chunks as those of rank 0 that they are translations of, each with the rank it belongs to; sorted.
    pub fn seen_from_rank_0(&self, chunks: impl Iterator<Item = ChunkId>) -> Vec<(ChunkId, RankId)> {
        let mut seen: Vec<_> = chunks.map(|chunk| self.translation.seen_from_rank_0(chunk)).collect();
        seen.sort_unstable();
        seen
    }

    /// The moves in a step of chunks [seen from rank 0](CompactSchedule::seen_from_rank_0), as if none of them were an
    /// exception: those of the pattern, or what repeats in its place, without what is left out.
    ///
    /// O(moves stated of the step, and log of the chunks for each; and moves visited, with log of what is left out).
    pub fn for_each_translated(
        &self,
        number: u32,
        seen: &[(ChunkId, RankId)],
        mut visit: impl FnMut(RankId, RankId, &Transfer, ChunkId),
    ) {
        let left_out = sent(&self.exceptions.without, number);
        let mut moved = |transfer: &Transfer, chunk: ChunkId, by: RankId| {
            let [from, to] = [transfer.from, transfer.to].map(|rank| self.translation.rank(rank, by));
            let chunk = self.translation.chunk(chunk, by);
            if left_out.binary_search(&(chunk, (from, to, transfer.via, transfer.op))).is_err() {
                visit(from, to, transfer, chunk);
            }
        };
        for transfer in self.pattern.step(number).transfers {
            for &chunk in self.pattern.chunks(transfer) {
                let following = translations_to(seen, chunk).filter(|&by| !self.is_departed((chunk, by)));
                following.for_each(|by| moved(transfer, chunk, by));
            }
        }
        let Some(cell) = &self.cell else { return };
        for transfer in cell.stated.moves.step(number).transfers {
            for &chunk in cell.stated.moves.chunks(transfer) {
                let (of_rank_0, owner) = self.translation.seen_from_rank_0(chunk);
                let alike = |other: &RankId| cell.home(*other) == cell.home(owner);
                for other in translations_to(seen, of_rank_0).filter(alike) {
                    moved(transfer, chunk, self.translation.between(owner, other));
                }
            }
        }
    }

    /// The transfers of a step that carry one of these chunks, sorted.
    fn carrying(&self, number: u32, chunks: &Range<u32>) -> Vec<Key> {
        let wanted = self.seen_from_rank_0(chunks.clone().map(ChunkId).filter(|&chunk| !self.is_exception(chunk)));
        let mut keys = Vec::new();
        self.for_each_translated(number, &wanted, |from, to, transfer, _| {
            keys.push((from, (to, transfer.via, transfer.op)));
        });
        let own = &self.exceptions.moves;
        for transfer in own.step(number).transfers {
            if own.chunks(transfer).iter().any(|chunk| chunks.contains(&chunk.0)) {
                keys.push((transfer.from, (transfer.to, transfer.via, transfer.op)));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl Timetable for CompactSchedule {
    fn step_count(&self) -> usize {
        self.pattern.step_count()
    }

    fn total_width(&self) -> u64 {
        self.pattern.total_width()
    }

    fn width(&self, step: u32) -> u32 {
        self.pattern.step(step).width
    }

    fn slots(&self, step: u32, choice: &Choice) -> Vec<Slot<'_>> {
        let mut slots = self.stated_slots(step, choice);
        slots.retain(|slot| self.chunks(slot).next().is_some());
        slots
    }

    fn chunks_of<'a>(&self, slot: &'a Slot<'_>) -> Cow<'a, [ChunkId]> {
        let mut chunks: Vec<ChunkId> = self.chunks(slot).collect();
        chunks.sort_unstable();
        Cow::Owned(chunks)
    }

    fn count_of(&self, slot: &Slot<'_>) -> usize {
        if self.exceptions.chunks.is_empty() { slot.stated() } else { self.chunks(slot).count() }
    }

    fn for_each_load(
        &self,
        problem: &Problem,
        steps: &mut dyn Iterator<Item = u32>,
        visit: &mut dyn FnMut(u32, &StepLoads),
    ) {
        let mut loads = StepLoads::none(problem);
        let exceptions = self.seen_from_rank_0(self.exceptions.chunks.iter().copied());
        for step in steps {
            loads.clear();
            self.for_each_of(step, |slot| loads.add(problem, &slot, self.chunks(&slot).next().is_some()));
            // Less what exceptions would do if they were none.
            if !exceptions.is_empty() {
                self.for_each_translated(step, &exceptions, |from, to, transfer, _| {
                    loads.take_back(problem, (from, to, transfer.via));
                });
            }
            visit(step, &loads);
        }
    }
}

/// Sorts slots, and makes one of those for the same transfer.
fn merge(slots: &mut Vec<Slot<'_>>) {
    // Stable: a slot of the pattern stays before moves that are stated for it, and these in their order.
    slots.sort_by_key(Slot::key);
    slots.dedup_by(|later, kept| {
        let same = later.key() == kept.key();
        if same {
            kept.own.to_mut().extend_from_slice(&later.own);
            if !later.without.is_empty() {
                kept.without.to_mut().extend_from_slice(&later.without);
            }
            kept.translated += later.translated;
            // A rank sends once a way by the pattern, and once as its like.
            if !later.repeated.is_empty() {
                kept.repeated = Arc::clone(&later.repeated);
            }
        }
        same
    });
    for slot in slots.iter_mut().filter(|slot| !slot.without.is_sorted()) {
        slot.without.to_mut().sort_unstable();
    }
}

/// The translations of a chunk of rank 0 that are among chunks [seen from there](CompactSchedule::seen_from_rank_0).
fn translations_to(seen: &[(ChunkId, RankId)], chunk: ChunkId) -> impl Iterator<Item = RankId> + '_ {
    let first = seen.partition_point(|(other, _)| *other < chunk);
    seen[first..].iter().take_while(move |(other, _)| *other == chunk).map(|&(_, by)| by)
}
