//! What speed-ups are over: the planner that was stated, or one fixed by the collective and the machine, so that
//! figures can be quoted. Never one that depends on what other planners found.

use collsynth::plan::StopReason;
use collsynth::problem::Problem;
use collsynth::report::comparison::{Baseline, Machine};
use collsynth::topology::{Topology, TopologySpec};

use super::asking::{Answer, Question, Run};
use crate::cli::arguments::plan::named;
use crate::cli::ending::Failure;

/// Unless stated, the first of these that applies: `ring` and `wfr` are for all-to-all, on intact and on broken tori,
/// and the others have collectives of their own. All are published, and quick.
const USUAL: [&str; 6] = ["ring", "wfr", "ring_all_reduce", "ring_gather", "binary_tree", "two_wave"];
/// As long as the longest of their names.
pub const WIDTH: usize = USUAL[2].len();

/// What speed-ups are over, or why there are none; and the answer of that planner if it is for the machine itself.
type Found = (Result<Baseline, String>, Option<(String, Answer)>);

impl Run<'_> {
    /// What speed-ups on a machine are over; `names` are asked on it later.
    pub fn baseline(&mut self, machine: &Machine, names: &[String], question: &Question<'_>) -> Result<Found, Failure> {
        let topology = machine.problem.machine();
        let sound = self.command.sound_baseline;
        let intact = match sound {
            true => Some(Topology::new(TopologySpec::new(topology.spec().shape.clone())).map_err(Failure::usage)?),
            false => None,
        };
        let on = intact.as_ref().unwrap_or(topology);
        let stated = self.command.baseline.as_deref();
        let problem = match &intact {
            Some(intact) => &Problem::new(intact.clone(), machine.problem.collective().clone())?,
            None => &machine.problem,
        };
        let Some(name) = stated.or_else(|| usual(problem)) else {
            let kind = question.kind.name();
            let why = format!("no usual baseline does {kind} on this machine (--baseline NAME chooses one)");
            return Ok((Err(why), None));
        };
        if sound || !names.iter().any(|asked| asked == name) {
            self.expect_one_more(name);
        }
        let answer = self.ask(name, on, question)?;
        let baseline = match &answer.found {
            Ok(found) => Ok(Baseline {
                name: if sound { format!("{name} without failures") } else { name.to_owned() },
                entries: found.iter().map(|(entry, _)| entry.clone()).collect(),
            }),
            Err((reason, _)) if stated.is_some() && answer.stopped == StopReason::Finished => {
                return Err(Failure::usage(format!("the baseline `{name}` gives no schedule: {reason}"))
                    .hint("choose another --baseline, or add --sound-baseline"));
            }
            Err((reason, _)) => Err(format!("{name} gave no schedule: {reason}")),
        };
        Ok((baseline, (!sound).then(|| (name.to_owned(), answer))))
    }
}

/// The usual baseline for a problem.
fn usual(problem: &Problem) -> Option<&'static str> {
    let applies = |name: &&str| named(name).is_ok_and(|planner| planner.applies(problem).is_ok());
    USUAL.into_iter().find(applies)
}
