//! Calling a lower rank until it answers.

use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use crossbeam_channel::bounded;

use super::deadline::Deadline;
use super::greeting::{GREETING_LIMIT, HELLO_BYTES, Identity, PROOF_BYTES, Side};
use crate::transports::transport::{Refusal, TransportError};
use collsynth_core::topology::RankId;

/// Between the first two attempts; then twice as long each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(160);

/// Why an attempt failed.
enum Failed {
    Unreachable(io::Error),
    Refused(Refusal),
}

/// Calls a lower rank until it answers. Whoever else answers at its address may go away and leave it to the rank, so
/// a refused answer is reported only once the time is over.
pub(super) fn until_answered(
    identity: Identity<'_>,
    peer: RankId,
    address: &str,
    deadline: Deadline,
    timeout: Duration,
) -> Result<TcpStream, TransportError> {
    let mut pause = FIRST_PAUSE;
    let mut refused = None;
    loop {
        let failed = match once(identity, peer, address, deadline) {
            Ok(stream) => return Ok(stream),
            Err(failed) => failed,
        };
        if let Failed::Refused(why) = failed {
            refused = Some(why);
        }
        thread::sleep(pause.min(deadline.left()));
        if deadline.is_over() {
            let (address, waited) = (address.to_owned(), timeout);
            return Err(match (refused, failed) {
                // An attempt that the end of the time has cut short says less.
                (Some(why), _) | (None, Failed::Refused(why)) => {
                    TransportError::WrongAnswer { peer, address, waited, why }
                }
                (None, Failed::Unreachable(source)) => TransportError::Unreachable { peer, address, waited, source },
            });
        }
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// A listener at an address of the table, and only there.
pub(super) fn listen(address: &str, deadline: Deadline) -> io::Result<TcpListener> {
    TcpListener::bind(&resolve(address, deadline)?[..])
}

/// One attempt. It has one limit until the other end's hello, while a rank may still be busy with others, and one
/// after it, longer than the rank itself takes for a whole greeting: a rank that has accepted this one is never left.
fn once(identity: Identity<'_>, peer: RankId, address: &str, deadline: Deadline) -> Result<TcpStream, Failed> {
    let limit = deadline.at_most(GREETING_LIMIT);
    let mut stream = connect(address, limit)?;
    let call = identity.hello(peer, false)?;
    stream.set_write_timeout(Some(GREETING_LIMIT))?;
    stream.write_all(&call)?;
    let mut answer = [0; HELLO_BYTES];
    limit.read(&stream, &mut answer)?;
    identity.check_answer(&answer, peer)?;
    stream.write_all(&identity.proof(Side::Caller, &call, &answer))?;
    let mut proof = [0; PROOF_BYTES];
    if let Err(error) = deadline.at_most(2 * GREETING_LIMIT).read(&stream, &mut proof) {
        // This is how a rank refuses a proof.
        let refused = identity.secret.is_some() && error.kind() == ErrorKind::UnexpectedEof;
        return Err(if refused { Failed::Refused(Refusal::OtherSecret) } else { Failed::Unreachable(error) });
    }
    identity.verify(Side::Answerer, &call, &answer, &proof)?;
    Ok(stream)
}

/// A connection to the first address of a host that takes one.
fn connect(address: &str, limit: Deadline) -> io::Result<TcpStream> {
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for target in resolve(address, limit)? {
        if limit.is_over() {
            break;
        }
        match TcpStream::connect_timeout(&target, limit.left()) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The addresses that a name stands for. Systems look names up without a limit of time, hence the thread, which is left
/// behind when the time is over.
fn resolve(address: &str, limit: Deadline) -> io::Result<Vec<SocketAddr>> {
    if let Ok(plain) = address.parse() {
        return Ok(vec![plain]);
    }
    let (found, finds) = bounded(1);
    let name = address.to_owned();
    thread::Builder::new().name(format!("looking up {address}")).spawn(move || {
        // The receiver is gone if it took too long.
        let _ = found.send(name.to_socket_addrs().map(Iterator::collect));
    })?;
    let late = |_| io::Error::new(ErrorKind::TimedOut, "the name of the host was not found in time");
    finds.recv_timeout(limit.left()).map_err(late)?
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error)
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
