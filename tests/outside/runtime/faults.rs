//! Networks that misbehave: every rank ends with the right result or with an error, in time.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use collsynth::collective::Kind;
use collsynth::runtime::tcp::{RankTable, TcpOptions, TcpTransport};
use collsynth::runtime::{
    Communicator, Incoming, Outgoing, Pool, ReduceOp, RunError, Runnable, Transport, TransportError, Trial,
};
use collsynth::schedule::Solution;
use collsynth::topology::RankId;
use collsynth::verify::Verified;

use crate::support::machine::{on_transports, problem, verified};

/// How long a rank waits for another where nothing else reveals the fault, and
const SHORT: Duration = Duration::from_millis(200);
/// where something does, however busy the machine.
const LONG: Duration = Duration::from_secs(30);
/// Long after every rank must have given up, on a busy machine, too.
const MUST_END: Duration = Duration::from_secs(25);
/// The rank that misbehaves, once it has something to send in its second step or later.
const CULPRIT: RankId = RankId(4);
/// The exchanges before that: that of digests, and the first step.
const SOUND: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Everything comes late.
    Delay,
    /// Peers are served in another order in every step.
    Reorder,
    /// A packet is lost.
    Drop,
    /// A packet is shorter than it was.
    Truncate,
    /// A packet comes twice.
    Duplicate,
    /// The rank ends its connections.
    Die,
    /// The rank stops, but keeps its connections.
    Hang,
}

impl Fault {
    /// How long ranks wait for each other.
    fn patience(self) -> Duration {
        match self {
            Self::Drop | Self::Hang => SHORT,
            Self::Delay | Self::Reorder | Self::Truncate | Self::Duplicate | Self::Die => LONG,
        }
    }
}

/// A transport with a fault.
struct Faulty<T> {
    inner: T,
    fault: Option<Fault>,
    exchanges: usize,
    struck: bool,
}

impl<T: Transport> Transport for Faulty<T> {
    fn rank(&self) -> RankId {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn exchange(&mut self, outgoing: &mut Vec<Outgoing>, incoming: &mut [Incoming]) -> Result<(), TransportError> {
        let now = !self.struck && self.exchanges >= SOUND && !outgoing.is_empty();
        self.exchanges += 1;
        self.struck |= now;
        match self.fault {
            Some(Fault::Delay) => thread::sleep(Duration::from_millis(5)),
            Some(Fault::Reorder) => {
                outgoing.sort_by_key(|one| std::cmp::Reverse(one.to));
                if self.exchanges.is_multiple_of(2) {
                    outgoing.sort_by_key(|one| one.to.0 % 3);
                }
            }
            Some(Fault::Drop) if now => drop(outgoing.pop()),
            Some(Fault::Truncate) if now => {
                if let Some(last) = outgoing.last_mut() {
                    let mut shorter = self.inner.pool().packet(last.packet.len());
                    shorter.elements_mut::<u8>().copy_from_slice(last.packet.elements());
                    shorter.truncate(last.packet.len() - 1);
                    last.packet = Arc::new(shorter);
                }
            }
            Some(Fault::Duplicate) if now => outgoing.extend(outgoing.last().cloned()),
            Some(Fault::Die) if now => {
                self.inner.close();
                return Err(TransportError::Closed { peer: self.rank() });
            }
            Some(Fault::Hang) if now => {
                thread::sleep(2 * SHORT);
                return Err(TransportError::Closed { peer: self.rank() });
            }
            _ => {}
        }
        self.inner.exchange(outgoing, incoming)
    }

    fn close(&mut self) {
        self.inner.close();
    }

    fn pool(&self) -> Pool {
        self.inner.pool()
    }

    fn packet_bytes(&self) -> usize {
        self.inner.packet_bytes()
    }
}

/// One rank's part, on a transport that has the fault if it is the culprit.
fn part<T: Transport>(inner: T, fault: Fault, schedule: &Verified<Solution>) -> Result<(), RunError> {
    let fault = (inner.rank() == CULPRIT).then_some(fault);
    let mut communicator = Communicator::new(Faulty { inner, fault, exchanges: 0, struck: false }, schedule)?;
    let trial = Trial::<i32>::new(&schedule.problem, 50, ReduceOp::Sum, 1);
    let mut buffers = trial.buffers(communicator.rank());
    let result = trial.call(&mut communicator, &mut buffers);
    match &result {
        Ok(()) => assert_eq!(trial.check(communicator.rank(), &buffers.output), Ok(()), "{fault:?}"),
        Err(_) => {
            let again = trial.call(&mut communicator, &mut buffers);
            assert!(matches!(again, Err(RunError::Ended)), "{again:?}");
        }
    }
    result
}

fn on_threads(schedule: &Verified<Solution>, fault: Fault) -> Vec<Result<(), RunError>> {
    on_transports(schedule, fault.patience(), |transport| part(transport, fault, schedule))
}

fn on_tcp(schedule: &Verified<Solution>, fault: Fault) -> Vec<Result<(), RunError>> {
    let ranks = schedule.problem.topology().rank_count();
    let listeners: Vec<TcpListener> =
        (0..ranks).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let addresses: Vec<String> =
        listeners.iter().map(|listener| listener.local_addr().expect("an address").to_string()).collect();
    let table = &RankTable::parse(&addresses.join("\n"), ranks).expect("a table");
    thread::scope(|scope| {
        let start = |(listener, rank): (TcpListener, u32)| {
            scope.spawn(move || {
                let peers = Runnable::from(schedule).peers(RankId(rank));
                let transport =
                    TcpTransport::with_listener(&listener, table, RankId(rank), &peers, &TcpOptions::new(LONG));
                part(transport.expect("all connect").with_timeout(fault.patience()), fault, schedule)
            })
        };
        let handles: Vec<_> = listeners.into_iter().zip(0..).map(start).collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect()
    })
}

#[test]
fn every_fault_ends_in_the_right_result_or_an_error() {
    use Fault::{Delay, Die, Drop, Duplicate, Hang, Reorder, Truncate};
    // On a ring, every rank has something to pass on in the second step.
    for kind in [Kind::AllToAll, Kind::AllReduce, Kind::Broadcast(RankId(3))] {
        let schedule = verified(&problem(&[9], kind, 2));
        for fault in [Delay, Reorder, Drop, Truncate, Duplicate, Die, Hang] {
            for run in [on_threads, on_tcp] {
                let started = Instant::now();
                let results = run(&schedule, fault);
                assert!(started.elapsed() < MUST_END, "{fault:?} took {:?}", started.elapsed());
                let failed = results.iter().filter(|result| result.is_err()).count();
                match fault {
                    Delay | Reorder => assert_eq!(failed, 0, "{fault:?}: {results:?}"),
                    // The call may be over before the second copy would be read.
                    Duplicate => {}
                    _ => assert!(failed > 0, "{fault:?}: {results:?}"),
                }
            }
        }
    }
}

#[test]
fn nobody_finishes_a_sum_without_a_rank_that_died() {
    // Each rank's sum needs data that has yet to cross the dying rank.
    let schedule = verified(&problem(&[9], Kind::AllReduce, 9));
    for run in [on_threads, on_tcp] {
        let results = run(&schedule, Fault::Die);
        let named = |error: &RunError| error.to_string().contains("closed the connection");
        assert!(results.iter().all(|result| result.as_ref().is_err_and(named)), "{results:?}");
    }
}

#[test]
fn a_number_that_comes_twice_is_no_other_number() {
    let schedule = verified(&problem(&[9], Kind::AllReduce, 2));
    let results = on_transports(&schedule, LONG, |inner| {
        let fault = (inner.rank() == CULPRIT).then_some(Fault::Duplicate);
        // It strikes in the exchange after that of digests.
        let faulty = Faulty { inner, fault, exchanges: SOUND - 1, struck: false };
        let mut communicator = Communicator::new(faulty, &schedule)?;
        communicator.agree("--dtype", 1)?;
        communicator.agree("--repeat", 2)
    });
    let errors: Vec<String> = results.iter().filter_map(|result| Some(result.as_ref().err()?.to_string())).collect();
    assert!(errors.iter().any(|error| error.contains("rank 4 sent a different packet")), "{errors:?}");
    assert!(errors.iter().all(|error| !error.contains("differs")), "{errors:?}");
}
