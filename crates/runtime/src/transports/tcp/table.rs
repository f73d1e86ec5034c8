//! Rank tables: where each rank listens.

use std::net::{SocketAddr, TcpListener};

use thiserror::Error;

use crate::transports::transport::TransportError;
use collsynth_core::topology::RankId;

/// The address of every rank.
///
/// As text: a line `host:port` for each rank, failed ones included, in the order of the ranks. Empty lines and comments
/// after `#` are skipped.
///
/// ```
/// # use collsynth_runtime::tcp::RankTable;
/// # use collsynth_core::topology::RankId;
/// let table = RankTable::parse("node0:7000\nnode0:7001  # the second process there\n\n10.0.0.2:7000\n", 3)?;
/// assert_eq!(table.address(RankId(1))?, "node0:7001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankTable {
    addresses: Vec<String>,
}

/// What is wrong with a rank table.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
pub enum RankTableError {
    #[error("line {line}: `{text}` is not an address: write host:port, as in node3:7000")]
    Address { line: usize, text: String },
    #[error("line {line}: `{text}` is already the address of rank {other}")]
    Twice { line: usize, text: String, other: RankId },
    #[error("the table has {found} addresses; the schedule has {ranks} ranks, failed ones included")]
    Count { found: usize, ranks: usize },
}

impl RankTable {
    /// Reads a table for `ranks` ranks.
    ///
    /// # Errors
    ///
    /// A line is not an address or repeats one, or the number of addresses is wrong.
    pub fn parse(text: &str, ranks: usize) -> Result<Self, RankTableError> {
        let mut addresses: Vec<String> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let text = line.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
            let (line, owned) = (number + 1, text.to_owned());
            if !matches!(port, Some(Ok(1..))) || text.contains(char::is_whitespace) {
                return Err(RankTableError::Address { line, text: owned });
            }
            if let Some(other) = addresses.iter().position(|address| address == text) {
                return Err(RankTableError::Twice { line, text: owned, other: RankId(other as u32) });
            }
            addresses.push(owned);
        }
        match addresses.len() == ranks {
            true => Ok(Self { addresses }),
            false => Err(RankTableError::Count { found: addresses.len(), ranks }),
        }
    }

    /// Where a rank listens.
    ///
    /// # Errors
    ///
    /// [`TransportError::NotConnected`] if the table has no such rank.
    pub fn address(&self, rank: RankId) -> Result<&str, TransportError> {
        let address = self.addresses.get(rank.index()).map(String::as_str);
        address.ok_or(TransportError::NotConnected { peer: rank })
    }

    /// Whether all addresses are of the loopback interface, out of the reach of other hosts. Names other than
    /// `localhost` are not looked up, and taken for other hosts.
    pub fn is_loopback(&self) -> bool {
        let one = |address: &String| match address.parse::<SocketAddr>() {
            Ok(address) => address.ip().is_loopback(),
            Err(_) => address.rsplit_once(':').is_some_and(|(host, _)| host == "localhost"),
        };
        self.addresses.iter().all(one)
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.addresses.len()
    }
}

/// A listener for each rank at a free port of the loopback interface, and their table.
pub(crate) fn on_loopback(ranks: usize) -> Result<(RankTable, Vec<TcpListener>), TransportError> {
    let (mut addresses, mut listeners) = (Vec::new(), Vec::new());
    for _ in 0..ranks {
        let any = "127.0.0.1:0";
        let listening = TcpListener::bind(any).and_then(|listener| Ok((listener.local_addr()?.to_string(), listener)));
        let (address, listener) =
            listening.map_err(|source| TransportError::Listen { address: any.to_owned(), source })?;
        addresses.push(address);
        listeners.push(listener);
    }
    Ok((RankTable { addresses }, listeners))
}

#[cfg(test)]
mod tests {
    use super::{RankTable, RankTableError};

    #[test]
    fn who_can_reach_the_ranks() {
        let is_loopback = |text: &str| RankTable::parse(text, 2).expect("a table").is_loopback();
        assert!(is_loopback("127.0.0.1:1\n127.8.8.8:1") && is_loopback("[::1]:1\nlocalhost:1"));
        assert!(!is_loopback("127.0.0.1:1\n0.0.0.0:1") && !is_loopback("127.0.0.1:1\nnode0:1"));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| RankTable::parse(text, 2).unwrap_err().to_string();
        assert_eq!(error("a:1\n\nb"), "line 3: `b` is not an address: write host:port, as in node3:7000");
        assert_eq!(error("a:0"), "line 1: `a:0` is not an address: write host:port, as in node3:7000");
        assert_eq!(error("a:1\n#\na:1"), "line 3: `a:1` is already the address of rank 0");
        assert_eq!(RankTable::parse("a:1", 2), Err(RankTableError::Count { found: 1, ranks: 2 }));
        assert_eq!(RankTable::parse("[::1]:80\na:65535", 2).map(|table| table.size()), Ok(2));
    }
}
