//! Halves that overlap, for ranks short of links.
//!
//! In two halves, a rank with five links of six needs 6/5 of the time of the others for either, unless it is the root
//! of a sixth of the chunks. Many such ranks cannot all be. But they need not pass anything on: their links out have
//! nothing to do in the second half, and their links in have nothing to do in the first. So some chunks, the *early*
//! ones, are collected and set out before the middle, and as many, the *late* ones, are collected and set out after it:
//!
//! ```text
//!   steps        |  collecting    |   overlap    |    spreading   |
//!   early        [ collected     ][ spread                  ]
//!   late               [ collected               ][ spread        ]
//!                                 |   middle     |
//! ```
//!
//! An early and a late chunk have a root in common, and each is collected as the other is spread, backward in time over
//! opposite links. So only spreading is planned. In the overlap, a link that spreads in a step `t` before the middle is
//! taken from its opposite `t` steps after it, which would collect over it. A step before the middle thus moves room
//! from the ranks at one end of links to those at the other:
//!
//! ```text
//!   a --> b  t steps before the middle: b has room for more, and a for less, as b --> a is closed t steps after it
//! ```
//!
//! Each rank knows how many chunks it lacks beyond what its links can bring. Links open towards the ranks that lack
//! more, so shortage flows from those with few links to their neighbors and on, until it is as low everywhere as the
//! room of the whole machine allows. Other cables may spread in both directions before the middle: nobody gains or
//! loses if both are full.

use super::deadlines::reach;
use super::halves::{Halves, Up};
use crate::model::network::{LiveLink, Network};
use collsynth_core::problem::Problem;

/// How far halves overlap.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// The steps before the middle, as a share of the fewest steps of a half.
    pub steps: f64,
    /// Their total width, as a multiple of the least that lets every rank make up for the links it lacks.
    pub width: f64,
}

/// Widths that a rank short of links is to be ahead of the others: in narrow steps its neighbors may have nothing new.
const AHEAD: u32 = 2;

/// The steps before the middle, and what sets out when.
pub(super) struct Overlap {
    /// The widths of the steps before the middle; after it they come again, in reverse.
    widths: Vec<u32>,
    /// The root of each chunk. First pairs of an early and a late chunk, then at most one that sets out in the middle.
    pub roots: Vec<u32>,
    /// By live link: its opposite.
    opposite: Vec<LiveLink>,
    /// By rank: the chunks it is to be ahead of the others, if it is short of links.
    ahead: Vec<i64>,
}

impl Overlap {
    /// For halves of this total width. `None` if no rank is short of links, or all are, if there is only one chunk, or
    /// if some link has no opposite.
    pub fn new(problem: &Problem, halves: &Halves<'_>, width: u32, extent: Extent) -> Option<Self> {
        let (Some(network), Up::Mirrored { links }) = (&halves.down, &halves.up) else { return None };
        // What every rank may need is had by roots that are alike.
        let needs = halves.own_needs(width, 0).into_iter();
        let needs: Vec<u32> = needs.map(|need| if need > halves.even() { need } else { 0 }).collect();
        let topology = problem.topology();
        let strong: Vec<u32> =
            topology.live_ranks().filter(|rank| needs[rank.index()] == 0).map(|rank| rank.0).collect();
        let behind = |rank: u32| f64::from(needs[rank as usize]) / f64::from(network.capacity_into(rank).max(1));
        let most = (0..needs.len() as u32).map(behind).fold(0.0, f64::max);
        let (&first, true) = (strong.first()?, most > 0.0 && problem.parts() > 1) else { return None };
        let reach = reach(network, &[first]);
        let steps = ((f64::from(reach) * extent.steps).round() as usize).max(1);
        let sum = most * extent.width;
        // Little is near at first.
        let ramp = |step: usize| sum * 2.0 * step as f64 / (steps * (steps + 1)) as f64;
        let mut number_of = vec![0; topology.links().len()];
        (0..).zip(&network.ids).for_each(|(number, id)| number_of[id.index()] = number);
        let ahead = (0..).zip(&needs).map(|(rank, &need)| match need {
            0 => 0,
            _ => i64::from(AHEAD * network.capacity_into(rank)),
        });
        Some(Self {
            widths: (1..=steps).map(|step| (ramp(step).round() as u32).max(1)).collect(),
            roots: paired(&strong, problem.parts()),
            opposite: links.iter().map(|id| number_of[id.index()]).collect(),
            ahead: ahead.collect(),
        })
    }

    /// The steps before the middle.
    pub fn steps(&self) -> usize {
        self.widths.len()
    }

    /// The width of a step, from 0, if it is given.
    pub fn width(&self, step: usize) -> Option<u32> {
        let at = if step < self.steps() { step } else { self.mirror(step)? };
        Some(self.widths[at])
    }

    /// The step after the middle that has its room in common with one before it, and the other way round.
    pub fn mirror(&self, step: usize) -> Option<usize> {
        (2 * self.steps()).checked_sub(step + 1)
    }

    /// The step, from 0, in which a chunk can set out.
    pub fn departure(&self, chunk: usize) -> usize {
        match (self.partner(chunk) == chunk, chunk % 2) {
            (true, _) => self.steps(),
            (false, 0) => 0,
            (false, _) => 2 * self.steps(),
        }
    }

    /// The chunk that is spread as this one is collected.
    pub fn partner(&self, chunk: usize) -> usize {
        if chunk ^ 1 < self.roots.len() { chunk ^ 1 } else { chunk }
    }

    /// The link that is closed in the mirror of a step before the middle, in which this one spreads.
    pub fn opposite(&self, link: LiveLink) -> LiveLink {
        self.opposite[link as usize]
    }

    /// The capacities of links in a step before the middle: 0 for those that are closed. `short` has what each rank
    /// lacks beyond what its links can bring, and is used up.
    pub fn open(&self, network: &Network, width: u32, mut short: Vec<i64>) -> Vec<u32> {
        short.iter_mut().zip(&self.ahead).for_each(|(short, ahead)| *short += ahead);
        let mut open = vec![0; network.link_count()];
        let ends = |link: usize| (network.from[link] as usize, network.to[link] as usize);
        let gap = |short: &[i64], link: usize| short[ends(link).1] - short[ends(link).0];
        loop {
            let mut links: Vec<(i64, usize)> = (0..open.len())
                .filter(|&link| open[link] == 0)
                .map(|link| (-gap(&short, link), link))
                .filter(|(gap, _)| -gap > i64::from(width))
                .collect();
            links.sort_unstable();
            let before = links.len();
            for (_, link) in links {
                if gap(&short, link) > i64::from(width) {
                    open[link] = network.capacity[link];
                    let (from, to) = ends(link);
                    short[to] -= i64::from(width) * i64::from(network.capacity[link]);
                    short[from] += i64::from(width) * i64::from(network.capacity[link]);
                }
            }
            if before == 0 {
                break;
            }
        }
        for link in 0..open.len() {
            let back = self.opposite[link] as usize;
            let (from, to) = ends(link);
            if link < back && open[link] == 0 && open[back] == 0 && short[from].max(short[to]) <= 0 {
                (open[link], open[back]) = (network.capacity[link], network.capacity[back]);
            }
        }
        open
    }
}

/// The root of each chunk, far from each other: one for each pair, and for the last chunk if their number is odd.
fn paired(ranks: &[u32], chunks: u32) -> Vec<u32> {
    let pairs = chunks.div_ceil(2) as usize;
    (0..chunks as usize).map(|chunk| ranks[(chunk / 2) * ranks.len() / pairs]).collect()
}
