//! When a command ends: its time limit, counted from the start of the process, and Ctrl-C.
//!
//! Whatever searches asks a [`Control`], and comes back in time with the best so far. Should it not come back, a watch
//! ends the process: no loop of no planner can make a command late. What is written then is whole: a temporary file is
//! removed, and an answer that is being printed is finished.

use std::cell::Cell;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use collsynth::finishing_time;
use collsynth::format::file;
use collsynth::plan::Control;

use super::caller;
use super::console::{note, printing};
use crate::cli::ending::{Ending, Failure};

/// The exit code of a program that Ctrl-C ended, as shells report it.
const ABORTED: i32 = 130;
/// How late a command may be: this share of its limit, or this long.
const LATE: f64 = 0.15;
const AT_LEAST: Duration = Duration::from_secs(2);
/// After Ctrl-C a search has the same share of the time it has taken, but at least what a first plan of a pod takes, as
/// whoever waits can press again, and not longer than somebody waits.
const PATIENCE: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(10)];
/// The watch ends the process a little before, as that takes time itself where much memory is in use.
const ENDING: Duration = Duration::from_millis(300);

/// The name of the option in every command that has it.
const TIME_LIMIT: &str = "time_limit";

thread_local! {
    /// When the command of this thread was called.
    static STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The state of the process, where a shell has called: when, first of all.
static BEGAN: OnceLock<Instant> = OnceLock::new();
static WATCH: Watch = Watch { ends: Mutex::new([None; 2]), changed: Condvar::new() };
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Does anything look at [`INTERRUPTED`]? Else the first Ctrl-C ends the program.
static LISTENING: AtomicBool = AtomicBool::new(false);
/// Has an answer been given, in a file or on standard output?
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Has the search come back?
static SEARCHED: AtomicBool = AtomicBool::new(false);

struct Watch {
    /// By the reason.
    ends: Mutex<[Option<Instant>; 2]>,
    changed: Condvar,
}

#[derive(Clone, Copy)]
enum Why {
    TimeLimit,
    Interrupted,
}

const REASONS: [Why; 2] = [Why::TimeLimit, Why::Interrupted];

/// Starts the clock of a command; its time limit, if it has one, is watched from now on.
pub fn start(started: Instant, matches: &ArgMatches) {
    STARTED.set(Some(started));
    if caller::interrupted().is_some() {
        return;
    }
    BEGAN.get_or_init(|| started);
    if let Some(limit) = time_limit(matches) {
        watch(limit);
    }
}

/// Watches a limit that a command sets itself.
pub fn watch(limit: Duration) {
    if caller::interrupted().is_none() {
        WATCH.end_at(started(), limit.saturating_add(limit.mul_f64(LATE).max(AT_LEAST)), Why::TimeLimit);
    }
}

/// The time limit stated for a command or one of its subcommands.
fn time_limit(matches: &ArgMatches) -> Option<Duration> {
    let own = matches.try_get_one::<Duration>(TIME_LIMIT).ok().flatten().copied();
    own.or_else(|| matches.subcommand().and_then(|(_, matches)| time_limit(matches)))
}

/// When to stop: this long after the start of the command, or at Ctrl-C. Time is left to judge and to write a plan.
pub fn control(time_limit: Option<Duration>) -> Result<Control, Failure> {
    let control = Control::unlimited().with_interrupt(interrupt_flag()?);
    Ok(match deadline(time_limit) {
        Some(deadline) => control.with_deadline(deadline).leaving(started(), finishing_time),
        None => control,
    })
}

/// The end of the time limit of this command.
pub fn deadline(time_limit: Option<Duration>) -> Option<Instant> {
    time_limit.and_then(|limit| started().checked_add(limit))
}

/// When this command was called.
pub fn started() -> Instant {
    STARTED.get().unwrap_or_else(Instant::now)
}

/// A flag that the first Ctrl-C (or a termination signal) sets; the second one ends the program at once.
pub fn interrupt_flag() -> Result<Arc<AtomicBool>, Failure> {
    if let Some(flag) = caller::interrupted() {
        return Ok(flag);
    }
    listen_for_signals()?;
    LISTENING.store(true, Ordering::Relaxed);
    Ok(Arc::clone(&INTERRUPTED))
}

/// Whoever begins to write a file says so: from now on, signals remove what is half written.
pub fn listen_for_signals() -> Result<(), Failure> {
    static ONCE: Once = Once::new();
    let mut listens = Ok(());
    if caller::interrupted().is_none() {
        ONCE.call_once(|| listens = ctrlc::set_handler(at_signal));
    }
    listens.map_err(|error| Failure::usage(format!("cannot listen for Ctrl-C: {error}")))
}

fn at_signal() {
    let again = INTERRUPTED.swap(true, Ordering::Relaxed);
    if again || !LISTENING.load(Ordering::Relaxed) {
        file::abandon_writes();
        process::exit(ABORTED);
    }
    if !SEARCHED.load(Ordering::Relaxed) {
        let taken = BEGAN.get().map_or(Duration::ZERO, Instant::elapsed);
        WATCH.end_at(Instant::now(), after_interrupt(taken), Why::Interrupted);
    }
    note("stopping with the best so far; once more to stop at once");
}

/// How long a search that has taken so long has to come back.
fn after_interrupt(taken: Duration) -> Duration {
    let [least, most] = PATIENCE;
    taken.mul_f64(LATE).clamp(least, most)
}

/// A search has come back: what it found is judged and written, however long that takes, even after Ctrl-C. A second
/// one ends the program at once.
pub fn found() {
    WATCH.ends()[Why::Interrupted as usize] = None;
    WATCH.changed.notify_all();
    SEARCHED.store(true, Ordering::Relaxed);
}

/// An answer has been given: the command is not ended any more by its limit.
pub fn answered() {
    ANSWERED.store(true, Ordering::Relaxed);
}

impl Watch {
    /// Ends the process this long after some time, if it has not ended by then.
    fn end_at(&'static self, from: Instant, after: Duration, why: Why) {
        static ONCE: Once = Once::new();
        let Some(at) = from.checked_add(after.saturating_sub(ENDING)) else { return };
        let mut ends = self.ends();
        let own = &mut ends[why as usize];
        *own = Some(own.map_or(at, |sooner| sooner.min(at)));
        drop(ends);
        self.changed.notify_all();
        ONCE.call_once(|| {
            thread::spawn(move || end(self.wait()));
        });
    }

    /// Returns when time is up.
    fn wait(&self) -> Why {
        let mut ends = self.ends();
        loop {
            let first = REASONS.iter().filter_map(|&why| Some((ends[why as usize]?, why))).min_by_key(|&(at, _)| at);
            let Some((at, why)) = first else {
                ends = self.changed.wait(ends).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return why;
            }
            ends = self.changed.wait_timeout(ends, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn ends(&self) -> MutexGuard<'_, [Option<Instant>; 2]> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the process.
fn end(why: Why) -> ! {
    // What is being printed is printed to its end.
    let _printing = printing();
    file::abandon_writes();
    let stopped = match why {
        Why::TimeLimit => "stopped by the time limit",
        Why::Interrupted => "stopped",
    };
    match (ANSWERED.load(Ordering::Relaxed), why) {
        (true, _) => note(&format!("{stopped}; what is done is written")),
        (false, Why::TimeLimit) => {
            note(&format!("error: {stopped}; nothing is written\nhint: allow more time with --time-limit"));
        }
        (false, Why::Interrupted) => note(&format!("error: {stopped}; nothing is written")),
    }
    process::exit(Ending::Stopped as i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_a_search_the_longer_it_has_to_come_back() {
        let after = |seconds| after_interrupt(Duration::from_secs(seconds)).as_secs();
        assert_eq!([0, 13, 40, 60, 3600].map(after), [5, 5, 6, 9, 10]);
    }
}
