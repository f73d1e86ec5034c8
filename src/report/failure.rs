//! What the failures of a machine cost: its bounds beside those of the intact machine.

use serde_json::{Value, json};

use collsynth_bound::{self as bound, Limit};
use collsynth_core::certificate::{Bounds, Rational, Scope};
use collsynth_core::problem::Problem;
use collsynth_core::schedule::{Solution, Timetable};
use collsynth_core::topology::{Topology, TopologySpec};
use collsynth_verify::claim::volume;
use collsynth_verify::report::figures::{count, decimal, exact, fine_percent, times};
use collsynth_verify::report::table::Table;

/// Lower bounds with and without the failures. What they cost follows from nothing but these: the intact machine is not
/// planned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Steps: with the failures, and on the intact machine.
    pub steps: (u32, u32),
    /// Volume: with the failures, and on the intact machine.
    pub volume: (Rational, Rational),
    /// The volume of the schedule.
    pub reached: Rational,
    /// Ranks that failed, and move nothing.
    pub failed_ranks: usize,
}

impl Cost {
    /// Compares the machine of a schedule with itself before anything failed; `None` if nothing failed, or where there
    /// is no bound on the volume of one of them for any number of parts, or none in time.
    pub fn new(solution: &Solution<impl Timetable>, limit: &Limit) -> Option<Self> {
        let problem = &solution.problem;
        let spec = problem.topology().spec();
        if spec.failed_links.is_empty() && spec.failed_ranks.is_empty() {
            return None;
        }
        let machine = Topology::new(TopologySpec::new(spec.shape.clone())).ok()?;
        let intact = Problem::new(machine, problem.collective().clone()).ok()?;
        let intact = bound::find_within(&intact, limit).ok()??;
        let failed = match general(&solution.bounds) {
            Some(_) => solution.bounds.clone(),
            None => bound::find_within(problem, limit).ok()??,
        };
        let least_steps = |bounds: &Bounds| bounds.steps.as_ref().map_or(0, |bound| bound.at_least);
        Some(Self {
            steps: (least_steps(&failed), least_steps(&intact)),
            volume: (general(&failed)?, general(&intact)?),
            reached: volume(problem, &solution.schedule),
            failed_ranks: spec.failed_ranks.len(),
        })
    }

    /// Adds a row about the volume, and one about the steps if the failures make the least number of them grow.
    pub fn add_rows(&self, table: &mut Table) {
        let (with, intact) = self.volume;
        let (least, less) = (short(with), short(intact));
        let cost = match with.cmp(&intact) {
            std::cmp::Ordering::Equal => format!("bound {least}, with or without the failure"),
            _ if self.failed_ranks > 0 => {
                let ranks = count(self.failed_ranks, "rank");
                format!("bound {least} without the {ranks} that failed, {less} intact")
            }
            _ => format!("bound {least}, intact {less}: {} more", fine_percent(times(with, intact) - 1.0)),
        };
        let reached = match self.failed_ranks {
            0 if self.above_intact() < 1.0 => {
                format!("; this schedule has {} more than the intact bound", fine_percent(self.above_intact()))
            }
            0 => format!("; this schedule has {:.1} times the intact bound", self.above_intact() + 1.0),
            _ => String::new(),
        };
        table.remark("failure", format!("{cost}{reached}"));
        let (with, intact) = self.steps;
        if with > intact {
            table.remark("", format!("at least {}, intact {intact}", count(with as usize, "step")));
        }
    }

    /// How far the volume of the schedule lies above the intact bound, as a share of it: no schedule on the intact
    /// machine is faster by more, where bandwidth decides.
    fn above_intact(&self) -> f64 {
        times(self.reached, self.volume.1) - 1.0
    }

    /// The cost as a JSON object.
    pub fn to_json(&self) -> Value {
        let ((steps, intact_steps), (least, intact)) = (self.steps, self.volume);
        json!({
            "steps": { "bound": steps, "intact_bound": intact_steps },
            "volume": {
                "bound": exact(least),
                "bound_decimal": decimal(least),
                "intact_bound": exact(intact),
                "intact_bound_decimal": decimal(intact),
                "bounds_gap": times(least, intact) - 1.0,
                "schedule_gap": self.above_intact(),
            },
        })
    }
}

/// The bound on the volume, if it holds for any number of parts and is one.
fn general(bounds: &Bounds) -> Option<Rational> {
    let bound = bounds.volume.as_ref().filter(|bound| bound.scope() == Scope::AnyParts)?;
    (bound.at_least > Rational::from(0)).then_some(bound.at_least)
}

/// At most three decimals: `33.032`, `32`.
fn short(value: Rational) -> String {
    format!("{:.3}", decimal(value)).trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use collsynth_core::collective::{Collective, Kind};
    use collsynth_core::schedule::ScheduleBuilder;

    /// An empty schedule: only the bounds are asked for.
    fn cost(topology: Topology, kind: Kind) -> Option<Cost> {
        let problem = Problem::new(topology, Collective::new(kind)).unwrap();
        let schedule = ScheduleBuilder::default().finish();
        Cost::new(&Solution { problem, schedule, bounds: Bounds::default(), origin: None }, &Limit::NONE)
    }

    #[test]
    fn bounds_of_both_machines() {
        let torus = Topology::torus(&[4, 4, 4]).unwrap();
        assert_eq!(cost(torus.clone(), Kind::AllToAll), None);
        let cable = cost(torus.clone().fail_cable(2, 3).unwrap(), Kind::AllToAll).unwrap();
        assert_eq!((cable.steps, cable.volume), ((6, 6), (Rational::new(1024, 31), Rational::from(32))));
        let mut table = Table::new(&[]);
        cable.add_rows(&mut table);
        assert!(table.to_string().starts_with("failure  bound 33.032, intact 32: 3.2 % more; "), "{table}");
        // A ring that becomes a line: the same volume moves over half the links, and farther.
        let line = cost(Topology::torus(&[8]).unwrap().fail_cable(0, 7).unwrap(), Kind::AllToAll).unwrap();
        assert_eq!((line.steps, line.volume), ((7, 4), (Rational::from(16), Rational::from(8))));
        // Ranks that failed move nothing, so the volumes are not of the same task.
        let rank = cost(torus.fail_rank(5).unwrap(), Kind::AllGather).unwrap();
        let mut table = Table::new(&[]);
        rank.add_rows(&mut table);
        assert!(table.to_string().contains("without the 1 rank that failed, 10.5 intact"), "{table}");
    }
}
