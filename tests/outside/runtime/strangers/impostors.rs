//! Strangers who claim to be ranks. The greeting is spoken here byte by byte, as docs/use/runtimes.md has it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use collsynth::runtime::tcp::{Refusal, TcpOptions};
use collsynth::runtime::{RunError, TransportError};
use collsynth::topology::RankId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Ring, with_secret};

const SECRET: &str = "a tiger in the tank";
/// Ranks that find each other have this long, and
const LONG: Duration = Duration::from_secs(20);
/// ranks that do not, this long.
const SHORT: Duration = Duration::from_millis(1500);
const HELLO: usize = 56;
const PROOF: usize = 32;

/// A hello on this machine.
fn hello(secret: bool, awaits: bool, ranks: u32, from: u32, to: u32, nonce: [u8; 32]) -> Vec<u8> {
    let flags = [u8::from(cfg!(target_endian = "big")), secret.into(), awaits.into(), 0];
    let numbers = [ranks, from, to].into_iter().flat_map(u32::to_le_bytes);
    b"synth-r2".iter().copied().chain(flags).chain(numbers).chain(nonce).collect()
}

fn proof(secret: &str, side: &str, call: &[u8], answer: &[u8]) -> Vec<u8> {
    let code = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
    code.chain_update(side).chain_update(call).chain_update(answer).finalize().into_bytes().to_vec()
}

fn receive(mut stream: &TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).expect("an answer");
    bytes
}

/// Whether the other end closes the connection without another byte.
fn is_dropped(mut stream: &TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn call(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a rank that listens");
    stream.set_read_timeout(Some(LONG)).expect("a limit");
    stream
}

/// Accepts a rank's call in another's place.
fn accept(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().expect("a rank that calls");
    stream.set_read_timeout(Some(LONG)).expect("a limit");
    stream
}

/// Runs `deceive` against rank 0 of a pair before rank 1 starts. Both must then find each other and sum up.
fn before_rank_1(secret: &str, deceive: impl FnOnce(SocketAddr)) {
    let ring = Ring::new(2);
    let options = with_secret(LONG, secret);
    thread::scope(|scope| {
        let rank = scope.spawn(|| ring.sum(0, &options));
        deceive(ring.addresses()[0]);
        let sums = [ring.sum(1, &options), rank.join().expect("no panic")];
        assert!(sums.iter().all(Result::is_ok), "{sums:?}");
    });
}

/// What is said when rank 1 calls rank 0, for which `answer` answers.
fn answered(options: &TcpOptions, answer: impl Fn(&TcpStream) + Sync) -> TransportError {
    let ring = Ring::new(2);
    let false_one = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addresses = [false_one.local_addr().expect("an address"), ring.addresses()[1]];
    thread::scope(|scope| {
        let rank = scope.spawn(|| ring.connect_by(&addresses, 1, options));
        false_one.set_nonblocking(true).expect("a listener");
        let started = Instant::now();
        while !rank.is_finished() {
            match false_one.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).expect("a stream");
                    stream.set_read_timeout(Some(LONG)).expect("a limit");
                    answer(&stream);
                }
                Err(_) => thread::sleep(Duration::from_millis(2)),
            }
            assert!(started.elapsed() < LONG);
        }
        match rank.join().expect("no panic") {
            Err(RunError::Start { source }) => source,
            other => panic!("{other:?}"),
        }
    })
}

/// The bytes of an honest greeting between ranks 0 and 1, from the caller and from the answerer.
fn recorded() -> [Vec<u8>; 2] {
    let ring = Ring::new(2);
    let tap = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addresses = [tap.local_addr().expect("an address"), ring.addresses()[1]];
    let options = with_secret(LONG, SECRET);
    thread::scope(|scope| {
        let ranks = [
            scope.spawn(|| ring.connect(0, &options).map(drop)),
            scope.spawn(|| ring.connect_by(&addresses, 1, &options).map(drop)),
        ];
        let (caller, answerer) = (accept(&tap), call(ring.addresses()[0]));
        let pass = |from: &TcpStream, mut to: &TcpStream, length| {
            let bytes = receive(from, length);
            to.write_all(&bytes).expect("a listener");
            bytes
        };
        let call = pass(&caller, &answerer, HELLO);
        let answer = pass(&answerer, &caller, HELLO);
        let proofs = [pass(&caller, &answerer, PROOF), pass(&answerer, &caller, PROOF)];
        assert!(ranks.into_iter().all(|rank| rank.join().expect("no panic").is_ok()));
        assert_eq!(proofs[0], proof(SECRET, "caller", &call, &answer), "as the page says");
        assert_eq!(proofs[1], proof(SECRET, "answerer", &call, &answer), "as the page says");
        [[call, proofs[0].clone()].concat(), [answer, proofs[1].clone()].concat()]
    })
}

#[test]
fn whoever_has_the_secret_is_a_rank() {
    let ring = Ring::new(2);
    let options = with_secret(LONG, SECRET);
    thread::scope(|scope| {
        let rank = scope.spawn(|| ring.connect(0, &options));
        let mut stream = call(ring.addresses()[0]);
        let called = hello(true, false, 2, 1, 0, [1; 32]);
        stream.write_all(&called).expect("a listener");
        let answer = receive(&stream, HELLO);
        assert_eq!(answer[..24], hello(true, true, 2, 0, 1, [0; 32])[..24]);
        stream.write_all(&proof(SECRET, "caller", &called, &answer)).expect("a listener");
        assert_eq!(receive(&stream, PROOF), proof(SECRET, "answerer", &called, &answer));
        assert!(rank.join().expect("no panic").is_ok());
    });
}

#[test]
fn callers_without_the_secret_get_nothing() {
    for (secret, key) in [(false, ""), (true, ""), (true, "another secret"), (true, "a tiger in the tanl")] {
        before_rank_1(SECRET, |address| {
            let mut stream = call(address);
            let called = hello(secret, false, 2, 1, 0, [1; 32]);
            stream.write_all(&called).expect("a listener");
            let answer = receive(&stream, HELLO);
            // A rank that has refused the hello may be gone.
            let _ = stream.write_all(&proof(key, "caller", &called, &answer));
            assert!(is_dropped(&stream), "{key}");
        });
    }
}

#[test]
fn recorded_greetings_are_worth_nothing() {
    let [called, answered_then] = recorded();
    before_rank_1(SECRET, |address| {
        let mut stream = call(address);
        stream.write_all(&called).expect("a listener");
        assert_ne!(receive(&stream, HELLO)[24..], answered_then[24..HELLO], "another nonce");
        assert!(is_dropped(&stream));
    });
    let error = answered(&with_secret(SHORT, SECRET), |mut stream| {
        assert_ne!(receive(stream, HELLO)[24..], called[24..HELLO], "another nonce");
        // The rank may leave as soon as it has seen one that does not fit.
        let _ = stream.write_all(&answered_then);
        let _ = stream.read(&mut [0; PROOF]);
    });
    assert!(matches!(error, TransportError::WrongAnswer { why: Refusal::OtherSecret, .. }), "{error}");
}

#[test]
fn own_words_sent_back_are_worth_nothing() {
    // As they are, and as an answer with the same nonce, so that both hellos and only the direction tell proofs apart.
    let plain = answered(&with_secret(SHORT, SECRET), |mut stream| {
        let called = receive(stream, HELLO);
        let _ = stream.write_all(&called);
        let _ = stream.read(&mut [0; PROOF]);
    });
    let why = Refusal::OtherRank { found: RankId(1) };
    assert!(matches!(plain, TransportError::WrongAnswer { why: found, .. } if found == why), "{plain}");
    let turned = answered(&with_secret(SHORT, SECRET), |mut stream| {
        let called = receive(stream, HELLO);
        let nonce = called[24..].try_into().expect("32 bytes");
        stream.write_all(&hello(true, true, 2, 0, 1, nonce)).expect("a rank");
        let proof = receive(stream, PROOF);
        let _ = stream.write_all(&proof);
        let _ = stream.read(&mut [0; PROOF]);
    });
    assert!(matches!(turned, TransportError::WrongAnswer { why: Refusal::OtherSecret, .. }), "{turned}");
}

/// A greeting that another rank was meant for: its proof names both ranks.
#[test]
fn a_proof_for_another_rank_is_worth_nothing() {
    before_rank_1(SECRET, |address| {
        let mut stream = call(address);
        let called = hello(true, false, 2, 1, 0, [1; 32]);
        stream.write_all(&called).expect("a listener");
        let answer = receive(&stream, HELLO);
        let elsewhere = hello(true, false, 2, 1, 2, [1; 32]);
        stream.write_all(&proof(SECRET, "caller", &elsewhere, &answer)).expect("a listener");
        assert!(is_dropped(&stream));
    });
}

#[test]
fn both_sides_say_what_does_not_fit() {
    let with = || with_secret(SHORT, SECRET);
    let without = || TcpOptions::new(SHORT);
    let others = || with_secret(SHORT, "another secret");
    for (options, said) in [
        ([with(), without()], ["it has no secret, and this rank has one", "it has a secret, and this rank has none"]),
        ([without(), with()], ["it has a secret, and this rank has none", "it has no secret, and this rank has one"]),
        ([with(), others()], ["it does not have the secret of this rank"; 2]),
    ] {
        let ring = Ring::new(2);
        let started = Instant::now();
        let errors = thread::scope(|scope| {
            let ranks = [0, 1].map(|rank| {
                let (ring, options) = (&ring, &options[rank as usize]);
                scope.spawn(move || ring.sum(rank, options).expect_err("no pair").to_string())
            });
            ranks.map(|rank| rank.join().expect("no panic"))
        });
        assert!(started.elapsed() < SHORT + Duration::from_secs(1), "{:?}", started.elapsed());
        for (error, said) in errors.iter().zip(said) {
            assert!(error.contains(said) && error.contains("start all ranks with the same secret"), "{error}");
            assert!(error.contains("refused") && error.contains("127.0.0.1:"), "{error}");
            assert!(!error.contains("tiger") && !error.contains("another secret"), "{error}");
        }
    }
}

/// Every field of a hello, wrong.
#[test]
fn every_other_mistake_has_a_reason() {
    let right = hello(false, true, 2, 0, 1, [7; 32]);
    let cases: [(usize, u8, Refusal); 8] = [
        (7, b'1', Refusal::Program),
        (8, 1, Refusal::ByteOrder),
        (9, 1, Refusal::Secret),
        (9, 2, Refusal::Program),
        (10, 0, Refusal::NotAwaited),
        (12, 3, Refusal::Ranks { found: 3, expected: 2 }),
        (16, 5, Refusal::OtherRank { found: RankId(5) }),
        (20, 4, Refusal::OtherTable { found: RankId(4) }),
    ];
    for (at, value, expected) in cases {
        let mut wrong = right.clone();
        wrong[at] = value;
        let error = answered(&TcpOptions::new(Duration::from_millis(300)), |mut stream| {
            receive(stream, HELLO);
            let _ = stream.write_all(&wrong);
            let _ = stream.read(&mut [0; PROOF]);
        });
        assert!(matches!(error, TransportError::WrongAnswer { why, .. } if why == expected), "{at}: {error}");
    }
}

/// A second process for a rank is told; the first goes on.
#[test]
fn a_rank_that_is_there_twice() {
    let ring = Ring::new(3);
    let options = with_secret(LONG, SECRET);
    let met = Barrier::new(2);
    thread::scope(|scope| {
        // Rank 0 still waits for rank 1.
        let first = scope.spawn(|| ring.sum(0, &options));
        let second = scope.spawn(|| {
            let mut stream = call(ring.addresses()[0]);
            let called = hello(true, false, 3, 2, 0, [1; 32]);
            stream.write_all(&called).expect("a listener");
            let answer = receive(&stream, HELLO);
            stream.write_all(&proof(SECRET, "caller", &called, &answer)).expect("a listener");
            receive(&stream, PROOF);
            met.wait();
            stream
        });
        met.wait();
        let mut late = call(ring.addresses()[0]);
        late.write_all(&hello(true, false, 3, 2, 0, [2; 32])).expect("a listener");
        assert_eq!(receive(&late, HELLO)[10], 0, "not awaited");
        assert!(is_dropped(&late));
        drop(second.join().expect("no panic"));
        // The first one has gone: rank 0 cannot finish, and does not wait for the whole limit either.
        let error = ring.sum(1, &with_secret(SHORT, SECRET)).expect_err("rank 2 is gone");
        assert!(error.to_string().contains("rank"), "{error}");
        assert!(first.join().expect("no panic").is_err());
    });
}

/// Without a secret, a stranger can be a rank. Whatever length it says, it gets no memory, and the others end.
#[test]
fn an_impostor_without_a_secret_can_only_end_the_run() {
    let ring = Ring::new(2);
    let options = TcpOptions::new(LONG);
    thread::scope(|scope| {
        let rank = scope.spawn(|| ring.sum(0, &options));
        let mut stream = call(ring.addresses()[0]);
        let called = hello(false, false, 2, 1, 0, [1; 32]);
        stream.write_all(&called).expect("a listener");
        let answer = receive(&stream, HELLO);
        stream.write_all(&proof("", "caller", &called, &answer)).expect("a listener");
        receive(&stream, PROOF);
        stream.write_all(&[0xff; 16]).expect("a rank");
        let error = rank.join().expect("no panic").expect_err("no rank");
        assert!(error.to_string().contains("has 18446744073709551615 bytes instead of 8"), "{error}");
    });
}

/// A rank that sends a byte at a time, or takes nothing, has the limit for the whole packet.
#[test]
fn a_packet_has_one_limit_however_its_bytes_come() {
    const PACKET_LIMIT: Duration = Duration::from_secs(2);
    let ring = Ring::new(2);
    let options = TcpOptions::new(PACKET_LIMIT);
    thread::scope(|scope| {
        let rank = scope.spawn(|| ring.sum(0, &options));
        let mut stream = call(ring.addresses()[0]);
        let called = hello(false, false, 2, 1, 0, [1; 32]);
        stream.write_all(&called).expect("a listener");
        let answer = receive(&stream, HELLO);
        stream.write_all(&proof("", "caller", &called, &answer)).expect("a listener");
        receive(&stream, PROOF);
        // The head of the rank's own packet is that of the one it expects.
        let head = receive(&stream, 16);
        let started = Instant::now();
        // With a limit for each read, 24 bytes would take a minute.
        for byte in head.iter().chain(&[0; 8]) {
            thread::sleep(PACKET_LIMIT.mul_f64(0.9));
            if rank.is_finished() || stream.write_all(&[*byte]).is_err() {
                break;
            }
        }
        let error = rank.join().expect("no panic").expect_err("the packet is late");
        assert!(error.to_string().contains("rank 1 sent nothing for 2s"), "{error}");
        assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
    });
}
