//! What two ranks send each other before the first packet: the bytes, and what is wrong with them.
//!
//! The higher rank of a pair calls, the lower one answers, each with a *hello*; then the caller sends its *proof*, and
//! the answerer its own. A proof is an HMAC-SHA256, keyed with the secret, of the side that sends it and both hellos.
//! These name both ranks and the number of all, and each has a nonce drawn for this connection, so a proof is of no use
//! on another connection, for other ranks or in the other direction. The caller proves first: who has no secret gets
//! nothing from an answerer that guesses could be tried on.
//!
//! Everything has a fixed length; no stranger decides how much is read. docs/use/runtimes.md has the bytes.

use std::io;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::secret::Secret;
use crate::transports::transport::Refusal;
use collsynth_core::topology::RankId;

/// How long an answerer waits for a whole greeting, and a caller for a hello.
pub(super) const GREETING_LIMIT: Duration = Duration::from_secs(2);
/// The length of a hello.
pub(super) const HELLO_BYTES: usize = 56;
/// The length of a proof.
pub(super) const PROOF_BYTES: usize = 32;

/// The first bytes of a hello, with the version of the protocol.
const MAGIC: &[u8; 8] = b"synth-r2";
/// Where the parts of a hello begin, after the magic.
const BYTE_ORDER: usize = 8;
const HAS_SECRET: usize = 9;
const AWAITS: usize = 10;
const RANKS: usize = 12;
const FROM: usize = 16;
const TO: usize = 20;
const NONCE: usize = 24;
/// The byte order of this machine: packets have it, greetings do not.
const THIS_BYTE_ORDER: u8 = cfg!(target_endian = "big") as u8;

pub(super) type Hello = [u8; HELLO_BYTES];
pub(super) type Proof = [u8; PROOF_BYTES];

/// Who sends a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Caller,
    Answerer,
}

/// What this rank says of itself, and expects of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity<'a> {
    pub(super) rank: RankId,
    /// The number of ranks, failed ones included.
    pub(super) ranks: u32,
    pub(super) secret: Option<&'a Secret>,
}

impl Identity<'_> {
    /// A hello to a rank, with a new nonce. `awaits`: whether this rank, which answers, waits for the other.
    pub(super) fn hello(&self, to: RankId, awaits: bool) -> io::Result<Hello> {
        let mut hello = [0; HELLO_BYTES];
        hello[..MAGIC.len()].copy_from_slice(MAGIC);
        hello[BYTE_ORDER] = THIS_BYTE_ORDER;
        hello[HAS_SECRET] = self.secret.is_some().into();
        hello[AWAITS] = awaits.into();
        for (at, number) in [(RANKS, self.ranks), (FROM, self.rank.0), (TO, to.0)] {
            hello[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        getrandom::fill(&mut hello[NONCE..]).map_err(io::Error::other)?;
        Ok(hello)
    }

    /// Checks a hello that claims to be for this rank.
    pub(super) fn check(&self, hello: &Hello) -> Result<(), Refusal> {
        if !may_be_hello(hello) {
            return Err(Refusal::Program);
        }
        if hello[BYTE_ORDER] != THIS_BYTE_ORDER {
            return Err(Refusal::ByteOrder);
        }
        match (hello[HAS_SECRET], self.secret) {
            (0, Some(_)) => return Err(Refusal::NoSecret),
            (0, None) | (1, Some(_)) => {}
            (1, None) => return Err(Refusal::Secret),
            _ => return Err(Refusal::Program),
        }
        let (found, expected) = (number(hello, RANKS), self.ranks);
        if found != expected {
            return Err(Refusal::Ranks { found, expected });
        }
        match RankId(number(hello, TO)) {
            rank if rank == self.rank => Ok(()),
            found => Err(Refusal::OtherTable { found }),
        }
    }

    /// Checks the hello by which `peer` must answer this rank's call.
    pub(super) fn check_answer(&self, hello: &Hello, peer: RankId) -> Result<(), Refusal> {
        if may_be_hello(hello) && sender(hello) != peer {
            return Err(Refusal::OtherRank { found: sender(hello) });
        }
        self.check(hello)?;
        if hello[AWAITS] == 1 { Ok(()) } else { Err(Refusal::NotAwaited) }
    }

    /// The proof of one side.
    pub(super) fn proof(&self, side: Side, call: &Hello, answer: &Hello) -> Proof {
        self.code(side, call, answer).finalize().into_bytes().into()
    }

    /// Checks the proof of one side, in a time that does not depend on its bytes.
    pub(super) fn verify(&self, side: Side, call: &Hello, answer: &Hello, proof: &Proof) -> Result<(), Refusal> {
        let refusal = if self.secret.is_some() { Refusal::OtherSecret } else { Refusal::Program };
        self.code(side, call, answer).verify_slice(proof).map_err(|_| refusal)
    }

    /// Without a secret, the key is empty: such a proof shows only that the other end knows the protocol.
    fn code(&self, side: Side, call: &Hello, answer: &Hello) -> Hmac<Sha256> {
        let key = self.secret.map(Secret::bytes).unwrap_or_default();
        let name: &[u8] = match side {
            Side::Caller => b"caller",
            Side::Answerer => b"answerer",
        };
        let code = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        code.chain_update(name).chain_update(call).chain_update(answer)
    }
}

/// Whether bytes begin as a hello does.
pub(super) fn may_be_hello(bytes: &[u8]) -> bool {
    bytes.iter().zip(MAGIC).all(|(byte, magic)| byte == magic)
}

/// The rank that the sender of a hello claims to be.
pub(super) fn sender(hello: &Hello) -> RankId {
    RankId(number(hello, FROM))
}

fn number(hello: &Hello, at: usize) -> u32 {
    u32::from_le_bytes([hello[at], hello[at + 1], hello[at + 2], hello[at + 3]])
}
