//! A pass of list scheduling: step by step, every link carries the most urgent of its hops that are ready.
//!
//! The hot loop of the planner, over tens of millions of hops on large machines. What a hop needs when it goes lies in
//! its queue, one after another; what it needs when it becomes ready lies in one place, the only one per hop that is
//! looked up at random.

use fastrand::Rng;

use super::hops::Hops;
use super::timetable::{Times, Timetable};
use collsynth_bound::divided_trees::{DOWN, NONE, UP};

/// Keys of hops that are one unit of time apart.
pub(super) const UNIT: u32 = 16;

/// The state of a pass: for each link and direction of hops, its hops in the order of their urgency, of which those set
/// in `ready` may go.
pub(super) struct Passes<'a> {
    hops: &'a Hops,
    capacity: &'a [u32],
    /// That of link `l` and way `w` is `2 * l + w`.
    queues: Vec<Queue>,
    /// Those of queue `q` are `queues[q].start..queues[q + 1].start`.
    entries: Vec<Entry>,
    ready: Vec<u64>,
    /// By the way and the number of a hop.
    places: [Vec<Place>; 2],
}

#[derive(Clone, Copy, Default)]
struct Queue {
    start: u32,
    /// Its first word in `ready`.
    words: u32,
    /// No hop in a word before this one is ready.
    from: u32,
    /// The hops that are ready.
    waiting: u32,
}

/// A hop in its queue.
#[derive(Clone, Copy, Default)]
struct Entry {
    hop: u32,
    /// The lower, the more urgent.
    key: u32,
    /// The hop above it where hops gather; the first below it where they spread.
    then: u32,
}

/// Where a hop is, and when it is ready.
#[derive(Clone, Copy)]
struct Place {
    /// [`NONE`] for a root, and for ranks outside the tree.
    queue: u32,
    entry: u32,
    /// Where hops gather, how many it still waits for; where they spread, the next with the same hop above.
    rest: u32,
}

impl<'a> Passes<'a> {
    /// `capacity` is that of each link, by its id.
    pub fn new(capacity: &'a [u32], hops: &'a Hops) -> Self {
        let mut queues = vec![Queue::default(); 2 * capacity.len() + 1];
        let mut places = [UP, DOWN].map(|_| vec![Place { queue: NONE, entry: NONE, rest: 0 }; hops.len()]);
        for (hop, way) in hops.iter() {
            let queue = 2 * hops.link[way][hop] + way as u32;
            places[way][hop].queue = queue;
            queues[queue as usize + 1].start += 1;
        }
        for queue in 1..queues.len() {
            let before = queues[queue - 1];
            queues[queue].words = before.words + queues[queue].start.div_ceil(64);
            queues[queue].start += before.start;
        }
        let all = queues[2 * capacity.len()];
        let (entries, ready) = (vec![Entry::default(); all.start as usize], vec![0; all.words as usize]);
        Self { hops, capacity, queues, entries, ready, places }
    }

    /// Sorts all queues: the most urgent first, ties and a little more at random. Counting sort over all hops at once.
    pub fn order(&mut self, urgency: &Times, noise: u32, backward: bool, rng: &mut Rng) {
        let most = urgency.iter().flatten().max().copied().unwrap_or(0) * UNIT + noise;
        let mut keys: Times = [vec![0; self.hops.len()], vec![0; self.hops.len()]];
        let mut ends = vec![0_u32; most as usize + 2];
        for (hop, way) in self.hops.iter() {
            // Descending urgency: ascending keys.
            let key = most - urgency[way][hop] * UNIT - rng.u32(0..noise);
            keys[way][hop] = key;
            ends[key as usize + 1] += 1;
        }
        for key in 0..=most as usize {
            ends[key + 1] += ends[key];
        }
        let mut sorted = vec![0_u32; self.entries.len()];
        for (hop, way) in self.hops.iter() {
            let end = &mut ends[keys[way][hop] as usize];
            sorted[*end as usize] = (2 * hop + way) as u32;
            *end += 1;
        }
        drop(keys);
        let [gather, spread] = directions(backward);
        let then = match gather {
            UP => [&self.hops.forest(UP).above, &self.hops.forest(DOWN).first],
            _ => [&self.hops.forest(UP).first, &self.hops.forest(DOWN).above],
        };
        let mut next: Vec<u32> = self.queues.iter().map(|queue| queue.start).collect();
        let mut key = 0;
        for (both, number) in sorted.into_iter().zip(0..) {
            while ends[key] <= number {
                key += 1;
            }
            let (hop, way) = (both / 2, both as usize % 2);
            let place = &mut self.places[way][hop as usize];
            let entry = &mut next[place.queue as usize];
            place.entry = *entry;
            self.entries[*entry as usize] = Entry { hop, key: key as u32, then: then[way][hop as usize] };
            *entry += 1;
        }
        let rests = [(gather, &self.hops.forest(gather).below), (spread, &self.hops.forest(spread).next)];
        for (way, rests) in rests {
            self.places[way].iter_mut().zip(rests).for_each(|(place, &rest)| place.rest = rest);
        }
    }

    /// Serves all links step by step, in each the most urgent hops that are ready. Backward in time, hops down gather
    /// towards the root and hops up spread from it. In a step, a link carries hops of one way. `None` if `abandon`
    /// becomes true meanwhile.
    pub fn run(&mut self, step_width: u32, backward: bool, abandon: &dyn Fn() -> bool) -> Option<Timetable> {
        let hops = self.hops;
        let [gather, spread] = directions(backward);
        let mut times: Times = [vec![0; hops.len()], vec![0; hops.len()]];
        let (mut busy, mut released) = (Vec::new(), Vec::new());
        self.queues.iter_mut().for_each(|queue| (queue.from, queue.waiting) = (u32::MAX, 0));
        self.ready.fill(0);
        let spreads = hops.ways.contains(&spread);
        if hops.ways.contains(&gather) {
            released.extend(self.places[gather].iter().filter(|place| place.queue != NONE && place.rest == 0));
        } else {
            hops.roots.iter().for_each(|&root| self.spread_from(root, spread, &mut released));
        }
        let (mut left, mut widths) = (self.entries.len(), Vec::new());
        while left > 0 {
            if abandon() {
                return None;
            }
            for place in released.drain(..) {
                self.release(place, &mut busy);
            }
            let (step, mut width) = (widths.len() as u32, 0);
            busy.retain(|&link| {
                let queues = [UP, DOWN].map(|way| 2 * link as usize + way);
                let [up, down] =
                    queues.map(|queue| self.peek(queue).map_or(u32::MAX, |entry| self.entries[entry as usize].key));
                let way = if up <= down { UP } else { DOWN };
                let room = step_width * self.capacity[link as usize];
                let mut taken = 0;
                while taken < room
                    && let Some(entry) = self.peek(queues[way])
                {
                    let Entry { hop, then, .. } = self.take(queues[way], entry);
                    taken += 1;
                    times[way][hop as usize] = step;
                    if way == spread {
                        self.spread_over(then, spread, &mut released);
                        continue;
                    }
                    let above = &mut self.places[gather][then as usize];
                    above.rest -= 1;
                    match *above {
                        Place { rest: 0, queue: NONE, .. } if spreads => {
                            self.spread_from(then, spread, &mut released);
                        }
                        Place { rest: 0, queue, .. } if queue != NONE => released.push(*above),
                        _ => {}
                    }
                }
                left -= taken as usize;
                width = width.max(taken.div_ceil(self.capacity[link as usize]));
                queues.iter().any(|&queue| self.queues[queue].waiting > 0)
            });
            widths.push(width);
        }
        Some(Timetable { times, widths })
    }

    fn spread_from(&self, root: u32, spread: usize, released: &mut Vec<Place>) {
        self.spread_over(self.hops.forest(spread).first[root as usize], spread, released);
    }

    /// A hop and the others with the same hop above may go.
    fn spread_over(&self, first: u32, spread: usize, released: &mut Vec<Place>) {
        let mut hop = first;
        while hop != NONE {
            let place = self.places[spread][hop as usize];
            released.push(place);
            hop = place.rest;
        }
    }

    fn release(&mut self, place: Place, busy: &mut Vec<u32>) {
        let others = self.queues[place.queue as usize ^ 1].waiting;
        let queue = &mut self.queues[place.queue as usize];
        let offset = place.entry - queue.start;
        self.ready[(queue.words + offset / 64) as usize] |= 1 << (offset % 64);
        queue.from = queue.from.min(offset / 64);
        if queue.waiting == 0 && others == 0 {
            busy.push(place.queue / 2);
        }
        queue.waiting += 1;
    }

    /// The most urgent entry that is ready.
    fn peek(&mut self, queue: usize) -> Option<u32> {
        let queue = &mut self.queues[queue];
        if queue.waiting == 0 {
            return None;
        }
        loop {
            let word = self.ready[(queue.words + queue.from) as usize];
            if word != 0 {
                return Some(queue.start + queue.from * 64 + word.trailing_zeros());
            }
            queue.from += 1;
        }
    }

    fn take(&mut self, queue: usize, entry: u32) -> Entry {
        let queue = &mut self.queues[queue];
        let offset = entry - queue.start;
        self.ready[(queue.words + offset / 64) as usize] &= !(1 << (offset % 64));
        queue.waiting -= 1;
        self.entries[entry as usize]
    }
}

/// The way in which hops gather towards the root, and that in which they spread from it.
fn directions(backward: bool) -> [usize; 2] {
    if backward { [DOWN, UP] } else { [UP, DOWN] }
}
