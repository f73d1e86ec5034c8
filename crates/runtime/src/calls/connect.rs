//! Ranks of one process, each a thread with a communicator.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use super::communicator::Communicator;
use super::error::RunError;
use super::runnable::Runnable;
use crate::transports::tcp::{Secret, TcpOptions, TcpTransport, on_loopback};
use crate::transports::threads::{ThreadTransport, network};
use crate::transports::transport::{Transport, TransportError};
use collsynth_core::topology::{RankId, Topology};

/// The most ranks that run as threads of one process. A thread takes four mappings of memory, of which Linux allows a
/// process 65,530; one without a stack for its signal handler would abort the process.
const MOST_THREADS: usize = 10_000;

/// Runs `work` on every live rank of a schedule or program, each on its own thread, joined by a [`network`], and
/// returns the results in the order of the ranks.
///
/// # Errors
///
/// That of the first rank whose communicator cannot be made, [`RunError::TooManyThreads`] or [`RunError::Threads`].
///
/// # Panics
///
/// If `work` does, on any rank.
pub fn run<'a, R: Send>(
    runnable: impl Into<Runnable<'a>>,
    timeout: Duration,
    work: impl Fn(Communicator<ThreadTransport>) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let runnable = runnable.into();
    let topology = runnable.problem().topology();
    check_threads(topology)?;
    let transports = network(topology.rank_count(), runnable.pairs(), timeout);
    let live = transports.into_iter().filter(|transport| topology.is_alive(transport.rank())).collect();
    spread(live, |transport| Communicator::new(transport, runnable).map(&work))?.into_iter().collect()
}

/// Runs `work` on every live rank of a schedule or program, each on its own thread, joined by TCP on the loopback
/// interface. For testing TCP; threads that share memory do not need it. The ranks have a random secret.
///
/// # Errors
///
/// As [`run`].
///
/// # Panics
///
/// If `work` does, on any rank.
pub fn run_on_loopback<'a, R: Send>(
    runnable: impl Into<Runnable<'a>>,
    timeout: Duration,
    work: impl Fn(Communicator<TcpTransport>) -> R + Sync,
) -> Result<Vec<R>, RunError> {
    let start = |source| RunError::Start { source };
    let runnable = runnable.into();
    let topology = runnable.problem().topology();
    check_threads(topology)?;
    let (table, listeners) = on_loopback(topology.rank_count()).map_err(start)?;
    let secret = Secret::random().map_err(|source| start(TransportError::NoRandomNumbers { source }))?;
    let options = TcpOptions::new(timeout).with_secret(secret);
    let live = listeners.into_iter().zip((0..).map(RankId)).filter(|&(_, rank)| topology.is_alive(rank)).collect();
    let results = spread(live, |(listener, rank): (TcpListener, RankId)| {
        let peers = runnable.peers(rank);
        let transport = TcpTransport::with_listener(&listener, &table, rank, &peers, &options).map_err(start)?;
        Communicator::new(transport, runnable).map(&work)
    })?;
    results.into_iter().collect()
}

fn check_threads(topology: &Topology) -> Result<(), RunError> {
    match topology.live_rank_count() {
        0..=MOST_THREADS => Ok(()),
        ranks => Err(RunError::TooManyThreads { ranks, most: MOST_THREADS }),
    }
}

/// Runs `work` on each of these on its own thread.
fn spread<S: Send, R: Send>(seeds: Vec<S>, work: impl Fn(S) -> R + Sync) -> Result<Vec<R>, RunError> {
    let (work, ranks) = (&work, seeds.len());
    thread::scope(|scope| {
        let spawn = |seed| thread::Builder::new().spawn_scoped(scope, move || work(seed));
        // If a thread cannot be started, the others find the connections of its rank closed, and end.
        let handles = seeds.into_iter().map(spawn).collect::<Result<Vec<_>, _>>();
        let handles = handles.map_err(|source| RunError::Threads { ranks, source })?;
        let results = handles.into_iter().map(|handle| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        Ok(results.collect())
    })
}
