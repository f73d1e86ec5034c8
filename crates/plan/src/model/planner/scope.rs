//! What a planner plans: kinds, groups, machines.

use crate::model::error::PlanError;
use collsynth_core::problem::Problem;
use collsynth_core::topology::{LinkId, RankId, Torus};

const NO_TORUS: &str = "it needs a torus, and this is an explicit graph";

/// What a planner plans, as far as the kind, the groups and the sort of machine decide it.
///
/// ```
/// use collsynth_plan::{Machines, Scope};
///
/// const TREES: Scope = Scope::of(&["broadcast", "reduce"]).in_groups(&["broadcast"]).on(Machines::Tori);
/// assert_eq!((TREES.kinds.len(), TREES.groups, TREES.machines), (2, &["broadcast"][..], Machines::Tori));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The names of the kinds that it plans among all ranks.
    pub kinds: &'static [&'static str],
    /// The names of the kinds that it plans in groups.
    pub groups: &'static [&'static str],
    /// The machines that it plans for.
    pub machines: Machines,
}

/// Machines, from all to few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// Any network with any failures.
    Any,
    /// Tori.
    Tori,
    /// Tori without failures.
    IntactTori,
}

impl Machines {
    /// For people: `tori without failures`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "any network with any failures",
            Self::Tori => "tori",
            Self::IntactTori => "tori without failures",
        }
    }
}

impl Scope {
    /// These kinds among all ranks, on any network.
    pub const fn of(kinds: &'static [&'static str]) -> Self {
        Self { kinds, groups: &[], machines: Machines::Any }
    }

    /// The same, and these kinds in groups.
    pub const fn in_groups(self, groups: &'static [&'static str]) -> Self {
        Self { groups, ..self }
    }

    /// The same on these machines only.
    pub const fn on(self, machines: Machines) -> Self {
        Self { machines, ..self }
    }

    /// Refuses what is out of scope. O(links).
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason.
    pub fn check(&self, planner: &'static str, problem: &Problem) -> Result<(), PlanError> {
        let refusal = self.kind_refused(problem).or_else(|| self.machine_refused(problem));
        refusal.map_or(Ok(()), |reason| Err(PlanError::NotApplicable { planner, reason }))
    }

    /// The torus of a problem of this scope, if it is for tori. O(links).
    ///
    /// # Errors
    ///
    /// [`PlanError::NotApplicable`] with the reason.
    pub fn torus<'a>(&self, planner: &'static str, problem: &'a Problem) -> Result<&'a Torus, PlanError> {
        self.check(planner, problem)?;
        let refuse = || PlanError::NotApplicable { planner, reason: NO_TORUS.to_owned() };
        problem.topology().as_torus().ok_or_else(refuse)
    }

    fn kind_refused(&self, problem: &Problem) -> Option<String> {
        let kind = problem.collective().kind.name();
        match problem.groups() {
            None if self.kinds.contains(&kind) => None,
            None => Some(format!("it plans {} only", listed(self.kinds))),
            Some(_) if self.groups.contains(&kind) => None,
            Some(_) if self.groups.is_empty() => Some("it plans no groups of ranks".to_owned()),
            Some(_) => Some(format!("in groups, it plans {} only", listed(self.groups))),
        }
    }

    fn machine_refused(&self, problem: &Problem) -> Option<String> {
        let topology = problem.topology();
        if self.machines != Machines::Any && topology.as_torus().is_none() {
            return Some(NO_TORUS.to_owned());
        }
        if self.machines != Machines::IntactTori {
            return None;
        }
        let rank = (0..topology.rank_count() as u32).map(RankId).find(|&rank| !topology.is_alive(rank));
        let link = (0..topology.links().len() as u32).map(LinkId).find(|&link| !topology.link(link).alive);
        let failed = match (rank, link) {
            (Some(rank), _) => format!("rank {}", topology.rank_label(rank)),
            (None, link) => format!("link {}", topology.link_label(link?)),
        };
        Some(format!("it needs a torus without failures, and {failed} failed"))
    }
}

/// `all_gather, reduce_scatter and all_reduce`
fn listed(kinds: &[&str]) -> String {
    match kinds {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => kinds.concat(),
    }
}
