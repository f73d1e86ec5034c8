//! Ranks that are processes, on one host or several, joined by TCP.
//!
//! A rank has a connection to each of its peers (see [`Runnable::peers`](crate::Runnable::peers)). A thread for each
//! connection writes, so that sending and receiving overlap; packets are read by the thread that waits for them. On the
//! wire, a packet is its tag and its length (8 bytes each, in native byte order) and its bytes.
//!
//! Ranks that have the same [`Secret`] prove it to each other when they connect, so nobody without it can take the
//! place of a rank. Without a secret, whoever reaches an address of the table first, and speaks the protocol, is the
//! rank it says: that is for the loopback interface and networks of trusted hosts. Strangers cannot end the connecting
//! of ranks; many that call without pause can delay it by seconds. Packets are neither encrypted nor authenticated:
//! who can read or change the traffic of the network needs no secret to read or change the data.

mod answer;
mod call;
mod connect;
mod deadline;
mod greeting;
mod secret;
mod table;

use std::collections::BTreeMap;
use std::io::{BufWriter, ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

pub use super::transport::Refusal;
pub use secret::{EmptySecret, Secret};
pub(crate) use table::on_loopback;
pub use table::{RankTable, RankTableError};

use super::packet::Pool;
use super::transport::{Envelope, Incoming, Outgoing, PACKETS_A_STEP, Transport, TransportError};
use collsynth_core::topology::RankId;
use deadline::{Deadline, Writing};

/// Long enough for the latency of a network not to matter.
const PACKET_BYTES: usize = 1 << 22;
/// Lets a small packet and its header leave together.
const WRITE_BUFFER: usize = 1 << 16;

/// How a rank is joined to the others.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// The longest wait, for all connections together and later for each whole packet.
    pub timeout: Duration,
    /// What proves that a rank is one, if not its address alone; the same for all ranks.
    pub secret: Option<Secret>,
}

impl TcpOptions {
    /// No secret.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout, secret: None }
    }

    /// The same with a secret, which all ranks must have.
    pub fn with_secret(self, secret: Secret) -> Self {
        Self { secret: Some(secret), ..self }
    }
}

/// The transport of one process.
#[derive(Debug)]
pub struct TcpTransport {
    rank: RankId,
    size: usize,
    peers: BTreeMap<RankId, Peer>,
    pool: Pool,
    timeout: Duration,
}

#[derive(Debug)]
struct Peer {
    stream: TcpStream,
    /// To the writing thread, which ends when this is dropped.
    queue: Option<Sender<Limited>>,
    writer: Option<JoinHandle<()>>,
}

/// A packet to write within a limit.
struct Limited {
    envelope: Envelope,
    timeout: Duration,
}

impl TcpTransport {
    /// Listens at this rank's address in the table, and at no other, and connects it to its peers, retrying until they
    /// are up. Callers that are not among the peers, or do not have the secret, are dropped.
    ///
    /// # Errors
    ///
    /// A [`TransportError`]: the address cannot be used, or a peer has not been reached in time. If someone called or
    /// answered in its name and was refused, [`TransportError::WrongCall`] and [`TransportError::WrongAnswer`] say why.
    pub fn connect(
        table: &RankTable,
        rank: RankId,
        peers: &[RankId],
        options: &TcpOptions,
    ) -> Result<Self, TransportError> {
        let address = table.address(rank)?;
        let listener = call::listen(address, Deadline::after(options.timeout))
            .map_err(|source| TransportError::Listen { address: address.to_owned(), source })?;
        Self::with_listener(&listener, table, rank, peers, options)
    }

    /// As [`TcpTransport::connect`], with a listener that is bound already.
    ///
    /// # Errors
    ///
    /// As [`TcpTransport::connect`].
    pub fn with_listener(
        listener: &TcpListener,
        table: &RankTable,
        rank: RankId,
        peers: &[RankId],
        options: &TcpOptions,
    ) -> Result<Self, TransportError> {
        let (pool, timeout) = (Pool::default(), options.timeout);
        let mut transport = Self { rank, size: table.size(), peers: BTreeMap::new(), pool, timeout };
        for (peer, stream) in connect::to_all(listener, table, rank, peers, options)? {
            let broken = |source| TransportError::Broken { peer, source };
            stream.set_nodelay(true).map_err(broken)?;
            // One step's packets, behind the one being written; the network buffers more.
            let (queue, envelopes) = bounded(PACKETS_A_STEP + 1);
            let (out, pool) = (stream.try_clone().map_err(broken)?, transport.pool.clone());
            let writer = thread::Builder::new()
                .name(format!("rank {rank} to {peer}"))
                .spawn(move || write_all(&out, &envelopes, &pool))
                .map_err(broken)?;
            transport.peers.insert(peer, Peer { stream, queue: Some(queue), writer: Some(writer) });
        }
        Ok(transport)
    }

    /// The same, with another limit for every packet.
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

impl Transport for TcpTransport {
    fn rank(&self) -> RankId {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&mut self, outgoing: &mut Vec<Outgoing>, incoming: &mut [Incoming]) -> Result<(), TransportError> {
        for Outgoing { to: peer, tag, packet } in outgoing.drain(..) {
            let queue = self.peers.get(&peer).and_then(|peer| peer.queue.as_ref());
            let queue = queue.ok_or(TransportError::NotConnected { peer })?;
            let limited = Limited { envelope: Envelope { tag, packet }, timeout: self.timeout };
            queue.send_timeout(limited, self.timeout).map_err(|error| match error {
                SendTimeoutError::Timeout(_) => TransportError::NothingTaken { peer, waited: self.timeout },
                SendTimeoutError::Disconnected(_) => TransportError::Closed { peer },
            })?;
        }
        for due in incoming {
            let peer = due.from;
            let connection = self.peers.get(&peer).ok_or(TransportError::NotConnected { peer })?;
            // For the packet, not for each read: bytes that come one at a time do not prolong it.
            let deadline = Deadline::after(self.timeout);
            let read = |bytes: &mut [u8]| {
                deadline.read(&connection.stream, bytes).map_err(|source| read_error(peer, source, self.timeout))
            };
            let mut head = [0_u64; 2];
            read(bytemuck::cast_slice_mut(&mut head))?;
            let [tag, bytes] = head;
            due.check(tag, usize::try_from(bytes).unwrap_or(usize::MAX))?;
            let mut packet = self.pool.packet(due.bytes);
            read(packet.elements_mut())?;
            due.accept(tag, Arc::new(packet))?;
        }
        Ok(())
    }

    fn close(&mut self) {
        for peer in self.peers.values() {
            // Fails only if the connection is already gone.
            let _ = peer.stream.shutdown(Shutdown::Both);
        }
        self.peers.clear();
    }

    fn pool(&self) -> Pool {
        self.pool.clone()
    }

    fn packet_bytes(&self) -> usize {
        PACKET_BYTES
    }
}

impl Drop for Peer {
    /// Waits until all packets have been written, each within its limit.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // The thread's errors show when the queue is used.
            let _ = writer.join();
        }
    }
}

/// Writes packets until there are no more, or one cannot be written within its limit.
fn write_all(stream: &TcpStream, packets: &Receiver<Limited>, pool: &Pool) {
    let mut out = BufWriter::with_capacity(WRITE_BUFFER, Writing { stream, deadline: Deadline::NONE });
    for Limited { envelope: Envelope { tag, packet }, timeout } in packets {
        out.get_mut().deadline = Deadline::after(timeout);
        let head = [tag, packet.len() as u64];
        let written = out
            .write_all(bytemuck::cast_slice(&head))
            .and_then(|()| out.write_all(packet.elements()))
            .and_then(|()| out.flush());
        pool.recycle(packet);
        if written.is_err() {
            // Both readers, here and at the peer, notice.
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

fn read_error(peer: RankId, source: std::io::Error, waited: Duration) -> TransportError {
    match source.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => TransportError::NothingCame { peer, waited },
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => TransportError::Closed { peer },
        _ => TransportError::Broken { peer, source },
    }
}
