//! Spanning trees: all-reduce near its bound, on any network with any failures.
//!
//! Every chunk has a spanning tree of its own, or rather two with one root: contributions are added up along the one, and
//! the sum is spread along the other. Roots and the step at which a chunk turns round are free, so some chunks still
//! come up while others already go down, and all links are busy all the time.
//!
//! ```text
//!   a --1--+                  +--4--> a        chunk 0: up to r in 2 steps, then down
//!   b --1--c --2--> r --3--> c `--4--> b
//!   r ----1----> b --2--> a --3--> ...         chunk 1: another root, another turn
//! ```
//!
//! * **Applies** to all_reduce on any topology.
//! * **Volume**: the bound says that `2 (N-1)` vectors must cross the links, whatever is done; a pair of spanning trees
//!   takes just so many hops. What is lost is lost to slots that nobody can use, and to links that switch once from sums
//!   coming up to sums going down. A sound 4x4x4 torus
//!   in 128 parts is planned at the bound, 21/64, in 12 steps; with failures it takes more: 4x4 with a dead cable, in 48
//!   parts, 5/8 or less, where the bound is 15/31.
//! * **Steps**: at least the hops to and from the rank that is nearest to all; a few more make the volume smaller.
//! * **Without failures**: on a symmetric torus whose number of ranks divides the parts, one pair per part of a rank is
//!   planned and translated to all ranks, as in [`Template`](super::Template): a slot is then a direction in a step.
//! * **Complexity**: growing a pair takes O(steps * links); a round O(arrivals moved * degree * steps).
//!
//! An all-reduce composed of reduce_scatter and all_gather is the special case of equal shares of roots and one turn for
//! all; a rank with a dead cable then holds up everybody twice. That sums go up and down trees with free roots is known
//! from tree packing (Edmonds 1973; Nash-Williams and Tutte 1961); prices are those of PathFinder (McMurchie and
//! Ebeling, FPGA 1995).

mod pairs;
mod translation;

use crate::collective::{ChunkId, Kind};
use crate::plan::negotiation::{Network, Search, Start, Strategy, WAIT, most_useful};
use crate::plan::trees::{Arrival, Incoming};
use crate::plan::{Control, Outcome, PlanError, Planner, StopReason, Task, bounded_widths, even_widths};
use crate::problem::Problem;
use crate::schedule::{Op, Schedule};
use crate::topology::LinkId;
use pairs::{Ground, Pairs, View, real_step};
use translation::Translation;

/// The planner of spanning trees.
///
/// ```
/// use synth::plan::{Control, Parts, Wish, synthesise};
/// use synth::{collective::Kind, topology::Topology};
///
/// let wish = Wish { parts: Parts::Fixed(32), ..Wish::default() };
/// let plan = synthesise(&Topology::torus(&[4, 4])?, &Kind::AllReduce, &wish, &Control::unlimited())?;
/// // Half of the vector; the bound is 15/32: 2 * 15 vectors over 64 links.
/// assert_eq!((plan.planner, plan.schedule.total_width()), ("spanning_trees", 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SpanningTrees;

impl Planner for SpanningTrees {
    fn name(&self) -> &'static str {
        "spanning_trees"
    }

    fn summary(&self) -> &'static str {
        "all_reduce on any network with any failures: trees up and down with free roots"
    }

    fn applies(&self, problem: &Problem) -> Result<(), PlanError> {
        let refuse = |reason: &str| PlanError::NotApplicable { planner: self.name(), reason: reason.to_owned() };
        match problem.collective().kind {
            Kind::AllReduce => Ok(()),
            _ => Err(refuse("it plans all_reduce only")),
        }
    }

    fn plan(&self, task: &Task<'_>, control: &Control) -> Result<Outcome, PlanError> {
        self.applies(task.problem)?;
        let problem = task.problem;
        task.step_count(task.bounds.least_steps())?;
        if problem.is_trivial() {
            return Ok(Outcome { schedule: Schedule::default(), stopped: StopReason::Finished });
        }
        let translation = Translation::new(problem);
        let ground = ground(problem, translation.as_ref());
        problem.check_connected(&ground.views[0].network.distances)?;
        let (_, [down, up]) = ground.roots[0];
        let least_steps = down + up;
        let wished = task.steps.or(task.max_steps);
        if let Some(wished) = wished.filter(|&wished| wished < least_steps) {
            let limit = format!("{wished} steps: up to a root and down again takes {least_steps}");
            return Err(PlanError::NotFound { planner: self.name(), limit });
        }
        let least_steps = task.steps.unwrap_or(least_steps);
        let planting = Planting { ground: &ground, translated: translation.is_some(), least_steps, most_steps: wished };
        let least_width = task.bounds.least_width(problem.parts()).max(least_steps);
        let (widths, arrivals, stopped) = Search::new(self.name(), task, &planting, control).run(least_width);
        let schedule = write_down(task, &ground, translation.as_ref(), &widths, &arrivals);
        Ok(Outcome { schedule, stopped })
    }
}

/// What is planned: the pairs of rank 0 if they can be translated to the others, else those of all chunks.
fn ground(problem: &Problem, translation: Option<&Translation>) -> Ground {
    let views = [Network::new(problem), Network::reversed(problem)].map(|network| {
        let incoming = Incoming::new(&network);
        View { network, incoming }
    });
    let live: Vec<u32> = problem.topology().live_ranks().map(|rank| rank.0).collect();
    let farthest = |view: &View, root| live.iter().map(|&rank| view.network.distance(root, rank)).max().unwrap_or(0);
    let candidates = if translation.is_some() { &live[..1] } else { &live[..] };
    let mut roots: Vec<(u32, [u32; 2])> =
        candidates.iter().map(|&root| (root, [farthest(&views[0], root), farthest(&views[1], root)])).collect();
    roots.sort_by_key(|(_, hops)| hops[0] + hops[1]);
    let links = views[0].network.link_count() as u32;
    let (column, capacity, pairs) = match translation {
        Some(translation) => (translation.column.clone(), translation.capacity.clone(), translation.pairs),
        None => ((0..links).collect(), views[0].network.capacity.clone(), problem.parts() as usize),
    };
    let mut lean = vec![0; capacity.len()];
    let mut helpers = Vec::new();
    if translation.is_none() {
        let network = &views[0].network;
        let strongest = live.iter().map(|&rank| network.capacity_out_of(rank)).max().unwrap_or(0);
        let weak = |rank| network.capacity_out_of(rank) < strongest;
        for (lean, (&from, &to)) in lean.iter_mut().zip(network.from.iter().zip(&network.to)) {
            *lean = i8::from(weak(from)) - i8::from(weak(to));
            helpers.extend((*lean > 0).then_some(to));
        }
        helpers.sort_unstable();
        helpers.dedup();
        roots = with_helpers_often(&roots, &helpers);
    }
    Ground { views, roots, lean, helpers, column, capacity, pairs }
}

/// Helpers are roots more often than others.
fn with_helpers_often(roots: &[(u32, [u32; 2])], helpers: &[u32]) -> Vec<(u32, [u32; 2])> {
    /// So many times as often.
    const OFTEN: usize = 4;
    let times = |root: u32| if helpers.binary_search(&root).is_ok() { OFTEN } else { 1 };
    roots.iter().flat_map(|&(root, hops)| std::iter::repeat_n((root, hops), times(root))).collect()
}

/// Pairs of trees to be planted.
struct Planting<'a> {
    ground: &'a Ground,
    translated: bool,
    least_steps: u32,
    most_steps: Option<u32>,
}

impl<'a> Strategy for Planting<'a> {
    type Negotiation = Pairs<'a>;

    fn begin(&self, start: Start) -> Pairs<'a> {
        Pairs::new(self.ground, start)
    }

    /// As even as can be, the wider steps early, late, or in the middle. What is translated turns in the middle, all at
    /// once: there the steps must be narrow.
    fn widths(&self, steps: u32, width: u32, number: u64) -> Vec<u32> {
        if self.translated && steps.is_multiple_of(2) {
            let network = &self.ground.views[0].network;
            let root = self.ground.roots[0].0;
            let hops = (0..network.rank_count() as u32)
                .flat_map(|rank| std::iter::repeat_n(network.distance(root, rank), self.ground.pairs));
            let useful = most_useful(hops, network.capacity_into(root));
            let down = bounded_widths(width.div_ceil(2), steps / 2, &useful, &[]);
            return down.iter().rev().chain(&down).copied().collect();
        }
        let mut widths = even_widths(width, steps);
        match number % 3 {
            0 => widths.rotate_right((steps - width % steps) as usize / 2),
            1 => widths.reverse(),
            _ => {}
        }
        widths
    }

    /// The least number, and twice as many.
    fn step_choices(&self, width: u32, climbing: bool) -> Vec<u32> {
        let least = self.least_steps;
        let choices = match climbing {
            true if self.translated => vec![least],
            true => vec![least, 2 * least],
            false => vec![least, 2 * least],
        };
        let most = self.most_steps.unwrap_or(width).min(width);
        let mut choices: Vec<u32> = choices.into_iter().filter(|&steps| steps <= most).collect();
        choices.dedup();
        choices
    }

    fn routing_work(&self, steps: u32) -> u64 {
        (2 * self.ground.pairs * self.ground.views[0].network.rank_count()) as u64 * u64::from(steps)
    }
}

/// The schedule that these pairs are. Steps in which nothing moves are left out unless their number was asked for.
fn write_down(
    task: &Task<'_>,
    ground: &Ground,
    translation: Option<&Translation>,
    widths: &[u32],
    arrivals: &[Arrival],
) -> Schedule {
    let network = &ground.views[0].network;
    let topology = task.problem.topology();
    let (steps, links) = (widths.len() as u32, topology.links().len());
    let mut carried: Vec<(Vec<ChunkId>, usize)> = vec![(Vec::new(), 0); links * widths.len()];
    for (tree, arrivals) in arrivals.chunks(network.rank_count()).enumerate() {
        let (pair, half) = (tree / 2, tree % 2);
        for arrival in arrivals.iter().filter(|arrival| arrival.link != WAIT) {
            let step = real_step(half, arrival.step, steps) as usize;
            let link = network.ids[arrival.link as usize];
            let mut carry = |link: LinkId, chunk| {
                let (chunks, serves) = &mut carried[step * links + link.index()];
                chunks.push(ChunkId(chunk));
                *serves = half;
            };
            match translation {
                None => carry(link, pair as u32),
                Some(translation) => translation.images(topology, pair as u32, link).for_each(|(l, c)| carry(l, c)),
            }
        }
    }
    let mut builder = Schedule::builder();
    for (carried, &width) in carried.chunks_mut(links).zip(widths) {
        if task.steps.is_none() && carried.iter().all(|(chunks, _)| chunks.is_empty()) {
            continue;
        }
        builder.step(width);
        for (link, (chunks, half)) in carried.iter_mut().enumerate().filter(|(_, (chunks, _))| !chunks.is_empty()) {
            chunks.sort_unstable();
            let op = if *half == 0 { Op::Copy } else { Op::Reduce };
            builder.transfer_over(topology, LinkId(link as u32), op, std::mem::take(chunks));
        }
    }
    builder.finish()
}
