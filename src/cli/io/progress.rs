//! Progress on standard error, if it is a terminal.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use collsynth::certificate::Rational;
use collsynth::plan::cost::Price;
use collsynth::plan::{Incumbent, Progress};
use collsynth::report::figures::{count, exact_and_decimal, fine_percent, times};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::caller::{self, Listener};

/// Work that is done sooner shows no line, so that none flickers.
const UNSEEN: Duration = Duration::from_millis(400);
/// From one state of the line to the next.
const BETWEEN: Duration = Duration::from_millis(100);

/// A line that shows the time that has passed, the phase, what is tried in it, and the best so far. It ends
/// when dropped. A caller in place of a terminal hears of phases and attempts.
pub struct Ticker {
    said: Arc<Mutex<Said>>,
    /// Draws the line until this is gone; nobody does where the line is not seen.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
    caller: Option<Listener>,
    bar: ProgressBar,
    /// Whether the line has been drawn; held while it is, and while something else is printed.
    seen: Arc<Mutex<bool>>,
}

/// What the line says.
#[derive(Default)]
struct Said {
    phase: String,
    attempt: String,
    best: String,
}

impl Ticker {
    /// Draws on standard error if it is a terminal, unless `quiet`.
    pub fn new(quiet: bool, phase: &str) -> Self {
        let said = Arc::new(Mutex::new(Said { phase: phase.to_owned(), ..Said::default() }));
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style());
        let (caller, drawn) = (caller::listener(), Arc::new(Mutex::new(false)));
        let drawing = (!quiet && caller.is_none() && !bar.is_hidden()).then(|| {
            let (stop, stopped) = channel();
            let (said, seen, bar) = (Arc::clone(&said), Arc::clone(&drawn), bar.clone());
            (stop, thread::spawn(move || draw(&bar, &said, &seen, &stopped)))
        });
        Self { said, drawing, caller, bar, seen: drawn }
    }

    /// What a planner calls with its progress, from any thread.
    pub fn listener(&self) -> impl Fn(Progress<'_>) + Send + Sync + 'static {
        let (said, seen, caller) = (Arc::clone(&self.said), self.drawing.is_some(), self.caller.clone());
        move |progress: Progress<'_>| {
            if let Some(caller) = &caller {
                return caller(progress);
            }
            let Progress { planner, attempt, round, remaining } = progress;
            if seen {
                lock(&said).attempt = match (round, remaining) {
                    (0, 0) => format!("{planner}: {attempt}"),
                    _ => format!("{planner}: {attempt}; round {round}, {remaining} to mend"),
                };
            }
        }
    }

    /// What planning calls with the best schedule so far, from any thread. At a price, that is the best in some parts,
    /// and only a faster one is shown.
    pub fn incumbents(&self, price: Option<Price>) -> impl Fn(Incumbent<'_>) + Send + Sync + 'static {
        let said = Arc::clone(&self.said);
        let fastest = Mutex::new(f64::INFINITY);
        move |Incumbent { parts, steps, volume, bound, .. }| {
            if let Some(price) = price {
                let seconds = price.seconds_for(steps, times(volume, Rational::from(1)));
                let mut fastest = lock(&fastest);
                if seconds >= *fastest {
                    return;
                }
                *fastest = seconds;
            }
            let above = |bound| match times(volume, bound) - 1.0 {
                0.0 => ", on its bound".to_owned(),
                gap => format!(", {} above its bound", fine_percent(gap)),
            };
            let gap = bound.filter(|&bound| bound > Rational::from(0)).map(above).unwrap_or_default();
            let parts = if parts > 1 { format!(" in {parts} parts") } else { String::new() };
            lock(&said).best = format!("{}{parts}{gap}", figures(steps, volume));
        }
    }

    /// Shows the next phase.
    pub fn say(&self, phase: impl Into<String>) {
        let mut said = lock(&self.said);
        said.phase = phase.into();
        if let Some(caller) = &self.caller {
            caller(Progress { planner: caller::TOOL, attempt: &said.phase, round: 0, remaining: 0 });
        }
        said.attempt.clear();
    }

    /// Shows the best so far.
    pub fn best(&self, best: String) {
        lock(&self.said).best = best;
    }

    /// Does something to the terminal with the line out of the way.
    pub fn aside<T>(&self, act: impl FnOnce() -> T) -> T {
        let seen = lock(&self.seen);
        if *seen { self.bar.suspend(act) } else { act() }
    }

    /// Removes the line.
    pub fn finish(self) {}
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.drawing.take() {
            drop(stop);
            // A line that could not be drawn matters to nobody.
            let _ = thread.join();
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { phase, best, attempt } = self;
        f.write_str(phase)?;
        // Before the attempt, which may be cut off at the edge of the terminal.
        if !best.is_empty() {
            write!(f, " (best {best})")?;
        }
        if attempt.is_empty() { Ok(()) } else { write!(f, ": {attempt}") }
    }
}

fn draw(bar: &ProgressBar, said: &Mutex<Said>, seen: &Mutex<bool>, stopped: &Receiver<()>) {
    let mut wait = UNSEEN;
    while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        let (said, mut seen) = (lock(said).to_string(), lock(seen));
        bar.set_message(said);
        bar.tick();
        *seen = true;
        drop(seen);
        wait = BETWEEN;
    }
    bar.finish_and_clear();
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// `6 steps, volume 34`.
pub fn figures(steps: usize, volume: Rational) -> String {
    format!("{}, volume {}", count(steps, "step"), exact_and_decimal(volume))
}

/// The time that has passed, then what is being done, cut off at the edge of the terminal.
fn style() -> ProgressStyle {
    let template = ProgressStyle::with_template("{spinner} {time} {wide_msg}").expect("a template that can be read");
    template.with_key("time", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A line that could not be written matters to nobody.
        let _ = out.write_str(&passed(state.elapsed()));
    })
}

/// `7s`, `2m 07s`, `1h 02m 07s`: every second is seen.
fn passed(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {seconds:02}s"),
        _ => format!("{hours}h {minutes:02}m {seconds:02}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_seen_after_a_minute_too() {
        let said = [7, 127, 3727].map(|seconds| passed(Duration::from_secs(seconds)));
        assert_eq!(said, ["7s", "2m 07s", "1h 02m 07s"]);
    }

    #[test]
    fn the_line_has_the_phase_the_attempt_and_the_best() {
        let ticker = Ticker::new(true, "planning");
        let line = || lock(&ticker.said).to_string();
        assert_eq!(line(), "planning");
        let incumbent = Incumbent { planner: "trees", parts: 1, steps: 6, volume: 34.into(), bound: Some(32.into()) };
        ticker.incumbents(None)(incumbent);
        lock(&ticker.said).attempt = "trees: try 4".to_owned();
        assert_eq!(line(), "planning (best 6 steps, volume 34, 6.2 % above its bound): trees: try 4");
        // At a price, fewer steps may be better than less volume.
        let at_a_price = ticker.incumbents(Some(Price { alpha: 1e-6, bandwidth: 1e9, message_bytes: 1000 }));
        at_a_price(incumbent);
        at_a_price(Incumbent { steps: 40, volume: 32.into(), ..incumbent });
        ticker.say("verifying");
        assert_eq!(line(), "verifying (best 6 steps, volume 34, 6.2 % above its bound)");
    }
}
