//! The expanded schedule a transfer at a time, and its figures, without expanding it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::CompactSchedule;
use crate::collective::ChunkId;
use crate::problem::Problem;
use crate::schedule::slot::{Key, Way};
use crate::schedule::{Choice, LinkLoads, Slot, Source, Step, Timetable};
use crate::topology::RankId;

impl CompactSchedule {
    /// Visits the transfers of the expanded schedule in order, with those that have no chunk left but exceptions of the
    /// pattern. O(transfers), without the chunks.
    pub fn for_each_slot(&self, mut visit: impl FnMut(&Slot<'_>)) {
        for step in self.numbers() {
            self.stated_slots(step, &Choice::default()).iter().for_each(&mut visit);
        }
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
        let (pattern, own) = (self.pattern.step(number), self.own.step(number));
        let ways = self.ways(&pattern);
        let carrying = choice.chunks.as_ref().map(|chunks| self.carrying(&pattern, &own, chunks));
        let none: Arc<[Source<'_>]> = Arc::new([]);
        let mut slots = Vec::new();
        for (from, way) in self.translated(&ways, choice, carrying.as_deref()) {
            let ((towards, via, op), sources) = &ways[way];
            let (to, sources) = (self.translation.rank(*towards, from), Arc::clone(sources));
            slots.push(Slot { step: number, from, to, via: *via, op: *op, sources, own: Cow::Borrowed(&[]) });
        }
        slots.extend(own.transfers.iter().map(|one| Slot::stating(&self.own, number, one, Arc::clone(&none))));
        let carries = |slot: &Slot<'_>| carrying.as_ref().is_none_or(|keys| keys.binary_search(&slot.key()).is_ok());
        slots.retain(|slot| choice.joins(slot.from, slot.to) && carries(slot));
        // Stable: a slot of the pattern stays before moves that are stated for it, and these in their order.
        slots.sort_by_key(Slot::key);
        slots.dedup_by(|later, kept| {
            let same = later.key() == kept.key();
            if same {
                kept.own.to_mut().extend_from_slice(&later.own);
            }
            same
        });
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
        let Some(wanted) = &choice.ranks else { return (0..ranks).map(RankId).flat_map(every).collect() };
        let mut found = Vec::new();
        for rank in wanted.iter().copied().filter(exists) {
            for (way, ((towards, ..), _)) in ways.iter().enumerate() {
                found.extend([(rank, way), (self.translation.between(*towards, rank), way)]);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The transfers of a step that carry one of these chunks, sorted.
    fn carrying(&self, pattern: &Step<'_>, own: &Step<'_>, chunks: &Range<u32>) -> Vec<Key> {
        let follows = chunks.clone().map(ChunkId).filter(|&chunk| !self.is_exception(chunk));
        // As chunks of rank 0, and the translations that make them of these.
        let mut wanted: Vec<(ChunkId, RankId)> = follows
            .map(|chunk| {
                let owner = self.translation.owner(chunk);
                (self.translation.chunk(chunk, self.translation.between(owner, RankId(0))), owner)
            })
            .collect();
        wanted.sort_unstable();
        let mut keys = Vec::new();
        for transfer in pattern.transfers {
            for &chunk in self.pattern.chunks(transfer) {
                let first = wanted.partition_point(|(other, _)| *other < chunk);
                for &(_, by) in wanted[first..].iter().take_while(|(other, _)| *other == chunk) {
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

    fn is_explicit(&self) -> bool {
        false
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

    fn loads(&self, problem: &Problem) -> LinkLoads {
        let mut loads = LinkLoads::none(problem, self.step_count());
        self.for_each_slot(|slot| loads.add(problem, slot, self.chunks(slot).next().is_some()));
        // Less what exceptions would do if they followed the pattern.
        let mut hops = vec![Vec::new(); self.translation.chunks_of_rank() as usize];
        for step in self.pattern.steps() {
            for transfer in step.transfers {
                for chunk in self.pattern.chunks(transfer) {
                    hops[chunk.index()].push((step.number, transfer));
                }
            }
        }
        for &chunk in &self.exceptions {
            let owner = self.translation.owner(chunk);
            let of_rank_0 = self.translation.chunk(chunk, self.translation.between(owner, RankId(0)));
            for &(step, transfer) in &hops[of_rank_0.index()] {
                let [from, to] = [transfer.from, transfer.to].map(|rank| self.translation.rank(rank, owner));
                loads.take_back(problem, step, (from, to, transfer.via));
            }
        }
        loads
    }
}
