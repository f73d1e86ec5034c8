//! Long work that Python can interrupt and follow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use collsynth::cli::Listener;
use collsynth::plan::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arguments::Callback;
use crate::errors;

/// How often signals are checked and progress is reported.
const TICK: Duration = Duration::from_millis(50);

enum News<T> {
    Progress(String, String, u64, u64),
    Done(T),
}

/// Runs `work` in a thread of its own and on a pool of this many threads, without the interpreter lock. A signal handler
/// that raises (Ctrl-C) sets the flag that interrupts it; `progress` is called with the latest of what it reports at
/// each tick.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Callback<'_>>,
    work: impl FnOnce(Arc<AtomicBool>, Listener) -> T + Send,
) -> PyResult<T> {
    // A pool for each call: a child process has none of the threads of a pool that its parent started.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| errors::usage(py, &format!("cannot start threads: {error}")))?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let listener: Listener = match progress {
        None => Arc::new(|_| ()),
        Some(_) => {
            let reports = sender.clone();
            Arc::new(move |Progress { planner, attempt, round, remaining }| {
                // Nobody listens any more once the work was interrupted.
                let _ = reports.send(News::Progress(planner.to_owned(), attempt.to_owned(), round, remaining));
            })
        }
    };
    let flag = Arc::clone(&interrupted);
    // The receiver is not `Sync`, so it is lent to the code without the lock and comes back.
    let mut receiver = receiver;
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let _ = sender.send(News::Done(pool.install(|| work(flag, listener))));
        });
        let mut latest = None;
        let mut told = Instant::now();
        let mut raised = None;
        loop {
            let (news, lent) = py.detach(move || {
                let news = receiver.recv_timeout(TICK);
                (news, receiver)
            });
            receiver = lent;
            match news {
                Ok(News::Done(result)) => {
                    // Work that takes less than a tick is reported once.
                    if let (None, Some(progress), Some(report)) = (&raised, progress, latest.take()) {
                        progress.tell(report)?;
                    }
                    return raised.map_or(Ok(result), Err);
                }
                Ok(News::Progress(planner, attempt, round, remaining)) => {
                    latest = Some((planner, attempt, round, remaining));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Joined, it does not panic here too.
                    let _ = worker.join();
                    return Err(PyRuntimeError::new_err("planning panicked: please report this"));
                }
            }
            if raised.is_some() || told.elapsed() < TICK {
                continue;
            }
            told = Instant::now();
            let checked = py.check_signals().and_then(|()| match (progress, latest.take()) {
                (Some(progress), Some(report)) => progress.tell(report),
                _ => Ok(()),
            });
            if let Err(error) = checked {
                interrupted.store(true, Ordering::Relaxed);
                raised = Some(error);
            }
        }
    })
}
