//! Amounts divided among options that load shared resources, so that all phases end as soon as possible.
//!
//! ```text
//!   minimize T[0] + T[1] + ...                           the times the phases take
//!   sum over the options of an amount of share = amount  for every amount, all shares >= 0
//!   base + sum of share * load <= capacity * T[phase]    for every resource
//! ```
//!
//! The offline bandwidth allocation of MATE and MATEe (Qin et al., MICRO 2025, section 5) has this form: an amount is
//! the data of the ring with the dead cable; its options are the virtual rings of each acceleration dimension, the
//! folded ring in the acceleration phase, and the folded ring in the normal phases; resources are links, or groups of
//! links with equal loads, once for each phase they work in.

use crate::error::LpError;
use crate::limit::Limit;
use crate::model::{Model, Precision};

/// A limit on a phase: a link, or links with equal loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resource {
    /// The phase in which it works, from 0.
    pub phase: usize,
    /// The load it carries in a unit of time; positive.
    pub capacity: f64,
    /// Its fixed load in this phase; not negative.
    pub base: f64,
}

/// An option for an amount: the loads that a unit of it puts on resources, `(resource, load)`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Share {
    /// Loads per unit, not negative; a resource may occur more than once.
    pub loads: Vec<(usize, f64)>,
}

/// An amount and its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The amount; not negative.
    pub amount: f64,
    /// The options; at least one.
    pub ways: Vec<Share>,
}

/// An allocation problem.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Allocation {
    /// The number of phases.
    pub phases: usize,
    /// The resources.
    pub resources: Vec<Resource>,
    /// The amounts.
    pub choices: Vec<Choice>,
}

/// The size of a linear program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramSize {
    /// Variables.
    pub variables: usize,
    /// Rows, without the bounds of variables.
    pub rows: usize,
    /// Entries that are not 0.
    pub nonzeros: usize,
}

/// The solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocated {
    /// The time of each phase.
    pub times: Vec<f64>,
    /// `shares[choice][way]`, in the unit of the amount.
    pub shares: Vec<Vec<f64>>,
    /// What a unit of load on each resource costs in time. In a phase, capacities times prices add up to 1.
    pub prices: Vec<f64>,
}

impl Allocated {
    /// The time of all phases.
    pub fn total(&self) -> f64 {
        self.times.iter().sum()
    }
}

impl Allocation {
    /// Solves the program, to about 1e-10 of the times, or 1e-8 if that is out of reach. Of several optima, the solver
    /// returns one, mostly in their middle.
    ///
    /// # Errors
    ///
    /// [`LpError::Input`] if a number is negative or NaN, a capacity is 0, a phase or resource is out of range, or an
    /// amount has no option; and the errors of the solver.
    ///
    /// ```
    /// use collsynth_lp::{Allocation, Choice, Limit, Resource, Share};
    ///
    /// // MATE on 4x4x4: one amount, two virtual rings, and a folded ring that takes three times as long
    /// // (r = k / (4 (k-1)) = 1/3).
    /// let resource = Resource { phase: 0, capacity: 1.0, base: 0.0 };
    /// let way = |resource, load| Share { loads: vec![(resource, load)] };
    /// let ways = vec![way(0, 1.0), way(1, 1.0), way(2, 3.0)];
    /// let choices = vec![Choice { amount: 1.0, ways }];
    /// let allocation = Allocation { phases: 1, resources: vec![resource; 3], choices };
    /// let decided = allocation.solve(&Limit::NONE)?;
    /// assert!((decided.total() - 1.0 / (2.0 + 1.0 / 3.0)).abs() < 1e-9);
    /// # Ok::<(), collsynth_lp::LpError>(())
    /// ```
    pub fn solve(&self, limit: &Limit) -> Result<Allocated, LpError> {
        // With many shared resources, rounding can keep the solver from the last digits.
        match self.solve_to(Precision::Fine, limit) {
            Err(LpError::Solver(_)) => self.solve_to(Precision::Usual, limit),
            solved => solved,
        }
    }

    /// The same, to about 1e-5 of the times: for programs to which options are added by the prices.
    ///
    /// # Errors
    ///
    /// As [`Allocation::solve`].
    pub fn solve_roughly(&self, limit: &Limit) -> Result<Allocated, LpError> {
        self.solve_to(Precision::Rough, limit)
    }

    fn solve_to(&self, precision: Precision, limit: &Limit) -> Result<Allocated, LpError> {
        self.check()?;
        let mut model = Model::default();
        let times: Vec<usize> = (0..self.phases).map(|_| model.variable(1.0)).collect();
        let mut rows = vec![Vec::new(); self.resources.len()];
        let mut shares = Vec::with_capacity(self.choices.len());
        for choice in &self.choices {
            let ways: Vec<usize> = choice.ways.iter().map(|_| model.variable(0.0)).collect();
            model.equal(ways.iter().map(|&way| (way, 1.0)).collect(), choice.amount);
            for (way, &variable) in choice.ways.iter().zip(&ways) {
                for &(resource, load) in &way.loads {
                    rows[resource].push((variable, load));
                }
            }
            shares.push(ways);
        }
        let limits = self.resources.iter().zip(rows).map(|(resource, mut row)| {
            row.push((times[resource.phase], -resource.capacity));
            model.at_most(row, -resource.base)
        });
        let limits: Vec<usize> = limits.collect();
        let solved = model.solve(precision, limit)?;
        let value = |variable: &usize| solved.value[*variable];
        Ok(Allocated {
            times: times.iter().map(value).collect(),
            shares: shares.iter().map(|ways| ways.iter().map(value).collect()).collect(),
            prices: limits.into_iter().map(|row| solved.dual[row]).collect(),
        })
    }

    /// The size of the program: a variable for each phase and option, a row for each amount and resource.
    pub fn size(&self) -> ProgramSize {
        let ways = || self.choices.iter().flat_map(|choice| &choice.ways);
        let loads: usize = ways().map(|way| way.loads.len()).sum();
        ProgramSize {
            variables: self.phases + ways().count(),
            rows: self.resources.len() + self.choices.len(),
            nonzeros: self.resources.len() + ways().count() + loads,
        }
    }

    fn check(&self) -> Result<(), LpError> {
        let wrong = |what: String| Err(LpError::Input(what));
        let amount = |value: f64| value.is_finite() && value >= 0.0;
        for (number, resource) in self.resources.iter().enumerate() {
            let Resource { phase, capacity, base } = *resource;
            if phase >= self.phases {
                return wrong(format!("resource {number} works in phase {phase}, but there are {}", self.phases));
            }
            if !(amount(capacity) && capacity > 0.0 && amount(base)) {
                return wrong(format!("resource {number} has no capacity, or a base that is not an amount"));
            }
        }
        for (number, choice) in self.choices.iter().enumerate() {
            if !amount(choice.amount) || choice.ways.is_empty() {
                return wrong(format!("amount {number} is invalid, or has no option"));
            }
            for &(resource, load) in choice.ways.iter().flat_map(|way| &way.loads) {
                if resource >= self.resources.len() || !amount(load) {
                    return wrong(format!("an option of amount {number} loads resource {resource} with {load}"));
                }
            }
        }
        Ok(())
    }
}
