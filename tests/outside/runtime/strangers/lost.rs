//! Ranks that are really lost, with strangers about: every other rank ends with its own error, in time.

use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use collsynth::runtime::tcp::{RankTable, TcpOptions, TcpTransport};
use collsynth::runtime::{Communicator, TransportError};
use collsynth::topology::RankId;

use super::{Ring, with_secret};

const LIMIT: Duration = Duration::from_secs(2);
/// How much later than its limit a rank may end.
const MORE: Duration = Duration::from_secs(1);

#[test]
fn a_rank_that_never_comes() {
    for strangers in [0, 50] {
        let ring = Ring::new(5);
        let addresses = ring.addresses();
        let calls = addresses.iter().flat_map(|address| (0..strangers).map(move |_| TcpStream::connect(address)));
        let _calls: Vec<TcpStream> = calls.collect::<Result<_, _>>().expect("they answer");
        let started = Instant::now();
        let sums = ring.sums([0, 1, 3, 4], &with_secret(LIMIT, "a tiger in the tank"));
        assert!(started.elapsed() < LIMIT + MORE, "{:?}", started.elapsed());
        let said: Vec<String> = sums.into_iter().map(|sum| sum.expect_err("rank 2 is lost").to_string()).collect();
        // Rank 1 waits for its call; rank 3 calls it, and it has a listener that nobody serves.
        assert_eq!(said[1], "before the first step: rank 2 did not connect within 2s");
        assert!(said[2].starts_with("before the first step: rank 2 does not answer at 127.0.0.1:"), "{}", said[2]);
        assert!(said.iter().all(|error| error.contains("rank")), "{said:?}");
    }
}

#[test]
fn a_rank_that_leaves_after_the_greeting() {
    let ring = &Ring::new(4);
    let options = &with_secret(LIMIT, "a tiger in the tank");
    thread::scope(|scope| {
        let others = scope.spawn(|| ring.sums([0, 1, 3], options));
        drop(ring.connect(2, options).expect("all connect"));
        let started = Instant::now();
        let sums = others.join().expect("no panic");
        assert!(sums.iter().all(Result::is_err), "{sums:?}");
        assert!(started.elapsed() < LIMIT + MORE, "{:?}", started.elapsed());
    });
}

#[test]
fn a_rank_that_keeps_its_connections_and_does_nothing() {
    let ring = &Ring::new(4);
    let options = &with_secret(LIMIT, "a tiger in the tank");
    thread::scope(|scope| {
        let others = scope.spawn(|| ring.sums([0, 1, 3], options));
        let idle = ring.connect(2, options).expect("all connect");
        let started = Instant::now();
        let sums = others.join().expect("no panic");
        assert!(sums.iter().all(Result::is_err), "{sums:?}");
        assert!(started.elapsed() < LIMIT + MORE, "{:?}", started.elapsed());
        drop(idle);
    });
}

#[test]
fn a_host_whose_name_is_unknown() {
    let table = RankTable::parse("no-such-host.invalid:7000\n127.0.0.1:0001\n", 2).expect("a table");
    let ring = Ring::new(2);
    let started = Instant::now();
    let peers = [RankId(0)];
    let connected = TcpTransport::with_listener(&ring.listeners[1], &table, RankId(1), &peers, &TcpOptions::new(LIMIT));
    assert!(matches!(connected, Err(TransportError::Unreachable { peer: RankId(0), .. })), "{connected:?}");
    assert!(started.elapsed() < LIMIT + MORE, "{:?}", started.elapsed());
}

/// A limit longer than clocks count is none.
#[test]
fn a_limit_without_end() {
    let ring = Ring::new(2);
    let sums = ring.sums(0..2, &TcpOptions::new(Duration::MAX));
    assert!(sums.iter().all(Result::is_ok), "{sums:?}");
}

/// On Linux, the loopback interface has all addresses that begin with 127.
#[cfg(target_os = "linux")]
#[test]
fn a_rank_listens_at_its_address_only() {
    let free = || {
        let listener = std::net::TcpListener::bind("127.0.0.2:0").expect("a free port");
        listener.local_addr().expect("an address").port()
    };
    let (one, two) = (free(), free());
    let table = RankTable::parse(&format!("127.0.0.2:{one}\n127.0.0.2:{two}"), 2).expect("a table");
    let (ring, options) = (Ring::new(2), &TcpOptions::new(LIMIT));
    thread::scope(|scope| {
        let rank = scope.spawn(|| TcpTransport::connect(&table, RankId(0), &[RankId(1)], options));
        let there = |host: &str| {
            let address = format!("{host}:{one}").parse().expect("an address");
            TcpStream::connect_timeout(&address, LIMIT).is_ok()
        };
        while !there("127.0.0.2") {
            assert!(!rank.is_finished(), "it listens");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!there("127.0.0.1") && !there("127.0.0.3"));
        let other = TcpTransport::connect(&table, RankId(1), &[RankId(0)], options).expect("it connects");
        let rank = rank.join().expect("no panic").expect("it connects");
        let pair = [rank, other].map(|transport| scope.spawn(|| Communicator::new(transport, &ring.schedule)));
        assert!(pair.into_iter().all(|one| one.join().expect("no panic").is_ok()));
    });
}
