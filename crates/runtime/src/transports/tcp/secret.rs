//! The secret by which ranks recognize each other.

use std::fmt;
use std::io;

use thiserror::Error;

/// How many bytes a random secret has.
const RANDOM_BYTES: usize = 32;

/// Bytes that all ranks of a run know and nobody else does.
///
/// Ranks prove to each other that they have it without sending it. Who records such a proof can try guesses on it, so
/// a secret should be drawn, not thought up: 16 random bytes or more. It does not appear in the output of `{:?}`.
#[derive(Clone)]
pub struct Secret(Box<[u8]>);

/// A secret without bytes, which everybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the secret is empty")]
pub struct EmptySecret;

impl Secret {
    /// The secret with these bytes.
    ///
    /// # Errors
    ///
    /// [`EmptySecret`] if there are none.
    pub fn new(bytes: &[u8]) -> Result<Self, EmptySecret> {
        if bytes.is_empty() { Err(EmptySecret) } else { Ok(Self(bytes.into())) }
    }

    /// 32 bytes from the random numbers of the system, for ranks that one process starts.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.into()))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{EmptySecret, Secret};
    use crate::transports::tcp::TcpOptions;

    #[test]
    fn it_is_not_shown() {
        let options = TcpOptions::new(Duration::from_secs(1)).with_secret(Secret::new(b"tiger").expect("bytes"));
        let shown = format!("{options:?} {options:#?}");
        assert!(!shown.contains("tiger") && !shown.contains("116") && shown.contains("Secret(..)"), "{shown}");
    }

    #[test]
    fn an_empty_one_is_refused() {
        assert_eq!(Secret::new(b"").err(), Some(EmptySecret));
        let drawn = || Secret::random().expect("random numbers");
        assert_ne!(drawn().bytes(), drawn().bytes());
    }
}
