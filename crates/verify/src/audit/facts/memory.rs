//! An estimate of the memory an audit takes beyond what its program takes: small files can name many slots.

/// What is left of the memory that was allowed.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct Memory {
    most: u64,
    left: u64,
    exceeded: bool,
}

impl Memory {
    pub(in crate::audit) fn new(most: u64) -> Self {
        Self { most, left: most, exceeded: false }
    }

    /// Takes these bytes for the rest of the audit. False if they are not left: then the audit ends.
    pub(in crate::audit) fn take(&mut self, bytes: u64) -> bool {
        let fits = self.fits(bytes);
        self.left = self.left.saturating_sub(bytes);
        fits
    }

    /// As [`Memory::take`], for bytes that are given back before any others are taken.
    pub(in crate::audit) fn fits(&mut self, bytes: u64) -> bool {
        self.exceeded |= bytes > self.left;
        !self.exceeded
    }

    /// More is needed than is left.
    pub(in crate::audit) fn exceed(&mut self) {
        self.exceeded = true;
    }

    /// The bytes left.
    pub(in crate::audit) fn left(&self) -> u64 {
        self.left
    }

    /// The bytes that were allowed, if they were not enough.
    pub(in crate::audit) fn exceeded(&self) -> Option<u64> {
        self.exceeded.then_some(self.most)
    }
}
