//! What a schedule moves, and how busy it keeps the links.

use super::Schedule;
use crate::problem::Problem;
use crate::topology::{Direction, LinkId};

/// Chunks carried, per link and step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkLoads {
    links: usize,
    /// `carried[step * links + link]`, steps from 0.
    carried: Vec<u64>,
}

/// The figures of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Steps S.
    pub steps: usize,
    /// The sum of the widths.
    pub total_width: u64,
    /// Transfers.
    pub transfers: usize,
    /// Chunk moves.
    pub moves: usize,
    /// Per direction of a torus (`x-`, `x+`, `y-`, ...; a single `None` for an explicit graph): the used share of the
    /// room on live links (width times capacity, over all steps); `None` where no link is alive.
    pub busy: Vec<(Option<Direction>, Option<f64>)>,
}

impl LinkLoads {
    /// Counts the chunks on every link in every step. Skips transfers without a link or with an ambiguous one: a
    /// verified schedule has none.
    pub fn new(problem: &Problem, schedule: &Schedule) -> Self {
        let topology = problem.topology();
        let links = topology.links().len();
        let mut carried = vec![0; links * schedule.step_count()];
        for (index, step) in schedule.steps().enumerate() {
            for transfer in step.transfers {
                let fits = |&id: &LinkId| transfer.via.is_none() || topology.link(id).direction == transfer.via;
                let mut choices = topology.links_between(transfer.from, transfer.to).filter(fits);
                if let (Some(link), None) = (choices.next(), choices.next()) {
                    carried[index * links + link.index()] += schedule.chunks(transfer).len() as u64;
                }
            }
        }
        Self { links, carried }
    }

    /// Chunks carried by a link in a step (numbered from 1).
    ///
    /// # Panics
    ///
    /// If there is no such step or link.
    pub fn get(&self, step: u32, link: LinkId) -> u64 {
        self.carried[(step as usize - 1) * self.links..][..self.links][link.index()]
    }

    /// Chunks carried by a link over all steps.
    pub fn total(&self, link: LinkId) -> u64 {
        self.carried.iter().skip(link.index()).step_by(self.links.max(1)).sum()
    }
}

/// Steps of widths, in whatever form their moves are stated.
pub trait Timetable {
    /// The number of steps S.
    fn step_count(&self) -> usize;

    /// The sum of the widths; divided by the parts per message, the volume V.
    fn total_width(&self) -> u64;

    /// The figures.
    fn statistics(&self, problem: &Problem) -> Statistics;

    /// Is every transfer stated, so that one may be shown by its place in the file?
    fn is_explicit(&self) -> bool;
}

impl Timetable for Schedule {
    fn step_count(&self) -> usize {
        self.step_count()
    }

    fn total_width(&self) -> u64 {
        self.total_width()
    }

    /// O(moves + steps * links).
    fn statistics(&self, problem: &Problem) -> Statistics {
        Statistics::new(problem, self)
    }

    fn is_explicit(&self) -> bool {
        true
    }
}

impl Statistics {
    /// Measures a schedule. O(moves + steps * links).
    pub fn new(problem: &Problem, schedule: &Schedule) -> Self {
        let loads = LinkLoads::new(problem, schedule);
        let counts = (schedule.transfers().len(), schedule.move_count());
        Self::of(problem, schedule.step_count(), schedule.total_width(), counts, |link| loads.total(link))
    }

    /// The figures, given the counts of steps, transfers and moves, and the chunks that each link carries.
    pub(super) fn of(
        problem: &Problem,
        steps: usize,
        total_width: u64,
        (transfers, moves): (usize, usize),
        carried: impl Fn(LinkId) -> u64,
    ) -> Self {
        let topology = problem.topology();
        let mut directions: Vec<Option<Direction>> = topology.links().iter().map(|link| link.direction).collect();
        directions.sort_unstable();
        directions.dedup();
        let busy = directions.into_iter().map(|direction| {
            let (mut used, mut room) = (0, 0);
            for id in topology.live_links().filter(|&id| topology.link(id).direction == direction) {
                used += carried(id);
                room += u64::from(topology.link(id).capacity) * total_width;
            }
            (direction, (room > 0).then(|| used as f64 / room as f64))
        });
        Self { steps, total_width, transfers, moves, busy: busy.collect() }
    }
}
