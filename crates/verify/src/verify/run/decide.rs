//! All checks in sequence.

use super::execute::{self, Shown};
use super::moves::{Move, moves_by_chunk};
use super::routes::{self, Route};
use super::scope::Scope;
use crate::verify::Case;
use crate::verify::facts::code::Code;
use crate::verify::facts::fact::{Data, Place};
use crate::verify::facts::ledger::Ledger;
use collsynth_core::certificate::{CertificateError, Work};

/// What the checks compute besides facts.
pub(in crate::verify) struct Decided {
    pub(in crate::verify) routes: Vec<Route>,
    pub(in crate::verify) moves: Vec<Move>,
    pub(in crate::verify) shown: Shown,
}

/// Checks each transfer on its own, the moves of the chunks in the scope, and the bounds.
pub(in crate::verify) fn decide(case: Case<'_>, scope: &Scope<'_>, work: &mut Work, ledger: &mut Ledger) -> Decided {
    let Case { problem, schedule, bounds } = case;
    let routes = routes::resolve(problem, schedule, scope, ledger);
    let moves = moves_by_chunk(schedule, scope);
    let mut shown = Shown { spoiled: Vec::new(), observed: None };
    if scope.moves_nothing(schedule) && !problem.is_trivial() {
        ledger.add(Code::F007, Place::Schedule, || Data::None);
    } else {
        shown = execute::run(problem, &routes, &moves, scope, ledger);
    }
    let mut unproven = |place, steps, error: CertificateError| {
        let code = if error.is_unchecked() { Code::C002 } else { Code::C001 };
        ledger.add(code, place, || Data::Unproven(steps, error));
    };
    if let Some(Err(error)) = bounds.steps.as_ref().map(|bound| work.check_steps(problem, bound)) {
        unproven(Place::StepsBound, None, error);
    }
    if let Some(Err(error)) = bounds.volume.as_ref().map(|bound| work.check_volume(problem, bound)) {
        unproven(Place::VolumeBound, None, error);
    }
    for bound in &bounds.joint {
        if let Err(error) = work.check_joint(problem, bound) {
            unproven(Place::JointBounds, Some(bound.steps), error);
        }
    }
    Decided { routes, moves, shown }
}
