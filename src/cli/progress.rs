//! Progress on standard error, if it is a terminal; and Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use collsynth::plan::{Control, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::caller::{self, Listener};
use super::{Failure, output};

/// The exit code of a program that a second Ctrl-C ended, as shells report it.
const ABORTED: i32 = 130;

/// A line that shows the current attempt; a caller in place of a terminal is told of it.
pub struct Ticker {
    bar: ProgressBar,
    caller: Option<Listener>,
}

impl Ticker {
    /// Draws on standard error if it is a terminal, unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        let caller = caller::listener();
        let target =
            if quiet || caller.is_some() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target).with_style(style());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, caller }
    }

    /// What a planner calls with its progress, from any thread.
    pub fn listener(&self) -> impl Fn(Progress<'_>) + Send + Sync + 'static {
        let (bar, caller) = (self.bar.clone(), self.caller.clone());
        move |progress: Progress<'_>| {
            if let Some(caller) = &caller {
                return caller(progress);
            }
            let Progress { planner, attempt, round, remaining } = progress;
            bar.set_message(match (round, remaining) {
                (0, 0) => format!("{planner}: {attempt}"),
                _ => format!("{planner}: {attempt}; round {round}, {remaining} to mend"),
            });
        }
    }

    /// Shows the next task.
    pub fn say(&self, message: &'static str) {
        self.tell(message.to_owned());
    }

    /// Shows how far something is.
    pub fn tell(&self, message: String) {
        caller::tell(&message);
        self.bar.set_message(message);
    }

    /// Removes the line.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// The time that has passed, then what is being done, cut off at the edge of the terminal.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}").expect("a template that can be read")
}

/// When to stop: after this time from now, or at Ctrl-C.
pub fn control(time_limit: Option<Duration>) -> Result<Control, Failure> {
    Ok(within(Control::unlimited().with_interrupt(interrupt_flag()?), time_limit))
}

/// Stops after this time from now at the latest.
pub fn within(control: Control, time_limit: Option<Duration>) -> Control {
    match time_limit.and_then(|limit| Instant::now().checked_add(limit)) {
        Some(deadline) => control.with_deadline(deadline),
        None => control,
    }
}

/// A flag that the first Ctrl-C (or a termination signal) sets; the second one ends the program at once.
pub fn interrupt_flag() -> Result<Arc<AtomicBool>, Failure> {
    if let Some(flag) = caller::interrupted() {
        return Ok(flag);
    }
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(ABORTED);
        }
        output::note("stopping with the best so far; once more to stop at once");
    })
    .map_err(|error| Failure::usage(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(flag)
}
