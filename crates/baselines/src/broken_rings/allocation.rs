//! The offline bandwidth allocation: the share of a broken ring's data that each routing carries.
//!
//! One linear program decides a normal phase and the acceleration phases after it:
//!
//! ```text
//!   minimize  T[normal] + T[acceleration 1] + ...
//!   for every broken ring      sum over its routings of share = 1,   all shares >= 0
//!   for every link and phase   sum of share * load of the routing on the link <= capacity * T[phase]
//!   T[normal] >= load of the intact rings
//! ```
//!
//! On a torus of equal extents `k` with one broken ring it yields the closed forms of the paper. With the speed of a
//! folded ring relative to an intact one, `r = k / (4 (k-1))` for even `k` and `(k+1) / (4k)` for odd `k`: the normal
//! phase takes `r` if broken rings work in it; of the rest, each of the `D-1` virtual rings takes `1 / (D-1+r)` and the
//! folded ring `r / (D-1+r)`. Nothing is assumed of the machine: extents and capacities may differ, routings may share
//! links, some may be missing.
//!
//! The program has a variable for each routing of each broken ring and for each phase, and a row for each link that the
//! routings use in a phase. For `m` broken rings of extent `k` in `D` dimensions with one acceleration phase, that is
//! up to `m (D+1)` variables and about `2 m D k` rows with `O(k)` entries per routing: it grows with the failures, the
//! dimensions and the extents, not with the number of ranks.

use std::collections::BTreeMap;

use collsynth_lp::{Allocation, Choice, LpError, Resource, Share};

use super::machine::{Errand, Machine};
use super::routings::{BrokenRing, Routing};
use collsynth_core::problem::Problem;
use collsynth_core::topology::LinkId;
use collsynth_plan::phased::Walks;
use collsynth_plan::{Control, PlanError, StopReason};

/// Shares below this are zero within the precision of the solver.
const NOTHING: f64 = 1e-7;

pub(super) type Shares<'a> = Vec<Portion<'a>>;

/// A routing in a phase, and its share of the data.
pub(super) struct Portion<'a> {
    /// The phase: 0 is the normal one.
    pub phase: usize,
    pub routing: &'a Routing,
    /// From 0 to 1; the shares of a ring add up to 1.
    pub share: f64,
}

/// Are there shares to decide on?
pub(super) fn has_choice(all: &[Shares<'_>]) -> bool {
    all.iter().any(|portions| portions.len() != 1)
}

impl Machine<'_> {
    /// Allocates, given the walks over intact rings in the normal phase and the errands of each broken ring.
    ///
    /// # Errors
    ///
    /// If time runs out, or the solver fails.
    pub(super) fn allocate(
        &self,
        planner: &'static str,
        problem: &Problem,
        control: &Control,
        intact: &Walks,
        errands: &[Vec<Errand>],
    ) -> Result<Vec<Shares<'_>>, PlanError> {
        let mut all = self.all_portions();
        let Some(program) = self.program(problem, intact, errands, &all) else {
            return Ok(all);
        };
        let decided = program.solve(&control.limit()).map_err(|error| match error {
            LpError::TimeLimit => PlanError::Stopped { stopped: StopReason::TimeLimit },
            LpError::NoSolver => PlanError::NotApplicable { planner, reason: error.to_string() },
            LpError::Interrupted => PlanError::Stopped { stopped: StopReason::Interrupted },
            error => PlanError::NotFound { planner, limit: format!("the offline bandwidth allocation: {error}") },
        })?;
        for (portions, shares) in all.iter_mut().zip(decided.shares) {
            let taken: f64 = shares.iter().filter(|&&share| share > NOTHING).sum();
            for (portion, share) in portions.iter_mut().zip(shares) {
                portion.share = if share > NOTHING { share / taken } else { 0.0 };
            }
        }
        Ok(all)
    }

    /// The linear program of a normal phase and the acceleration phases after it; `None` if there is no choice.
    pub(super) fn program(
        &self,
        problem: &Problem,
        intact: &Walks,
        errands: &[Vec<Errand>],
        all: &[Shares<'_>],
    ) -> Option<Allocation> {
        if !has_choice(all) {
            return None;
        }
        let phases = 1 + self.groups.iter().map(|group| group + 1).max().unwrap_or(0);
        let base = intact.fullest_in_messages(problem);
        let mut rows = Rows { machine: self, numbers: BTreeMap::new(), resources: Vec::new() };
        rows.resources.push(Resource { phase: 0, capacity: 1.0, base });
        let choices = all.iter().zip(errands).map(|(portions, errands)| {
            let amount = if errands.is_empty() { 0.0 } else { 1.0 };
            let load = |portion: &Portion<'_>| rows.loads(portion, errands, problem.parts());
            Choice { amount, ways: portions.iter().map(load).collect() }
        });
        let choices = choices.collect();
        Some(Allocation { phases, resources: rows.resources, choices })
    }

    /// The routings of all broken rings, before the allocation.
    pub(super) fn all_portions(&self) -> Vec<Shares<'_>> {
        (0..self.broken.len()).map(|ring| self.portions(ring)).collect()
    }

    /// The routings of a broken ring in all phases, at first with all data on the first.
    fn portions(&self, number: usize) -> Shares<'_> {
        let ring: &BrokenRing = &self.broken[number];
        let normal = ring.own.iter().filter(|_| self.normal).map(|routing| (0, routing));
        let accelerated = self.groups.get(number).map(|group| ring.routings().map(move |routing| (group + 1, routing)));
        let routings = normal.chain(accelerated.into_iter().flatten()).enumerate();
        routings
            .map(|(index, (phase, routing))| Portion { phase, routing, share: if index == 0 { 1.0 } else { 0.0 } })
            .collect()
    }
}

/// The rows of the program: a link in a phase each.
struct Rows<'a> {
    machine: &'a Machine<'a>,
    numbers: BTreeMap<(usize, LinkId), usize>,
    resources: Vec<Resource>,
}

impl Rows<'_> {
    /// The load of each link, in messages, if all of a ring's data took this routing.
    fn loads(&mut self, portion: &Portion<'_>, errands: &[Errand], parts: u32) -> Share {
        let mut loads: BTreeMap<LinkId, f64> = BTreeMap::new();
        for errand in errands {
            let routes = portion.routing.routes(errand.from, errand.to);
            let load = errand.chunks.len() as f64 / f64::from(parts) / routes.len() as f64;
            for &link in routes.iter().flatten() {
                *loads.entry(link).or_default() += load;
            }
        }
        let phase = portion.phase;
        let numbered = loads.into_iter().map(|(link, load)| {
            let capacity = self.machine.topology.link(link).capacity.into();
            let new = self.resources.len();
            let number = *self.numbers.entry((phase, link)).or_insert(new);
            if number == new {
                self.resources.push(Resource { phase, capacity, base: 0.0 });
            }
            (number, load)
        });
        Share { loads: numbered.collect() }
    }
}
