//! The expanded schedule a transfer at a time, and its figures, without expanding it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::CompactSchedule;
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::schedule::slot::{Key, Way};
use crate::schedule::{Choice, Slot, Source, Step, StepLoads, Timetable};
use crate::topology::RankId;

impl CompactSchedule {
    /// Visits the transfers of the expanded schedule in order, with those that have no chunk left but exceptions of the
    /// pattern. O(transfers) time, without the chunks; memory for what the file states of a step.
    pub fn for_each_slot(&self, mut visit: impl FnMut(&Slot<'_>)) {
        for step in self.numbers() {
            self.for_each_of(step, |slot| visit(&slot));
        }
    }

    /// As [`CompactSchedule::for_each_slot`], of one step.
    fn for_each_of<'a>(&'a self, number: u32, mut visit: impl FnMut(Slot<'a>)) {
        let none: Arc<[Source<'_>]> = Arc::new([]);
        let ways = self.ways(&self.pattern.step(number));
        let own = self.own.step(number).transfers.iter();
        let mut own: Vec<Slot<'_>> = own.map(|one| Slot::stating(&self.own, number, one, Arc::clone(&none))).collect();
        own.sort_by_key(Slot::key);
        let mut own = own.into_iter().peekable();
        // What is stated comes from any rank, even one that does not exist.
        let mut slots = Vec::new();
        for from in (0..self.translation.rank_count()).map(RankId) {
            slots.extend(ways.iter().map(|way| self.translated_slot(number, from, way)));
            slots.extend(std::iter::from_fn(|| own.next_if(|slot| slot.from == from)));
            merge(&mut slots);
            slots.drain(..).for_each(&mut visit);
        }
        slots.extend(own);
        merge(&mut slots);
        slots.into_iter().for_each(visit);
    }

    /// An upper bound on the transfers of a step.
    pub(super) fn most_slots(&self, number: u32) -> u64 {
        let ways = self.ways(&self.pattern.step(number)).len() as u64;
        ways * u64::from(self.translation.rank_count()) + self.own.step(number).transfers.len() as u64
    }

    /// What a rank sends one way.
    fn translated_slot<'a>(&self, step: u32, from: RankId, (way, sources): &(Way, Arc<[Source<'a>]>)) -> Slot<'a> {
        let &(towards, via, op) = way;
        let (to, sources) = (self.translation.rank(towards, from), Arc::clone(sources));
        Slot { step, from, to, via, op, sources, own: Cow::Borrowed(&[]) }
    }

    /// The chunks of a slot, in no particular order.
    pub fn chunks<'a>(&'a self, slot: &'a Slot<'_>) -> impl Iterator<Item = ChunkId> + 'a {
        let translated = slot.sources.iter().flat_map(move |source| {
            let by = self.translation.between(source.from, slot.from);
            source.chunks.iter().map(move |&chunk| self.translation.chunk(chunk, by))
        });
        translated.filter(|&chunk| !self.is_exception(chunk)).chain(slot.own.iter().copied())
    }

    /// The wanted slots of a step in order, with those that have no chunk left but exceptions of the pattern.
    fn stated_slots(&self, number: u32, choice: &Choice) -> Vec<Slot<'_>> {
        let mut slots = Vec::new();
        if !choice.is_stated() {
            self.for_each_of(number, |slot| slots.push(slot));
            return slots;
        }
        let (pattern, own) = (self.pattern.step(number), self.own.step(number));
        let ways = self.ways(&pattern);
        let carrying = choice.chunks.as_ref().map(|chunks| self.carrying(&pattern, &own, chunks));
        let translated = self.translated(&ways, choice, carrying.as_deref()).into_iter();
        slots.extend(translated.map(|(from, way)| self.translated_slot(number, from, &ways[way])));
        let none: Arc<[Source<'_>]> = Arc::new([]);
        slots.extend(own.transfers.iter().map(|one| Slot::stating(&self.own, number, one, Arc::clone(&none))));
        let carries = |slot: &Slot<'_>| carrying.as_ref().is_none_or(|keys| keys.binary_search(&slot.key()).is_ok());
        slots.retain(|slot| choice.joins(slot.from, slot.to) && carries(slot));
        merge(&mut slots);
        slots
    }

    /// Where the pattern sends in a step, as seen from the sender, and what; sorted.
    fn ways<'a>(&'a self, pattern: &Step<'a>) -> Vec<(Way, Arc<[Source<'a>]>)> {
        let mut ways: BTreeMap<Way, Vec<Source<'_>>> = BTreeMap::new();
        for transfer in pattern.transfers {
            let towards = self.translation.between(transfer.from, transfer.to);
            let source = Source { from: transfer.from, chunks: self.pattern.chunks(transfer) };
            ways.entry((towards, transfer.via, transfer.op)).or_default().push(source);
        }
        ways.into_iter().map(|(way, sources)| (way, sources.into())).collect()
    }

    /// Senders and ways (by index) that may lead to wanted slots; each pair once.
    fn translated(
        &self,
        ways: &[(Way, Arc<[Source<'_>]>)],
        choice: &Choice,
        carrying: Option<&[Key]>,
    ) -> Vec<(RankId, usize)> {
        let ranks = self.translation.rank_count();
        let exists = |rank: &RankId| rank.0 < ranks;
        let every = |from: RankId| (0..ways.len()).map(move |way| (from, way));
        if let Some(keys) = carrying {
            let known = |&(from, (to, via, op)): &Key| {
                let towards = Some((from, to)).filter(|(from, to)| exists(from) && exists(to));
                let way = (towards.map(|(from, to)| self.translation.between(from, to))?, via, op);
                Some((from, ways.binary_search_by_key(&way, |(way, _)| *way).ok()?))
            };
            return keys.iter().filter_map(known).collect();
        }
        if let Some((from, _)) = choice.link {
            return Some(from).filter(exists).into_iter().flat_map(every).collect();
        }
        let mut found = Vec::new();
        for rank in choice.ranks.iter().flatten().copied().filter(exists) {
            for (way, ((towards, ..), _)) in ways.iter().enumerate() {
                found.extend([(rank, way), (self.translation.between(*towards, rank), way)]);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Chunks as those of rank 0 that they are translations of, each with the rank it belongs to; sorted.
    pub fn seen_from_rank_0(&self, chunks: impl Iterator<Item = ChunkId>) -> Vec<(ChunkId, RankId)> {
        let seen = chunks.map(|chunk| {
            let owner = self.translation.owner(chunk);
            (self.translation.chunk(chunk, self.translation.between(owner, RankId(0))), owner)
        });
        let mut seen: Vec<_> = seen.collect();
        seen.sort_unstable();
        seen
    }

    /// The transfers of a step that carry one of these chunks, sorted.
    fn carrying(&self, pattern: &Step<'_>, own: &Step<'_>, chunks: &Range<u32>) -> Vec<Key> {
        let wanted = self.seen_from_rank_0(chunks.clone().map(ChunkId).filter(|&chunk| !self.is_exception(chunk)));
        let mut keys = Vec::new();
        for transfer in pattern.transfers {
            for &chunk in self.pattern.chunks(transfer) {
                for by in translations_to(&wanted, chunk) {
                    let [from, to] = [transfer.from, transfer.to].map(|rank| self.translation.rank(rank, by));
                    keys.push((from, (to, transfer.via, transfer.op)));
                }
            }
        }
        for transfer in own.transfers {
            if self.own.chunks(transfer).iter().any(|chunk| chunks.contains(&chunk.0)) {
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
        if self.exceptions.is_empty() { slot.stated() } else { self.chunks(slot).count() }
    }

    fn for_each_load(
        &self,
        problem: &Problem,
        steps: &mut dyn Iterator<Item = u32>,
        visit: &mut dyn FnMut(u32, &StepLoads),
    ) {
        let mut loads = StepLoads::none(problem);
        let exceptions = self.seen_from_rank_0(self.exceptions.iter().copied());
        for step in steps {
            loads.clear();
            self.for_each_of(step, |slot| loads.add(problem, &slot, self.chunks(&slot).next().is_some()));
            // Less what exceptions would do if they followed the pattern.
            for transfer in self.pattern.step(step).transfers.iter().filter(|_| !exceptions.is_empty()) {
                for by in self.pattern.chunks(transfer).iter().flat_map(|&chunk| translations_to(&exceptions, chunk)) {
                    let [from, to] = [transfer.from, transfer.to].map(|rank| self.translation.rank(rank, by));
                    loads.take_back(problem, (from, to, transfer.via));
                }
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
        }
        same
    });
}

/// The translations of a chunk of rank 0 that are among chunks [seen from there](CompactSchedule::seen_from_rank_0).
pub fn translations_to(seen: &[(ChunkId, RankId)], chunk: ChunkId) -> impl Iterator<Item = RankId> + '_ {
    let first = seen.partition_point(|(other, _)| *other < chunk);
    seen[first..].iter().take_while(move |(other, _)| *other == chunk).map(|&(_, by)| by)
}
