//! Strangers who call ranks, or answer for them: ranks find each other in spite of them, or each ends with an error of
//! its own in time. All on the loopback interface.

mod crowds;
mod impostors;
mod lost;

use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use collsynth::collective::Kind;
use collsynth::runtime::tcp::{RankTable, Secret, TcpOptions, TcpTransport};
use collsynth::runtime::{Communicator, ReduceOp, RunError, Runnable, Trial};
use collsynth::schedule::Solution;
use collsynth::topology::RankId;
use collsynth::verify::Verified;

use crate::support::machine::{problem, verified};

/// Ranks on a ring, each with a listener.
struct Ring {
    schedule: Verified<Solution>,
    listeners: Vec<TcpListener>,
}

impl Ring {
    fn new(ranks: u32) -> Self {
        let bind = |_| TcpListener::bind("127.0.0.1:0").expect("a free port");
        let schedule = verified(&problem(&[ranks], Kind::AllReduce, ranks));
        Self { schedule, listeners: (0..ranks).map(bind).collect() }
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|listener| listener.local_addr().expect("an address")).collect()
    }

    fn connect(&self, rank: u32, options: &TcpOptions) -> Result<TcpTransport, RunError> {
        self.connect_by(&self.addresses(), rank, options)
    }

    /// Connects a rank that looks for the ranks at these addresses.
    fn connect_by(&self, addresses: &[SocketAddr], rank: u32, options: &TcpOptions) -> Result<TcpTransport, RunError> {
        let lines: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        let table = RankTable::parse(&lines.join("\n"), lines.len()).expect("a table");
        let peers = Runnable::from(&self.schedule).peers(RankId(rank));
        let listener = &self.listeners[rank as usize];
        let connected = TcpTransport::with_listener(listener, &table, RankId(rank), &peers, options);
        connected.map_err(|source| RunError::Start { source })
    }

    /// One rank's part of a sum, which must be right if there is one.
    fn sum(&self, rank: u32, options: &TcpOptions) -> Result<(), RunError> {
        let mut communicator = Communicator::new(self.connect(rank, options)?, &self.schedule)?;
        let trial = Trial::<i64>::new(&self.schedule.problem, 100, ReduceOp::Sum, 1);
        let mut buffers = trial.buffers(RankId(rank));
        trial.call(&mut communicator, &mut buffers)?;
        assert_eq!(trial.check(RankId(rank), &buffers.output), Ok(()));
        Ok(())
    }

    /// The sums of these ranks, at the same time.
    fn sums(&self, ranks: impl IntoIterator<Item = u32>, options: &TcpOptions) -> Vec<Result<(), RunError>> {
        thread::scope(|scope| {
            let handles: Vec<_> = ranks.into_iter().map(|rank| scope.spawn(move || self.sum(rank, options))).collect();
            handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
        })
    }
}

fn with_secret(timeout: Duration, secret: &str) -> TcpOptions {
    TcpOptions::new(timeout).with_secret(Secret::new(secret.as_bytes()).expect("a secret"))
}
