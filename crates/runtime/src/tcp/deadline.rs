//! Limits of time that hold for several waits together.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// When to give up; `None`: later than clocks count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    /// This one, or after the given time if that is sooner.
    pub(super) fn at_most(self, timeout: Duration) -> Self {
        let soon = Self::after(timeout);
        Self(self.0.into_iter().chain(soon.0).min())
    }

    pub(super) fn left(self) -> Duration {
        self.0.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()))
    }

    pub(super) fn is_over(self) -> bool {
        self.left().is_zero()
    }

    /// Fills the buffer from the stream, however many reads that takes.
    pub(super) fn read(self, mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.is_over() {
                return Err(io::Error::new(ErrorKind::TimedOut, "it did not finish its greeting in time"));
            }
            stream.set_read_timeout(Some(self.left().max(Duration::from_micros(1))))?;
            match stream.read(&mut buffer[filled..]) {
                Ok(0) => {
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection in its greeting"));
                }
                Ok(read) => filled += read,
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }
}
