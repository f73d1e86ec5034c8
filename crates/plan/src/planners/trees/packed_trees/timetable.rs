//! When every hop of every tree takes its link: list scheduling, forward and backward in turn.
//!
//! A hop up its tree waits for those below it, a hop down for the one above it, and those at the root for all hops up.
//! Backward in time the two change places. Each pass takes the hops of a link in the order in which the pass before it,
//! in the other direction of time, would have had them: what was late forward must be early backward. So idle time
//! gathers at the ends, and what was idle there is filled by the next pass (Li and Willis 1992; Valls, Ballestin and
//! Quintanilla 2005). The first pass takes the trees one after another, which keeps all links busy from the start.

use fastrand::Rng;

use super::hops::{Forest, Hops};
use collsynth_bound::divided_trees::{DOWN, UP};

/// Keys of hops that are one unit of time apart.
const UNIT: u32 = 16;
/// Passes of each round, and those of them that are noisier, by up to two units: passes settle, and noise moves them
/// again.
const ROUND: u32 = 8;
const NOISY: u32 = 2;
const NOISIER: u32 = 2 * UNIT;
/// Units of time before the end in which a link counts as among the last.
const NEARLY_LAST: u32 = 1;
/// Trees that begin in the time that eight hops take, in the first pass of a round, in turn: passes settle near where
/// they begin.
const TREES_PER_EIGHT_UNITS: [usize; 6] = [32, 4, 16, 64, 8, 24];

/// The step of each hop up and down.
type Times = [Vec<u32>; 2];

/// Steps of hops, and the widths of the steps.
pub(super) struct Timetable {
    pub times: Times,
    pub widths: Vec<u32>,
}

impl Timetable {
    pub fn width(&self) -> u32 {
        self.widths.iter().sum()
    }

    /// Total width and steps.
    pub fn figures(&self) -> (u32, usize) {
        (self.width(), self.widths.len())
    }

    /// For each link, by its id, the time that it is idle between hops, if that is why it finishes last.
    pub fn idle(&self, hops: &Hops, capacity: &[u32]) -> Vec<u32> {
        let mut before = vec![0];
        self.widths.iter().for_each(|width| before.push(before[before.len() - 1] + width));
        let all = self.width();
        let mut spans = vec![(all, 0_u32); capacity.len()];
        let mut load = vec![0_u32; capacity.len()];
        for (hop, way) in hops.iter() {
            let (link, step) = (hops.link[way][hop] as usize, self.times[way][hop] as usize);
            let (first, last) = spans[link];
            spans[link] = (first.min(before[step]), last.max(before[step + 1]));
            load[link] += 1;
        }
        let idle = |((&(first, last), load), &capacity): ((&(u32, u32), &u32), &u32)| {
            let span = last.min(all - first);
            let needed = load.div_ceil(capacity.max(1));
            if span + NEARLY_LAST >= all { span.saturating_sub(needed) } else { 0 }
        };
        spans.iter().zip(&load).zip(capacity).map(idle).collect()
    }

    fn reversed(mut self) -> Self {
        let last = self.widths.len() as u32 - 1;
        self.times.iter_mut().flatten().for_each(|time| *time = last.saturating_sub(*time));
        self.widths.reverse();
        self
    }
}

/// What a search for a timetable is to do.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    /// The greatest width of a step.
    pub step_width: u32,
    /// The passes to make.
    pub passes: u32,
    /// The total width that ends it early.
    pub enough: u32,
    pub seed: u64,
    pub stop: &'a dyn Fn() -> bool,
}

impl Search<'_> {
    /// The best timetable of all passes.
    ///
    /// Of every `turns` trees, the first begin first; `capacity` is that of each link, by its id.
    pub fn run(self, capacity: &[u32], turns: usize, hops: &Hops) -> Timetable {
        let mut rng = Rng::with_seed(self.seed);
        let mut passes = Passes::new(capacity, hops);
        let mut urgency = [Vec::new(), Vec::new()];
        // Trees with hops up only are those of hops down in mirrored time.
        let mirrored = !hops.ways.contains(&DOWN);
        let mut best: Option<Timetable> = None;
        for number in 0..self.passes.max(1) {
            let noise = if number % ROUND < ROUND - NOISY { UNIT } else { NOISIER };
            if number % ROUND == 0 {
                let round = (number / ROUND) as usize;
                urgency = first_urgency(turns, TREES_PER_EIGHT_UNITS[round % TREES_PER_EIGHT_UNITS.len()], hops);
            }
            passes.order(&urgency, noise, &mut rng);
            let backward = (number % 2 == 1) != mirrored;
            let found = passes.run(self.step_width, backward);
            // What comes last in this direction is most urgent in the other.
            urgency.clone_from(&found.times);
            let found = if backward { found.reversed() } else { found };
            if best.as_ref().is_none_or(|best| found.figures() < best.figures()) {
                best = Some(found);
            }
            if (self.stop)() || best.as_ref().is_some_and(|best| best.width() <= self.enough) {
                break;
            }
        }
        best.expect("there is a pass")
    }
}

/// The first trees first; of a tree, the hops with most still to come.
fn first_urgency(turns: usize, rate: usize, hops: &Hops) -> Times {
    let mut urgency: Times = [vec![0; hops.len()], vec![0; hops.len()]];
    let (up, down) = (hops.forest(UP), hops.forest(DOWN));
    for (number, &root) in hops.roots.iter().enumerate() {
        let turn = ((turns - number % turns) * 8 / rate) as u32;
        let tall = u32::from(down.height[root as usize]);
        let places = number * hops.ranks..(number + 1) * hops.ranks;
        let spread = if hops.ways.contains(&DOWN) { DOWN } else { UP };
        for (urgency, depth) in urgency[UP][places.clone()].iter_mut().zip(&up.depth[places.clone()]) {
            *urgency = turn + tall + u32::from(*depth);
        }
        for (urgency, height) in urgency[spread][places.clone()].iter_mut().zip(&down.height[places]) {
            *urgency = turn + u32::from(*height) + 1;
        }
    }
    urgency
}

/// The state of a pass: for each link and direction of hops, its hops in the order of their urgency, of which those set
/// in `ready` may go.
struct Passes<'a> {
    hops: &'a Hops,
    capacity: &'a [u32],
    /// The queue of link `l` and way `w` is `2 * l + w`: `queue[start[q]..start[q + 1]]`.
    start: Vec<u32>,
    queue: Vec<u32>,
    /// The place of each hop in `queue`.
    place: Times,
    /// The keys of the hops in `queue`.
    key: Vec<u32>,
    ready: Vec<u64>,
    /// The first word of each queue in `ready`.
    words: Vec<u32>,
    /// No hop before this one in the queue is ready.
    from: Vec<u32>,
    waiting: Vec<u32>,
}

impl<'a> Passes<'a> {
    fn new(capacity: &'a [u32], hops: &'a Hops) -> Self {
        let queues = 2 * capacity.len();
        let mut start = vec![0_u32; queues + 1];
        for (hop, way) in hops.iter() {
            start[2 * hops.link[way][hop] as usize + way + 1] += 1;
        }
        let mut words = vec![0; queues + 1];
        for queue in 0..queues {
            words[queue + 1] = words[queue] + start[queue + 1].div_ceil(64);
            start[queue + 1] += start[queue];
        }
        Self {
            hops,
            capacity,
            queue: vec![0; start[queues] as usize],
            key: vec![0; start[queues] as usize],
            place: [vec![0; hops.len()], vec![0; hops.len()]],
            ready: vec![0; words[queues] as usize],
            words,
            start,
            from: vec![0; queues],
            waiting: vec![0; queues],
        }
    }

    /// Sorts all queues: the most urgent first, ties and a little more at random. Counting sort over all hops at once.
    fn order(&mut self, urgency: &Times, noise: u32, rng: &mut Rng) {
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
        let mut sorted = vec![0_u32; self.queue.len()];
        for (hop, way) in self.hops.iter() {
            let end = &mut ends[keys[way][hop] as usize];
            sorted[*end as usize] = (2 * hop + way) as u32;
            *end += 1;
        }
        let mut ends = self.start.clone();
        for both in sorted {
            let (hop, way) = (both as usize / 2, both as usize % 2);
            let end = &mut ends[2 * self.hops.link[way][hop] as usize + way];
            self.queue[*end as usize] = hop as u32;
            self.key[*end as usize] = keys[way][hop];
            self.place[way][hop] = *end;
            *end += 1;
        }
    }

    fn release(&mut self, hop: u32, way: usize, busy: &mut Vec<u32>) {
        let link = self.hops.link[way][hop as usize];
        let queue = 2 * link as usize + way;
        let place = self.place[way][hop as usize] - self.start[queue];
        self.ready[(self.words[queue] + place / 64) as usize] |= 1 << (place % 64);
        self.from[queue] = self.from[queue].min(place / 64);
        if self.waiting[queue] == 0 && self.waiting[queue ^ 1] == 0 {
            busy.push(link);
        }
        self.waiting[queue] += 1;
    }

    /// The place of the most urgent hop that is ready.
    fn peek(&mut self, queue: usize) -> Option<u32> {
        if self.waiting[queue] == 0 {
            return None;
        }
        loop {
            let word = self.ready[(self.words[queue] + self.from[queue]) as usize];
            if word != 0 {
                return Some(self.start[queue] + self.from[queue] * 64 + word.trailing_zeros());
            }
            self.from[queue] += 1;
        }
    }

    fn take(&mut self, queue: usize, place: u32) -> u32 {
        let offset = place - self.start[queue];
        self.ready[(self.words[queue] + offset / 64) as usize] &= !(1 << (offset % 64));
        self.waiting[queue] -= 1;
        self.queue[place as usize]
    }

    /// Serves all links step by step, in each the most urgent hops that are ready. Backward in time, hops down gather
    /// towards the root and hops up spread from it. In a step, a link carries hops of one way.
    fn run(&mut self, step_width: u32, backward: bool) -> Timetable {
        let hops = self.hops;
        let (gather, spread) = if backward { (DOWN, UP) } else { (UP, DOWN) };
        let [gathering, spreading]: [&Forest; 2] = [gather, spread].map(|way| hops.forest(way));
        let mut waits_for = gathering.below.clone();
        let mut times: Times = [vec![0; hops.len()], vec![0; hops.len()]];
        let (mut busy, mut released) = (Vec::new(), Vec::new());
        self.from.fill(u32::MAX);
        let spreads = hops.ways.contains(&spread);
        if hops.ways.contains(&gather) {
            let leaf = |hop: &u32| hops.is_hop(*hop as usize, gather) && gathering.below[*hop as usize] == 0;
            released.extend((0..hops.len() as u32).filter(leaf).map(|hop| (hop, gather)));
        } else {
            let first = hops.roots.iter().flat_map(|&root| spreading.below(root));
            released.extend(first.map(|hop| (hop, spread)));
        }
        let (mut left, mut widths) = (self.queue.len(), Vec::new());
        while left > 0 {
            for (hop, way) in released.drain(..) {
                self.release(hop, way, &mut busy);
            }
            let (step, mut width) = (widths.len() as u32, 0);
            busy.retain(|&link| {
                let queues = [UP, DOWN].map(|way| 2 * link as usize + way);
                let [up, down] =
                    queues.map(|queue| self.peek(queue).map_or(u32::MAX, |place| self.key[place as usize]));
                let way = if up <= down { UP } else { DOWN };
                let mut taken = 0;
                while taken < step_width * self.capacity[link as usize]
                    && let Some(place) = self.peek(queues[way])
                {
                    let hop = self.take(queues[way], place);
                    taken += 1;
                    times[way][hop as usize] = step;
                    if way == spread {
                        released.extend(spreading.below(hop).map(|next| (next, spread)));
                        continue;
                    }
                    let above = gathering.above[hop as usize];
                    waits_for[above as usize] -= 1;
                    match waits_for[above as usize] {
                        0 if gathering.is_root(above) && spreads => {
                            released.extend(spreading.below(above).map(|next| (next, spread)));
                        }
                        0 if gathering.is_root(above) => {}
                        0 => released.push((above, gather)),
                        _ => {}
                    }
                }
                left -= taken as usize;
                width = width.max(taken.div_ceil(self.capacity[link as usize]));
                queues.iter().any(|&queue| self.waiting[queue] > 0)
            });
            widths.push(width);
        }
        Timetable { times, widths }
    }
}
