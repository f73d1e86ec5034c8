//! The interface to transports, which carry packets between ranks.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::packet::{Packet, Pool};
use collsynth_core::topology::RankId;

/// The most packets from one rank to another in a step: two links can join the same two ranks.
pub const PACKETS_A_STEP: usize = 2;
/// The most packets from one rank to another that wait in memory where ranks share cores: those of several steps, so
/// that a rank that gets a core has more than one step's work before it must wait.
pub(crate) const PACKETS_IN_FLIGHT: usize = 8 * PACKETS_A_STEP;

#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) tag: u64,
    pub(crate) packet: Arc<Packet>,
}

/// A packet to send.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The receiver.
    pub to: RankId,
    /// Identifies the call and the packet.
    pub tag: u64,
    /// The payload, possibly shared.
    pub packet: Arc<Packet>,
}

/// A packet to receive.
#[derive(Debug)]
pub struct Incoming {
    /// The sender.
    pub from: RankId,
    /// The tag it must have.
    pub tag: u64,
    /// The bytes it must have.
    pub bytes: usize,
    /// The packet, once it has arrived.
    pub packet: Option<Arc<Packet>>,
}

/// Why a greeting was refused, said of the one who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum Refusal {
    #[error("it is another program, or another version of this one")]
    Program,
    #[error("its machine has the other byte order")]
    ByteOrder,
    #[error("it has no secret, and this rank has one: start all ranks with the same secret")]
    NoSecret,
    #[error("it has a secret, and this rank has none: start all ranks with the same secret")]
    Secret,
    #[error("it does not have the secret of this rank: start all ranks with the same secret")]
    OtherSecret,
    #[error("it runs a schedule for {found} ranks, this rank one for {expected}")]
    Ranks { found: u32, expected: u32 },
    #[error("it is rank {found}: give all ranks the same rank table")]
    OtherRank { found: RankId },
    #[error("it takes this rank for rank {found}: give all ranks the same rank table")]
    OtherTable { found: RankId },
    #[error("it does not wait for this rank: another process runs as this rank, or it runs another schedule")]
    NotAwaited,
}

/// Why a packet was not delivered. The peer is always named.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum TransportError {
    #[error("rank {peer} sent nothing for {waited:?}")]
    NothingCame { peer: RankId, waited: Duration },
    #[error("rank {peer} took nothing for {waited:?}")]
    NothingTaken { peer: RankId, waited: Duration },
    #[error("rank {peer} closed the connection")]
    Closed { peer: RankId },
    #[error("there is no connection to rank {peer}")]
    NotConnected { peer: RankId },
    #[error("the connection to rank {peer} broke: {source}")]
    Broken { peer: RankId, source: std::io::Error },
    #[error(
        "rank {peer} sent a different packet than the one due: a packet was lost or came twice, or it does not make the \
         same call with the same type, operation and number of elements"
    )]
    OtherPacket { peer: RankId },
    #[error("a packet of rank {peer} has {found} bytes instead of {expected}")]
    Length { peer: RankId, expected: usize, found: usize },
    #[error("{found} processes were started for {live} live ranks")]
    Processes { found: usize, live: usize },
    #[error("not all processes of the job took part within {waited:?}")]
    Missing { waited: Duration },
    #[error("MPI was initialized for calls of one thread only; ask for `Threading::Serialized`")]
    OneThread,
    #[error("cannot listen at {address}: {source}")]
    Listen { address: String, source: std::io::Error },
    #[error("rank {peer} does not answer at {address} within {waited:?}: {source}")]
    Unreachable { peer: RankId, address: String, waited: Duration, source: std::io::Error },
    #[error("rank {peer} did not connect within {waited:?}")]
    NeverCalled { peer: RankId, waited: Duration },
    #[error("who answers for rank {peer} at {address} was refused for {waited:?}: {why}")]
    WrongAnswer { peer: RankId, address: String, waited: Duration, why: Refusal },
    #[error("rank {peer} did not connect within {waited:?}; who called as rank {peer} from {from} was refused: {why}")]
    WrongCall { peer: RankId, from: SocketAddr, waited: Duration, why: Refusal },
    #[error("the system has no random numbers: {source}")]
    NoRandomNumbers { source: std::io::Error },
}

/// Carries packets between this rank and its peers, in order between any two ranks.
///
/// Implementations sleep while they wait, after brief polling at most, and never longer than their own limit; they end
/// with an error when a peer is gone. Ranks have the numbers of the schedule.
pub trait Transport {
    /// This rank.
    fn rank(&self) -> RankId;

    /// The number of ranks N, failed ones included.
    fn size(&self) -> usize;

    /// Performs the exchanges of one step: sends everything in `outgoing` (which it empties) and waits for everything
    /// in `incoming`, where it puts the packets. All of them overlap. It must not wait for a peer to take a packet
    /// before it has itself received: at least one step's packets, [`PACKETS_A_STEP`] to each peer, are buffered. It
    /// may return before its packets have arrived.
    ///
    /// # Errors
    ///
    /// A [`TransportError`]; the state of the packets is then unknown, and only [`Transport::close`] may be called.
    fn exchange(&mut self, outgoing: &mut Vec<Outgoing>, incoming: &mut [Incoming]) -> Result<(), TransportError>;

    /// Closes all connections at once, so that peers waiting for this rank notice.
    fn close(&mut self);

    /// The memory of packets.
    fn pool(&self) -> Pool;

    /// The most bytes a packet should have. Larger ones are cut, and the schedule runs once for each piece.
    fn packet_bytes(&self) -> usize;
}

impl Incoming {
    /// Takes a packet that arrived from the sender, if it is the one due.
    ///
    /// # Errors
    ///
    /// [`TransportError::OtherPacket`] and [`TransportError::Length`].
    pub fn accept(&mut self, tag: u64, packet: Arc<Packet>) -> Result<(), TransportError> {
        self.check(tag, packet.len())?;
        self.packet = Some(packet);
        Ok(())
    }

    /// Checks that a packet with this tag and length is the one due.
    ///
    /// # Errors
    ///
    /// [`TransportError::OtherPacket`] and [`TransportError::Length`].
    pub fn check(&self, tag: u64, bytes: usize) -> Result<(), TransportError> {
        let peer = self.from;
        if tag != self.tag {
            return Err(TransportError::OtherPacket { peer });
        }
        if bytes != self.bytes {
            return Err(TransportError::Length { peer, expected: self.bytes, found: bytes });
        }
        Ok(())
    }
}
