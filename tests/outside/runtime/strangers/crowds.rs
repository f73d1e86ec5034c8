//! Any number of strangers who say nothing, too little, too much, or nonsense.

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use collsynth::runtime::tcp::TcpOptions;

use super::{Ring, with_secret};

/// Ranks have this long to connect; strangers try to make it longer.
const LIMIT: Duration = Duration::from_secs(12);

/// What a stranger sends, and then nothing more, until it is thrown out and calls again.
#[derive(Clone)]
struct Stranger {
    text: Vec<u8>,
    /// Between two bytes; all at once without it.
    pause: Option<Duration>,
}

impl Stranger {
    /// Calls again and again, as so many strangers, until it is over. All have called once at the barrier.
    fn pester(&self, address: SocketAddr, count: usize, called: &Barrier, over: &AtomicBool) {
        let mut calls: Vec<Option<(TcpStream, usize)>> = (0..count).map(|_| None).collect();
        for round in 0_usize.. {
            for call in &mut calls {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let fresh = || {
                    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
                    stream.set_nonblocking(true).ok()?;
                    Some((stream, 0))
                };
                *call = call.take().filter(|(stream, _)| is_open(stream)).or_else(fresh);
                if let Some((stream, sent)) = call {
                    let due = if self.pause.is_some() { self.text.len().min(*sent + 1) } else { self.text.len() };
                    match stream.write(&self.text[*sent..due]) {
                        Ok(more) => *sent += more,
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                        Err(_) => *call = None,
                    }
                }
            }
            if round == 0 {
                called.wait();
            }
            thread::sleep(self.pause.unwrap_or(Duration::from_millis(1)));
        }
    }
}

/// Whether the other end has not thrown the caller out.
fn is_open(stream: &TcpStream) -> bool {
    matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// All ranks of a ring sum up while every rank has so many strangers, who have called before it looked.
fn check(name: &str, count: usize, stranger: &Stranger) {
    for options in [TcpOptions::new(LIMIT), with_secret(LIMIT, "a tiger in the tank")] {
        let ring = Ring::new(4);
        let addresses = ring.addresses();
        let (called, over) = (Barrier::new(addresses.len() + 1), AtomicBool::new(false));
        thread::scope(|scope| {
            let (called, over) = (&called, &over);
            for &address in &addresses {
                scope.spawn(move || stranger.pester(address, count, called, over));
            }
            called.wait();
            let started = Instant::now();
            let sums = ring.sums(0..4, &options);
            over.store(true, Ordering::Relaxed);
            assert!(sums.iter().all(Result::is_ok), "{count} {name}: {sums:?}");
            assert!(started.elapsed() < LIMIT, "{count} {name}: {:?}", started.elapsed());
        });
    }
}

#[test]
fn silent_strangers() {
    // More than a rank serves at once, but not more than wait in a listener's queue.
    for count in [3, 50, 100] {
        check("silent", count, &Stranger { text: vec![], pause: None });
    }
}

#[test]
fn slow_strangers() {
    // A greeting without a mistake, from rank 3, as far as it comes.
    let mut text = hello(false, 3);
    text.truncate(55);
    for pause in [20, 700, 1800].map(Duration::from_millis) {
        check("slow", 1, &Stranger { text: text.clone(), pause: Some(pause) });
    }
    check("slow", 50, &Stranger { text, pause: Some(Duration::from_millis(20)) });
}

#[test]
fn a_flood_of_garbage() {
    for text in [vec![0xff; 1 << 16], b"GET / HTTP/1.1\r\n\r\n".to_vec(), b"synth-r2".repeat(1000)] {
        check("garbage", 20, &Stranger { text, pause: None });
    }
}

#[test]
fn huge_numbers() {
    // Whatever a greeting says, a rank reads 56 bytes of it, and then 32.
    let mut text = hello(false, u32::MAX);
    text[12..].fill(0xff);
    text.extend([0xff; 1 << 12]);
    check("huge", 10, &Stranger { text, pause: None });
}

#[test]
fn strangers_who_know_the_protocol() {
    // Without a mistake until the proof, which is missing or wrong.
    for secret in [false, true] {
        let text = hello(secret, 3);
        check("well-spoken", 100, &Stranger { text: text.clone(), pause: None });
        let text = text.into_iter().chain([7; 32]).collect();
        check("lying", 20, &Stranger { text, pause: None });
    }
}

/// A hello from a rank to rank 0 of four.
fn hello(secret: bool, from: u32) -> Vec<u8> {
    let flags = [u8::from(cfg!(target_endian = "big")), secret.into(), 0, 0];
    let numbers = [4, from, 0].into_iter().flat_map(u32::to_le_bytes);
    b"synth-r2".iter().copied().chain(flags).chain(numbers).chain([7; 32]).collect()
}
