//! How ranks find each other.
//!
//! The higher rank of a pair calls, the lower one answers. A rank first calls its lower peers, one after the other, and
//! then answers the others, so waits form no cycle: a rank without lower peers answers at once. Both identify
//! themselves; invalid callers are dropped.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use super::super::transport::TransportError;
use super::table::RankTable;
use collsynth_core::topology::RankId;

/// The first word of a greeting; byte-reversed, it comes from a machine of the other byte order.
const MAGIC: u64 = u64::from_be_bytes(*b"synth-r1");
/// Between two attempts to call or to accept.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a caller may take to identify itself.
const GREETING_LIMIT: Duration = Duration::from_secs(2);

/// Connects to each peer within the timeout.
pub(super) fn to_all(
    listener: &TcpListener,
    table: &RankTable,
    rank: RankId,
    peers: &[RankId],
    timeout: Duration,
) -> Result<Vec<(RankId, TcpStream)>, TransportError> {
    let deadline = Instant::now() + timeout;
    let mut connected = Vec::new();
    for &peer in peers.iter().filter(|&&peer| peer < rank) {
        connected.push((peer, call(table, rank, peer, deadline, timeout)?));
    }
    let mut awaited: BTreeSet<RankId> = peers.iter().copied().filter(|&peer| peer > rank).collect();
    let listening = |source| TransportError::Listen { address: format!("the address of rank {rank}"), source };
    listener.set_nonblocking(true).map_err(listening)?;
    while let Some(&peer) = awaited.first() {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Some(peer) = answer(&stream, rank, &awaited) {
                    awaited.remove(&peer);
                    connected.push((peer, stream));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < deadline => thread::sleep(PAUSE),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(TransportError::NeverCalled { peer, waited: timeout });
            }
            Err(source) => return Err(listening(source)),
        }
    }
    Ok(connected)
}

/// Calls a lower rank until it answers.
fn call(
    table: &RankTable,
    rank: RankId,
    peer: RankId,
    deadline: Instant,
    timeout: Duration,
) -> Result<TcpStream, TransportError> {
    let address = table.address(peer)?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let error = match call_once(address, rank, peer, left) {
            Ok(Some(stream)) => return Ok(stream),
            Ok(None) => return Err(TransportError::Stranger { peer, address: address.to_owned() }),
            Err(error) => error,
        };
        if Instant::now() + PAUSE >= deadline {
            let address = address.to_owned();
            return Err(TransportError::Unreachable { peer, address, waited: timeout, source: error });
        }
        thread::sleep(PAUSE);
    }
}

/// One attempt; `None` if someone else answers.
fn call_once(address: &str, rank: RankId, peer: RankId, left: Duration) -> std::io::Result<Option<TcpStream>> {
    let left = left.max(PAUSE);
    let target = address.to_socket_addrs()?.next().ok_or(ErrorKind::AddrNotAvailable)?;
    let mut stream = TcpStream::connect_timeout(&target, left)?;
    stream.set_read_timeout(Some(left))?;
    greet(&mut stream, rank)?;
    let answered = greeted(&mut stream)?;
    Ok((answered == Some(peer)).then_some(stream))
}

/// Answers a caller, if it is an awaited rank.
fn answer(mut stream: &TcpStream, rank: RankId, awaited: &BTreeSet<RankId>) -> Option<RankId> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(GREETING_LIMIT)).ok()?;
    let peer = greeted(&mut stream).ok()?.filter(|peer| awaited.contains(peer))?;
    greet(&mut stream, rank).ok()?;
    Some(peer)
}

fn greet(stream: &mut impl Write, rank: RankId) -> std::io::Result<()> {
    stream.write_all(bytemuck::cast_slice(&[MAGIC, u64::from(rank.0)]))
}

/// The rank at the other end; `None` if it is not a rank.
fn greeted(stream: &mut impl Read) -> std::io::Result<Option<RankId>> {
    let mut words = [0_u64; 2];
    stream.read_exact(bytemuck::cast_slice_mut(&mut words))?;
    let [magic, rank] = words;
    Ok(u32::try_from(rank).ok().filter(|_| magic == MAGIC).map(RankId))
}
