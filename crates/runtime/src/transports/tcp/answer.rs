//! Answering higher ranks, among any number of strangers.
//!
//! All greetings are served side by side, by one thread that never waits for one of them. Each must be finished within
//! one limit, and there is a bounded number of them: when another caller comes, one gives way, see [`gives_way`].
//! Nothing that a stranger does ends the wait for a rank.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::deadline::Deadline;
use super::greeting::{GREETING_LIMIT, HELLO_BYTES, Hello, Identity, PROOF_BYTES, Side, may_be_hello, sender};
use crate::transports::transport::{Refusal, TransportError};
use collsynth_core::topology::RankId;

/// The most unfinished greetings, beside one for each awaited rank.
const MOST_STRANGERS: usize = 64;
/// The most callers accepted before the greetings are looked at again: ranks among them get time to finish.
const ACCEPTED_AT_ONCE: usize = 16;
/// Between two looks at greetings that have not moved.
const PAUSE: Duration = Duration::from_millis(2);

/// Answers until all awaited ranks are connected.
pub(super) fn until_all_called(
    identity: Identity<'_>,
    listener: &TcpListener,
    awaited: BTreeSet<RankId>,
    deadline: Deadline,
    timeout: Duration,
) -> Result<Vec<(RankId, TcpStream)>, TransportError> {
    let rank = identity.rank;
    let listening = |source| TransportError::Listen { address: format!("the address of rank {rank}"), source };
    listener.set_nonblocking(true).map_err(listening)?;
    let mut desk = Desk { identity, awaited, greetings: Vec::new(), refused: BTreeMap::new(), connected: Vec::new() };
    while let Some(&peer) = desk.awaited.first() {
        let accepted = desk.accept(listener);
        let moved = desk.serve();
        if deadline.is_over() && desk.awaited.contains(&peer) {
            // Errors of accepting may pass, as too many open files do; one that is still there is the reason.
            accepted.map_err(listening)?;
            return Err(match desk.refused.remove(&peer) {
                Some((from, why)) => TransportError::WrongCall { peer, from, waited: timeout, why },
                None => TransportError::NeverCalled { peer, waited: timeout },
            });
        }
        if !moved {
            thread::sleep(PAUSE);
        }
    }
    Ok(desk.connected)
}

/// All callers of a rank.
struct Desk<'a> {
    identity: Identity<'a>,
    awaited: BTreeSet<RankId>,
    /// Unfinished greetings, the oldest first.
    greetings: Vec<Greeting>,
    /// For awaited ranks: why the last greeting in their name was refused, and where it came from.
    refused: BTreeMap<RankId, (SocketAddr, Refusal)>,
    connected: Vec<(RankId, TcpStream)>,
}

/// A greeting that a caller has begun.
struct Greeting {
    stream: TcpStream,
    from: SocketAddr,
    deadline: Deadline,
    /// What has come of the caller's hello, then of its proof.
    bytes: Hello,
    received: usize,
    /// The caller's hello and the answer to it.
    hellos: Option<(Hello, Hello)>,
}

enum Progress {
    Waiting,
    /// The rank at the other end is who it says.
    Proven(RankId),
    Refused(RankId, Refusal),
}

impl Desk<'_> {
    /// Accepts callers, and makes room for them.
    fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        for _ in 0..ACCEPTED_AT_ONCE {
            match listener.accept() {
                Ok((stream, from)) => {
                    if self.greetings.len() >= MOST_STRANGERS + self.awaited.len() {
                        self.make_room();
                    }
                    if stream.set_nonblocking(true).is_ok() {
                        self.greetings.push(Greeting::new(stream, from));
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => break,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    _ => {
                        // Files are short, perhaps: this rank's own calls need some, too.
                        self.make_room();
                        return Err(error);
                    }
                },
            }
        }
        Ok(())
    }

    fn make_room(&mut self) {
        let said_hello: Vec<bool> = self.greetings.iter().map(|greeting| greeting.hellos.is_some()).collect();
        if let Some(dropped) = gives_way(&said_hello) {
            self.greetings.remove(dropped);
        }
    }

    /// Takes every greeting as far as it goes; true if one of them is over.
    fn serve(&mut self) -> bool {
        let before = self.greetings.len();
        for mut greeting in std::mem::take(&mut self.greetings) {
            match greeting.advance(self.identity, &self.awaited) {
                Ok(Progress::Waiting) if !greeting.deadline.is_over() => self.greetings.push(greeting),
                Ok(Progress::Proven(rank)) if greeting.stream.set_nonblocking(false).is_ok() => {
                    self.awaited.remove(&rank);
                    self.connected.push((rank, greeting.stream));
                }
                Ok(Progress::Refused(rank, why)) if self.awaited.contains(&rank) => {
                    self.refused.insert(rank, (greeting.from, why));
                }
                // The others may try again.
                Ok(_) | Err(_) => {}
            }
        }
        self.greetings.len() < before
    }
}

/// The greeting to drop, of these from the oldest to the newest: the one that has waited longest among those that have
/// said hello, or among those that have not, whichever are more. A rank is silent for a moment, then has said hello:
/// neither a crowd that says nothing nor one that says hello and no more drives it out before half of all places have
/// been taken anew.
fn gives_way(said_hello: &[bool]) -> Option<usize> {
    let talking = said_hello.iter().filter(|&&said| said).count();
    said_hello.iter().position(|&said| said == (2 * talking > said_hello.len()))
}

impl Greeting {
    fn new(stream: TcpStream, from: SocketAddr) -> Self {
        let deadline = Deadline::after(GREETING_LIMIT);
        Self { stream, from, deadline, bytes: [0; HELLO_BYTES], received: 0, hellos: None }
    }

    /// Reads what has come, and answers it. An error ends the greeting, and says nothing about a rank.
    fn advance(&mut self, identity: Identity<'_>, awaited: &BTreeSet<RankId>) -> io::Result<Progress> {
        loop {
            let wanted = if self.hellos.is_none() { HELLO_BYTES } else { PROOF_BYTES };
            match self.stream.read(&mut self.bytes[self.received..wanted]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.received += read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Progress::Waiting),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.hellos.is_none() && !may_be_hello(&self.bytes[..self.received]) {
                return Err(ErrorKind::InvalidData.into());
            }
            if self.received < wanted {
                continue;
            }
            self.received = 0;
            let Some((call, answer)) = &self.hellos else {
                if let Some(refused) = self.answer(identity, awaited)? {
                    return Ok(refused);
                }
                continue;
            };
            let rank = sender(call);
            let mut proof = [0; PROOF_BYTES];
            proof.copy_from_slice(&self.bytes[..PROOF_BYTES]);
            if let Err(why) = identity.verify(Side::Caller, call, answer, &proof) {
                return Ok(Progress::Refused(rank, why));
            }
            if !awaited.contains(&rank) {
                return Err(ErrorKind::AlreadyExists.into());
            }
            self.stream.write_all(&identity.proof(Side::Answerer, call, answer))?;
            return Ok(Progress::Proven(rank));
        }
    }

    /// Answers the caller's hello. A refused caller gets an answer too: it says what does not fit.
    fn answer(&mut self, identity: Identity<'_>, awaited: &BTreeSet<RankId>) -> io::Result<Option<Progress>> {
        let call = self.bytes;
        let rank = sender(&call);
        let awaits = awaited.contains(&rank);
        let answer = identity.hello(rank, awaits)?;
        self.stream.write_all(&answer)?;
        if let Err(why) = identity.check(&call) {
            return Ok(Some(Progress::Refused(rank, why)));
        }
        if !awaits {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.hellos = Some((call, answer));
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STRANGERS, gives_way};

    /// A rank calls among strangers who all do the same, and says hello at once or later: as many callers after it as
    /// half of the places do not drive it out.
    #[test]
    fn a_crowd_drives_out_its_own() {
        const NOBODY: Option<usize> = None;
        for crowd_says_hello in [false, true] {
            for says_hello_after in 0..MOST_STRANGERS / 2 {
                let mut said_hello = vec![crowd_says_hello; MOST_STRANGERS];
                // The rank, then its place among the greetings.
                said_hello.remove(gives_way(&said_hello).expect("full"));
                said_hello.push(false);
                let mut rank = said_hello.len() - 1;
                for callers in 0..MOST_STRANGERS / 2 - 1 {
                    said_hello[rank] |= callers >= says_hello_after;
                    let dropped = gives_way(&said_hello).expect("full");
                    assert_ne!(dropped, rank, "{crowd_says_hello} {says_hello_after} {callers}");
                    said_hello.remove(dropped);
                    rank -= usize::from(dropped < rank);
                    said_hello.push(crowd_says_hello);
                }
            }
        }
        assert_eq!(gives_way(&[]), NOBODY);
    }
}
