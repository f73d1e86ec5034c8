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

impl Statistics {
    /// Measures a schedule. O(moves + steps * links).
    pub fn new(problem: &Problem, schedule: &Schedule) -> Self {
        let topology = problem.topology();
        let loads = LinkLoads::new(problem, schedule);
        let mut directions: Vec<Option<Direction>> = topology.links().iter().map(|link| link.direction).collect();
        directions.sort_unstable();
        directions.dedup();
        let busy = directions.into_iter().map(|direction| {
            let (mut used, mut room) = (0, 0);
            for id in topology.live_links().filter(|&id| topology.link(id).direction == direction) {
                used += loads.total(id);
                room += u64::from(topology.link(id).capacity) * schedule.total_width();
            }
            (direction, (room > 0).then(|| used as f64 / room as f64))
        });
        Self {
            steps: schedule.step_count(),
            total_width: schedule.total_width(),
            transfers: schedule.transfers().len(),
            moves: schedule.move_count(),
            busy: busy.collect(),
        }
    }
}
