//! How ranks find each other.
//!
//! The higher rank of a pair calls, the lower one answers. A rank calls its lower peers, one after the other, and
//! answers the others at the same time, so no rank waits for another to be done with a third.

use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::panic;
use std::thread;

use super::deadline::Deadline;
use super::greeting::Identity;
use super::table::RankTable;
use super::{TcpOptions, answer, call};
use crate::transports::transport::TransportError;
use collsynth_core::topology::RankId;

/// Connects to each peer within the timeout.
pub(super) fn to_all(
    listener: &TcpListener,
    table: &RankTable,
    rank: RankId,
    peers: &[RankId],
    options: &TcpOptions,
) -> Result<Vec<(RankId, TcpStream)>, TransportError> {
    let timeout = options.timeout;
    let deadline = Deadline::after(timeout);
    let identity = Identity { rank, ranks: table.size() as u32, secret: options.secret.as_ref() };
    let called: Vec<(RankId, &str)> = peers
        .iter()
        .filter(|&&peer| peer < rank)
        .map(|&peer| table.address(peer).map(|address| (peer, address)))
        .collect::<Result<_, _>>()?;
    let awaited: BTreeSet<RankId> = peers.iter().copied().filter(|&peer| peer > rank).collect();
    thread::scope(|scope| {
        let answers = scope.spawn(move || answer::until_all_called(identity, listener, awaited, deadline, timeout));
        let call = |(peer, address)| Ok((peer, call::until_answered(identity, peer, address, deadline, timeout)?));
        let calls: Result<Vec<_>, TransportError> = called.into_iter().map(call).collect();
        let answers = answers.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        let mut connected = calls?;
        connected.extend(answers?);
        Ok(connected)
    })
}
