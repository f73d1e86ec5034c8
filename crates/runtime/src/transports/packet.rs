//! Packets: bytes aligned for every element type, in recycled memory.

use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

/// The payload of a packet: elements of one type, one chunk after the other.
#[derive(Debug, Default)]
pub struct Packet {
    /// The memory, at least `bytes` long; words align it for every element.
    words: Vec<u64>,
    bytes: usize,
}

impl Packet {
    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The elements.
    ///
    /// # Panics
    ///
    /// If the bytes are not a whole number of elements, or elements are larger or more strictly aligned than 8 bytes.
    pub fn elements<E: Pod>(&self) -> &[E] {
        bytemuck::cast_slice(&bytemuck::cast_slice::<u64, u8>(&self.words)[..self.bytes])
    }

    /// The elements, mutable.
    ///
    /// # Panics
    ///
    /// As [`Packet::elements`].
    pub fn elements_mut<E: Pod>(&mut self) -> &mut [E] {
        bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[..self.bytes])
    }

    /// Keeps the first `bytes` bytes, if there are more.
    pub fn truncate(&mut self, bytes: usize) {
        self.bytes = self.bytes.min(bytes);
    }
}

/// Memory of discarded packets, for reuse. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    free: Arc<Mutex<Vec<Vec<u64>>>>,
}

impl Pool {
    /// A packet of `bytes` bytes with arbitrary contents.
    pub fn packet(&self, bytes: usize) -> Packet {
        let needed = bytes.div_ceil(size_of::<u64>());
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // The one used last is likeliest to still be in a cache.
        let words = free.iter().rposition(|words| words.len() >= needed).map(|at| free.remove(at));
        drop(free);
        Packet { words: words.unwrap_or_else(|| vec![0; needed]), bytes }
    }

    /// Takes a packet back, unless it is still shared.
    pub fn recycle(&self, packet: Arc<Packet>) {
        if let Some(packet) = Arc::into_inner(packet) {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(packet.words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reused_once_unshared() {
        let pool = Pool::default();
        let mut packet = pool.packet(13);
        packet.elements_mut::<u8>().fill(7);
        assert_eq!((packet.len(), packet.elements::<u8>()), (13, &[7; 13][..]));
        let shared = Arc::new(packet);
        let other = Arc::clone(&shared);
        pool.recycle(shared);
        assert_eq!(pool.free.lock().unwrap().len(), 0);
        pool.recycle(other);
        assert_eq!(pool.free.lock().unwrap().len(), 1);
        let packet = pool.packet(8);
        assert_eq!((packet.elements::<f64>().len(), packet.words.len()), (1, 2));
    }
}
