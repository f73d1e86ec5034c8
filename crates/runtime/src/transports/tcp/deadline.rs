//! Limits of time that hold for several waits together.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// When to give up; `None`: later than clocks count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

/// A stream that is written to until a deadline, however many writes that takes.
pub(super) struct Writing<'a> {
    pub(super) stream: &'a TcpStream,
    pub(super) deadline: Deadline,
}

impl Deadline {
    pub(super) const NONE: Self = Self(None);

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

    /// What is left as a limit of a stream, which cannot be 0.
    fn limit(self) -> io::Result<Option<Duration>> {
        match self.is_over() {
            true => Err(io::Error::new(ErrorKind::TimedOut, "it did not finish in time")),
            false => Ok(self.0.map(|_| self.left().max(Duration::from_micros(1)))),
        }
    }

    /// Fills the buffer from the stream, however many reads that takes.
    pub(super) fn read(self, mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            stream.set_read_timeout(self.limit()?)?;
            match stream.read(&mut buffer[filled..]) {
                Ok(0) => {
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection"));
                }
                Ok(read) => filled += read,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.stream.set_write_timeout(self.deadline.limit()?)?;
            match self.stream.write(bytes) {
                Err(error) if is_passing(&error) => {}
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Is the deadline to be looked at, and nothing else wrong?
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
