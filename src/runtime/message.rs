//! Messages: bytes that are aligned for every type of element, and used again.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

/// The payload of a message: elements of one type, one chunk after the other.
#[derive(Debug, Default)]
pub struct Message {
    /// The memory, at least `bytes` long; words align it for every element.
    words: Vec<u64>,
    bytes: usize,
}

impl Message {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The elements.
    ///
    /// # Panics
    ///
    /// If the bytes are no whole number of elements, or elements are larger or more strictly aligned than 8 bytes.
    pub fn elements<E: Pod>(&self) -> &[E] {
        bytemuck::cast_slice(&bytemuck::cast_slice::<u64, u8>(&self.words)[..self.bytes])
    }

    /// The elements, to be changed.
    ///
    /// # Panics
    ///
    /// As [`Message::elements`].
    pub fn elements_mut<E: Pod>(&mut self) -> &mut [E] {
        bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[..self.bytes])
    }

    /// Keeps the first `bytes` bytes, if there are more.
    pub fn truncate(&mut self, bytes: usize) {
        self.bytes = self.bytes.min(bytes);
    }
}

/// Memory of messages that were used up, to be used again. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    free: Arc<Mutex<Vec<Vec<u64>>>>,
}

impl Pool {
    /// A message of so many bytes, whatever they are.
    pub fn message(&self, bytes: usize) -> Message {
        let mut words = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let needed = bytes.div_ceil(size_of::<u64>());
        if words.len() < needed {
            words.resize(needed, 0);
        }
        Message { words, bytes }
    }

    /// Takes a message back, unless somebody else still uses it.
    pub fn recycle(&self, message: Arc<Message>) {
        if let Some(message) = Arc::into_inner(message) {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(message.words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_once_nobody_else_reads_it() {
        let pool = Pool::default();
        let mut message = pool.message(13);
        message.elements_mut::<u8>().fill(7);
        assert_eq!((message.len(), message.elements::<u8>()), (13, &[7; 13][..]));
        let shared = Arc::new(message);
        let other = Arc::clone(&shared);
        pool.recycle(shared);
        assert_eq!(pool.free.lock().unwrap().len(), 0);
        pool.recycle(other);
        assert_eq!(pool.free.lock().unwrap().len(), 1);
        let message = pool.message(8);
        assert_eq!((message.elements::<f64>().len(), message.words.len()), (1, 2));
    }
}
