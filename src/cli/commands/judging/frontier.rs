//! `synth bound --frontier`: the least volume at each number of steps, and what planning reaches there.

use std::time::Duration;

use collsynth::bound::{self, FlowError};
use collsynth::certificate::Bounds;
use collsynth::plan::{Control, Goal, Parts, Plan, StopReason, synthesize};
use collsynth::problem::Problem;
use collsynth::report::frontier::Point;
use collsynth::schedule::Solution;
use collsynth::verify::{Options, Verified};

use crate::cli::arguments::flow_limits::{Limits, is_stopped, of_flow};
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::console::note;
use crate::cli::io::progress::Ticker;

/// The most numbers of steps tried.
const MOST_POINTS: u32 = 64;

/// The points from the fewest steps there can be up to the first that allows the least volume there can be; fewer, and
/// [`Ending::Stopped`], if Ctrl-C comes or a program takes too long.
pub fn points(
    problem: &Problem,
    variables: usize,
    time: Option<Duration>,
    ticker: &Ticker,
) -> Result<(Vec<Point>, Ending), Failure> {
    let limits = Limits::new(variables, time)?;
    let bounds = limits.control().bounds(problem);
    let mut least = bounds.map_err(|error| Failure::of_plan(&error, problem.topology()))?;
    let flow = match bound::flow_bound(problem, &limits.flow()) {
        // Cuts and partitions bound their volume.
        Err(FlowError::WrongKind(_)) => None,
        flow => flow.map_err(|error| of_flow(&error, problem, "--frontier"))?.finding,
    };
    if let Some(bound::Claim::Volume(volume)) = flow.map(|finding| finding.claim)
        && least.volume.as_ref().is_none_or(|known| known.at_least < volume.at_least)
    {
        least.volume = Some(volume);
    }
    // A bound for these parts, which may have less volume in more: only widths heed it.
    let whole = match bound::over_time(problem, &least, &limits.flow()).map(|finding| finding.claim) {
        Some(bound::Claim::Volume(volume)) => Bounds { volume: Some(volume), ..least.clone() },
        _ => least.clone(),
    };
    let least_width = whole.least_width(problem.parts());
    let (mut points, mut narrowest) = (Vec::<Point>::new(), u32::MAX);
    for steps in (least.least_steps()..).take(MOST_POINTS as usize).skip_while(|&steps| steps == 0) {
        ticker.say(format!("{steps} steps"));
        let bound = match bound::stepped_bound(problem, steps, &limits.flow()) {
            // What is there is worth printing.
            Err(FlowError::TooLarge { .. }) if !points.is_empty() => break,
            Err(error) if is_stopped(&error) && !points.is_empty() => {
                note(&format!("{error}; the points up to {} steps are shown", steps - 1));
                return Ok((points, Ending::Stopped));
            }
            bound => bound.map_err(|error| of_flow(&error, problem, "--frontier"))?,
        };
        let control = limits.control().with_listener(ticker.listener());
        let volume = least.volume.as_ref().map_or(0.into(), |least| least.at_least).max(bound.proven.at_least);
        let point = Point { bound, volume, least_width, planned: planned(problem, steps, &control)? };
        // Every step is at least 1 wide.
        narrowest = narrowest.min(point.least_width(problem.parts()));
        let done = narrowest <= least_width.max(steps);
        points.push(point);
        if control.stop() == Some(StopReason::Interrupted) {
            return Ok((points, Ending::Stopped));
        }
        if done {
            break;
        }
    }
    Ok((points, Ending::Success))
}

/// The width and planner of the best schedule found with this many steps, verified.
fn planned(problem: &Problem, steps: u32, control: &Control) -> Result<Option<(u64, &'static str)>, Failure> {
    let goal = Goal { parts: Parts::Fixed(problem.parts()), steps: Some(steps), ..Goal::default() };
    let Ok(plan) = synthesize(problem.machine(), &problem.collective().kind, &goal, control) else {
        return Ok(None);
    };
    let Plan { problem, schedule, planner, .. } = plan;
    let width = schedule.total_width();
    let solution = Solution { problem, schedule, bounds: Bounds::default(), origin: None };
    match Verified::<Solution>::new(solution, &Options::default()) {
        Ok(_) => Ok(Some((width, planner))),
        Err(_) => Err(Failure::new(
            Ending::Refuted,
            format!("internal error: the schedule of planner `{planner}` in {steps} steps is wrong"),
        )),
    }
}
