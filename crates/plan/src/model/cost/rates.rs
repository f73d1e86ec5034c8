//! Prices of steps, transfers and bytes on a machine.

use super::line::Line;
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Schedule, Step, Timetable};
use collsynth_core::topology::Topology;

/// Bytes per second over a link of capacity 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Bandwidth {
    /// The same for all links.
    Uniform(f64),
    /// One for each dimension of a torus; links without a direction use the first.
    PerDimension(Vec<f64>),
}

/// The prices of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Seconds a step takes to start.
    pub alpha: f64,
    /// Seconds a rank takes to set up each transfer that it sends in a step.
    pub transfer_setup: f64,
    /// The bandwidth of links.
    pub bandwidth: Bandwidth,
}

impl Bandwidth {
    /// The least of all bandwidths: the rate that a message gets on any path.
    pub fn least(&self) -> f64 {
        match self {
            Self::Uniform(bandwidth) => *bandwidth,
            Self::PerDimension(bandwidths) => bandwidths.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }
}

impl Rates {
    /// The time of a schedule as a function of the message size. O(moves + steps * links).
    ///
    /// # Panics
    ///
    /// If a dimension of the machine has no bandwidth.
    pub fn line(&self, problem: &Problem, schedule: &Schedule) -> Line {
        let setups: usize = schedule.steps().map(|step| most_transfers(problem.topology(), step)).sum();
        let fixed = self.alpha * schedule.step_count() as f64 + self.transfer_setup * setups as f64;
        let chunk_seconds = match &self.bandwidth {
            Bandwidth::Uniform(bandwidth) => schedule.total_width() as f64 / bandwidth,
            Bandwidth::PerDimension(bandwidths) => busy_seconds(problem, schedule, bandwidths),
        };
        Line { fixed, per_byte: chunk_seconds / f64::from(problem.parts()) }
    }

    /// The time of a phased algorithm as its paper charges it: `alpha` per start-up, whatever the number of steps, and
    /// the sum over the phases of the load of the fullest link, in messages. Transfer set-ups are free; if bandwidths
    /// differ, the least counts.
    ///
    /// In Qin et al., "Optimizing All-to-All Collective Communication with Fault Tolerance on Torus Networks", MICRO
    /// 2025, table 1, a phase has a start-up for each link of its longest logical edge: 1 if neighbors send to
    /// neighbors, `k - 1` if an edge of a ring is walked in the opposite direction.
    ///
    /// ```
    /// use collsynth_plan::cost::{Bandwidth, Rates};
    ///
    /// let rates = Rates { alpha: 100e-9, transfer_setup: 0.0, bandwidth: Bandwidth::Uniform(32e9) };
    /// // HalfRing and DimRotation on 5x5: two phases, V = 15.
    /// let line = rates.phased(2, 15.0);
    /// assert_eq!((line.fixed, line.per_byte), (200e-9, 15.0 / 32e9));
    /// ```
    pub fn phased(&self, startups: u32, volume: f64) -> Line {
        Line { fixed: self.alpha * f64::from(startups), per_byte: volume / self.bandwidth.least() }
    }
}

/// The most transfers that a rank sends in a step.
fn most_transfers(topology: &Topology, step: Step<'_>) -> usize {
    let mut sent = vec![0; topology.rank_count()];
    for transfer in step.transfers {
        if let Some(count) = sent.get_mut(transfer.from.index()) {
            *count += 1;
        }
    }
    sent.into_iter().max().unwrap_or(0)
}

/// Busy seconds of the slowest link of each step, summed, for chunks of one byte.
fn busy_seconds(problem: &Problem, schedule: &Schedule, bandwidths: &[f64]) -> f64 {
    let topology = problem.topology();
    let mut sum = 0.0;
    schedule.for_each_load(problem, &mut schedule.numbers(), &mut |_, loads| {
        let live = loads.used().map(|(id, chunks)| (topology.link(id), chunks)).filter(|(link, _)| link.alive);
        let busy = live.map(|(link, chunks)| {
            let bandwidth = bandwidths[link.direction.map_or(0, |direction| usize::from(direction.dim))];
            // Chunks cross a link of capacity c in rounds of c.
            chunks.div_ceil(link.capacity.into()) as f64 / bandwidth
        });
        sum += busy.fold(0.0, f64::max);
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cost::Price;
    use collsynth_core::collective::{ChunkId, Collective, Kind};
    use collsynth_core::schedule::Op;
    use collsynth_core::topology::{LinkId, RankId};

    /// Two steps on a 3x3 torus: two transfers of rank 0, along x and y, then a wide one along y.
    fn example() -> (Problem, Schedule) {
        let topology = Topology::torus(&[3, 3]).unwrap();
        let along = |rank, dim, positive| {
            let from =
                |id: &LinkId| topology.link(*id).direction.is_some_and(|d| d.dim == dim && d.positive == positive);
            topology.links_from(RankId(rank)).find(from).unwrap()
        };
        let (x, y) = (along(0, 0, true), along(0, 1, true));
        let mut builder = Schedule::builder();
        builder.step(2);
        builder.transfer_over(&topology, x, Op::Copy, [1, 2].map(ChunkId));
        builder.transfer_over(&topology, y, Op::Copy, [3].map(ChunkId));
        builder.step(3);
        builder.transfer_over(&topology, y, Op::Copy, [6, 7, 8].map(ChunkId));
        let schedule = builder.finish();
        (Problem::new(topology, Collective { kind: Kind::AllToAll, parts: 2 }).unwrap(), schedule)
    }

    #[test]
    fn steps_and_setups_are_fixed_and_widths_are_per_byte() {
        let (problem, schedule) = example();
        let rates = Rates { alpha: 5.0, transfer_setup: 0.25, bandwidth: Bandwidth::Uniform(4.0) };
        // 2 steps, 2 + 1 set-ups of rank 0, and 5 half messages.
        assert_eq!(rates.line(&problem, &schedule), Line { fixed: 10.75, per_byte: 5.0 / 2.0 / 4.0 });
    }

    #[test]
    fn each_step_waits_for_its_slowest_dimension() {
        let (problem, schedule) = example();
        let rates = |x, y| Rates { alpha: 0.0, transfer_setup: 0.0, bandwidth: Bandwidth::PerDimension(vec![x, y]) };
        // Step 1: 2 chunks along x, 1 along y; step 2: 3 along y.
        assert_eq!(rates(1.0, 1.0).line(&problem, &schedule).per_byte, 5.0 / 2.0);
        assert_eq!(rates(4.0, 1.0).line(&problem, &schedule).per_byte, (1.0 + 3.0) / 2.0);
        assert_eq!(rates(0.5, 1.0).line(&problem, &schedule).per_byte, (4.0 + 3.0) / 2.0);
    }

    #[test]
    fn without_setups_it_is_the_price_of_planning() {
        let (problem, schedule) = example();
        let price = Price { message_bytes: 4096, alpha: 1e-6, bandwidth: 50e9 };
        let bandwidth = Bandwidth::Uniform(price.bandwidth);
        let line = Rates { alpha: price.alpha, transfer_setup: 0.0, bandwidth }.line(&problem, &schedule);
        let (one, other) = (line.seconds(4096), price.seconds(&problem, &schedule));
        assert!((one - other).abs() < 1e-12 * other);
    }
}
