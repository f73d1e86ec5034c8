//! Chunks spread from their roots to every rank, step by step.
//!
//! A total width is aimed at. What a rank's links could carry in it beyond the chunks the rank lacks is its slack. A
//! step is as wide as it can be without costing any rank more than a share of its slack in idle links; in the first
//! steps, when little is near, that makes them narrow.
//!
//! A rank of many roots sees its own chunks come back: they are the rarest, so its neighbors take them from each other,
//! and have nothing for it. Without slack it would keep steps narrow until all of its chunks have set out. So the
//! neighbors of a rank that can spare nothing, and to which they could bring little, take first what it lacks.

use fastrand::Rng;

use super::assignment::Assignment;
use super::deadlines::Deadlines;
use super::overlap::Overlap;
use super::room::Room;
use crate::model::network::{LiveLink, Network};

/// What to spread.
pub(super) struct Spread<'a> {
    pub network: &'a Network,
    /// The ranks that hold each chunk at first, equally many.
    pub roots: &'a [u32],
    pub chunks: usize,
    /// The total width aimed at.
    pub target: u32,
    /// The share of its slack that a rank may have lost in idle links at the end of each step.
    pub idle: f64,
    /// When chunks must have come to ranks, if that matters.
    pub deadlines: Option<&'a Deadlines>,
    /// The steps before the middle, if halves overlap: the width aimed at is that of the others.
    pub overlap: Option<&'a Overlap>,
    pub stop: &'a dyn Fn() -> bool,
}

/// The steps of a spread.
pub(super) struct Waves {
    pub widths: Vec<u32>,
    /// By step: the links that bring chunks, and the chunks, by the number of their root.
    pub arrivals: Vec<Vec<(LiveLink, u32)>>,
}

impl Spread<'_> {
    /// Spreads all chunks; every rank with a link must be in reach of every root. `None` if stopped.
    pub fn run(&self, rng: &mut Rng) -> Option<Waves> {
        let mut state = State::new(self);
        let mut waves = Waves { widths: Vec::new(), arrivals: Vec::new() };
        while state.left > 0 {
            if (self.stop)() {
                return None;
            }
            let before = self.overlap.map_or(0, Overlap::steps);
            let left = self.target.saturating_sub(waves.widths.iter().skip(before).sum());
            let (width, arrivals) = state.step(waves.widths.len(), left, rng);
            waves.widths.push(width);
            waves.arrivals.push(arrivals);
        }
        Some(waves)
    }
}

struct State<'a> {
    task: &'a Spread<'a>,
    /// The ranks with links.
    live: Vec<u32>,
    words: usize,
    /// The chunks of each rank, as bits: `words` for each.
    has: Vec<u64>,
    /// The number of chunks of each rank, and of ranks with each chunk.
    held: Vec<u32>,
    copies: Vec<u32>,
    /// Room on the links into each rank that was not used, and that it can spare in the width aimed at.
    idle: Vec<u64>,
    slack: Vec<u64>,
    room: Room<'a>,
    /// Arrivals to come.
    left: u64,
    assignment: Assignment,
}

/// Chunks for each that there is room for, among which enough can come over every link.
const ENOUGH: u64 = 4;
/// What a link could bring is little if it fills it for at most this many steps.
const LITTLE: u32 = 3;

/// A chunk in the order in which it is wanted: from the highest bit, due by now or not, lacked by a starving neighbor
/// or not, its copies and a draw.
type Wanted = (u64, u32);

/// How much could come to a rank in a step.
struct Choice {
    rank: u32,
    /// The number of chunks.
    chunks: u64,
    /// By link: the number of chunks it could bring.
    by_link: Vec<u32>,
}

impl<'a> State<'a> {
    fn new(task: &'a Spread<'a>) -> Self {
        let (ranks, chunks, each) = (task.network.rank_count(), task.chunks, task.roots.len() / task.chunks.max(1));
        let words = chunks.div_ceil(64);
        let live: Vec<u32> = (0..ranks as u32).filter(|&rank| !task.network.entering(rank).is_empty()).collect();
        let mut state = Self {
            task,
            left: chunks as u64 * (live.len() - each) as u64,
            live,
            words,
            has: vec![0; ranks * words],
            held: vec![0; ranks],
            copies: vec![each as u32; chunks],
            idle: vec![0; ranks],
            slack: Vec::new(),
            room: Room::new(task.network, task.overlap, task.target),
            assignment: Assignment::default(),
        };
        for (number, &root) in task.roots.iter().enumerate() {
            state.held[root as usize] += 1;
            if task.overlap.is_none() {
                state.set_out(number / each, root);
            }
        }
        state.slack = state.spare();
        state
    }

    /// By rank: what its links can bring beyond the chunks it lacks.
    fn spare(&self) -> Vec<u64> {
        self.room.short(&self.lacks()).into_iter().map(|short| (-short).max(0) as u64).collect()
    }

    /// By rank: the number of chunks it lacks.
    fn lacks(&self) -> Vec<u32> {
        (0..self.held.len() as u32).map(|rank| self.missing(rank)).collect()
    }

    fn set_out(&mut self, chunk: usize, root: u32) {
        self.has[root as usize * self.words + chunk / 64] |= 1 << (chunk % 64);
    }

    /// A step, from 0: its width and what arrives. `left` is what is left of the width aimed at.
    fn step(&mut self, number: usize, left: u32, rng: &mut Rng) -> (u32, Vec<(LiveLink, u32)>) {
        if let Some(overlap) = self.task.overlap {
            self.begin(overlap, number);
        }
        let given = self.task.overlap.and_then(|overlap| overlap.width(number));
        let is_early = self.task.overlap.is_some_and(|overlap| number < overlap.steps());
        let step = number as u16 + 1;
        let mut choices: Vec<Choice> = self.live.iter().map(|&rank| self.choice(rank)).collect();
        if let Some(width) = given.filter(|_| is_early) {
            self.close_idle(&choices, width);
        }
        let width = given.unwrap_or_else(|| self.width(&choices, left).max(self.due_width(&choices, step)));
        let starving = self.starving(&choices, width);
        rng.shuffle(&mut choices);
        let (mut needed, mut arrivals, mut wanted) = (0, Vec::new(), Vec::<Wanted>::new());
        for Choice { rank, .. } in choices {
            wanted.clear();
            let early = |chunk| self.task.deadlines.is_some_and(|deadlines| deadlines.of(chunk, rank) > step);
            let near = &starving[starving.partition_point(|&(feeder, _)| feeder < rank)..];
            let near = near.iter().take_while(|&&(feeder, _)| feeder == rank);
            self.each_chunk(rank, |chunk| {
                let feeds = near.clone().any(|&(_, starving)| !self.holds(starving, chunk));
                let rarest = u64::from(self.copies[chunk as usize]) << 32 | u64::from(rng.u32(..));
                wanted.push((u64::from(early(chunk)) << 63 | u64::from(!feeds) << 62 | rarest, chunk));
            });
            self.reset(rank, width);
            // Most often the links are full before all chunks need be sorted.
            let likely = usize::try_from(ENOUGH * self.room(rank, width)).unwrap_or(usize::MAX);
            let first = if likely < wanted.len() { wanted.select_nth_unstable(likely).0.len() } else { wanted.len() };
            self.take(rank, &mut wanted[..first]);
            self.take(rank, &mut wanted[first..]);
            let links = self.task.network.entering(rank);
            needed = needed.max(self.assignment.needed_width(self.room.entering(rank)));
            let before = arrivals.len();
            arrivals.extend(self.assignment.taken().map(|(link, chunk)| (links[link], chunk)));
            let came = (arrivals.len() - before) as u32;
            self.held[rank as usize] += came;
            self.left -= u64::from(came);
            if self.missing(rank) > 0 && !is_early {
                self.idle[rank as usize] += self.room(rank, width) - u64::from(came);
            }
        }
        for &(link, chunk) in &arrivals {
            let rank = self.task.network.to[link as usize] as usize;
            self.has[rank * self.words + chunk as usize / 64] |= 1 << (chunk % 64);
        }
        self.room.end(number, width, &arrivals);
        (given.unwrap_or(needed), arrivals)
    }

    /// Where halves overlap: what sets out in a step, and which links are open.
    fn begin(&mut self, overlap: &Overlap, number: usize) {
        for (chunk, &root) in overlap.roots.iter().enumerate() {
            if overlap.departure(chunk) == number {
                self.set_out(chunk, root);
            }
        }
        self.room.begin(number, &self.lacks());
        if number == 2 * overlap.steps() {
            self.slack = self.spare();
            self.idle.fill(0);
        }
    }

    /// Closes links that would not be full: that is a loss, unless the rank needs whatever comes.
    fn close_idle(&mut self, choices: &[Choice], width: u32) {
        let (network, short) = (self.task.network, self.room.short(&self.lacks()));
        for choice in choices.iter().filter(|choice| short[choice.rank as usize] <= i64::from(width)) {
            for (&link, &brings) in network.entering(choice.rank).iter().zip(&choice.by_link) {
                if brings < width.saturating_mul(network.capacity[link as usize]) {
                    self.room.close(link);
                }
            }
        }
    }

    /// Ranks, ascending, each with a neighbor that can spare no idle links in a step of this width, and to which it
    /// could bring little.
    fn starving(&self, choices: &[Choice], width: u32) -> Vec<(u32, u32)> {
        let network = self.task.network;
        let mut starving = Vec::new();
        for choice in choices.iter().filter(|choice| self.missing(choice.rank) > 0) {
            let rank = choice.rank as usize;
            let spares = (self.idle[rank] as f64) < self.task.idle * self.slack[rank] as f64;
            for (&link, &brings) in network.entering(choice.rank).iter().zip(&choice.by_link).filter(|_| !spares) {
                let little = width.saturating_mul(network.capacity[link as usize]).saturating_mul(LITTLE);
                starving.extend((brings <= little).then_some((network.from[link as usize], choice.rank)));
            }
        }
        starving.sort_unstable();
        starving
    }

    /// Takes what has room, the most wanted first.
    fn take(&mut self, rank: u32, wanted: &mut [Wanted]) {
        if self.assignment.is_full() {
            return;
        }
        wanted.sort_unstable();
        for &mut (_, chunk) in wanted {
            if self.assignment.offer(chunk, self.links_with(rank, chunk)) {
                self.copies[chunk as usize] += 1;
            }
            if self.assignment.is_full() {
                break;
            }
        }
    }

    fn reset(&mut self, rank: u32, width: u32) {
        self.assignment.reset(self.room.entering(rank).map(|capacity| width.saturating_mul(capacity)));
    }

    /// The least width in which all chunks come that must.
    fn due_width(&mut self, choices: &[Choice], step: u16) -> u32 {
        let Some(deadlines) = self.task.deadlines else { return 0 };
        let (mut width, mut due) = (1, Vec::new());
        for &Choice { rank, .. } in choices {
            due.clear();
            self.each_chunk(rank, |chunk| due.extend(Some(chunk).filter(|_| deadlines.of(chunk, rank) <= step)));
            width = width.max((due.len() as u32).div_ceil(self.task.network.capacity_into(rank)));
            loop {
                self.reset(rank, width);
                if due.iter().all(|&chunk| self.assignment.offer(chunk, self.links_with(rank, chunk))) {
                    break;
                }
                width += 1;
            }
        }
        width
    }

    fn choice(&self, rank: u32) -> Choice {
        let links = self.task.network.entering(rank);
        let mut choice = Choice { rank, chunks: 0, by_link: vec![0; links.len()] };
        for word in 0..self.words {
            let lacks = !self.has[rank as usize * self.words + word];
            let mut any = 0;
            for (by_link, &link) in choice.by_link.iter_mut().zip(links).filter(|(_, link)| self.is_open(**link)) {
                let brings = lacks & self.has_across(link, word);
                *by_link += brings.count_ones();
                any |= brings;
            }
            choice.chunks += u64::from(any.count_ones());
        }
        choice
    }

    /// Each chunk that the rank lacks and a neighbor has, ascending.
    fn each_chunk(&self, rank: u32, mut visit: impl FnMut(u32)) {
        for word in 0..self.words {
            let links = self.task.network.entering(rank).iter().filter(|&&link| self.is_open(link));
            let across = links.map(|&link| self.has_across(link, word));
            let mut any = across.fold(0, |any, held| any | held) & !self.has[rank as usize * self.words + word];
            while any != 0 {
                visit(word as u32 * 64 + any.trailing_zeros());
                any &= any - 1;
            }
        }
    }

    /// The links into a rank that could bring a chunk, as bits.
    fn links_with(&self, rank: u32, chunk: u32) -> u64 {
        let links = self.task.network.entering(rank).iter().enumerate();
        let holds = |link: LiveLink| self.holds(self.task.network.from[link as usize], chunk);
        let brings = |link: LiveLink| u64::from(self.is_open(link) && holds(link));
        links.fold(0, |over, (number, &link)| over | brings(link) << number)
    }

    fn is_open(&self, link: LiveLink) -> bool {
        self.room.on(link) > 0
    }

    /// What the rank at the other end of a link has, as bits.
    fn has_across(&self, link: LiveLink, word: usize) -> u64 {
        self.has[self.task.network.from[link as usize] as usize * self.words + word]
    }

    fn holds(&self, rank: u32, chunk: u32) -> bool {
        self.has[rank as usize * self.words + chunk as usize / 64] >> (chunk % 64) & 1 == 1
    }

    fn missing(&self, rank: u32) -> u32 {
        self.task.chunks as u32 - self.held[rank as usize]
    }

    /// What the links into a rank carry in a step.
    fn room(&self, rank: u32, width: u32) -> u64 {
        self.room.entering(rank).map(u64::from).sum::<u64>() * u64::from(width)
    }

    fn width(&self, choices: &[Choice], left: u32) -> u32 {
        let unfinished = || choices.iter().map(|choice| choice.rank).filter(|&rank| self.missing(rank) > 0);
        if left == 0 {
            let needs = |rank| self.missing(rank).div_ceil(self.task.network.capacity_into(rank));
            return unfinished().map(needs).max().unwrap_or(1);
        }
        let fits = |width: u32| choices.iter().all(|choice| self.idles_little(choice, width));
        let (mut low, mut high) = (1, left);
        while low < high {
            let middle = high - (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// May the rank afford the idle links that a step of this width leaves it, or does it leave no more than the
    /// narrowest would?
    fn idles_little(&self, choice: &Choice, width: u32) -> bool {
        let (network, rank) = (self.task.network, choice.rank as usize);
        let idle = |width: u32| {
            let over = network.entering(choice.rank).iter().zip(&choice.by_link);
            let brings = over.map(|(&link, &brings)| brings.min(width.saturating_mul(self.room.on(link))));
            let comes = brings.map(u64::from).sum::<u64>().min(choice.chunks);
            self.idle[rank] + self.room(choice.rank, width) - comes
        };
        let most = self.task.idle * self.slack[rank] as f64;
        let now = idle(width);
        self.missing(choice.rank) == 0 || now as f64 <= most || now <= idle(1)
    }
}
