//! All-reduce of values that are compressed and therefore cannot be added on the way: every rank gathers what all have,
//! and adds it up itself.
//!
//! The buffer is worked through in pieces. Of a piece, a rank compresses its own elements, gathers the compressed pieces
//! of all ranks by the schedule, and takes them into the buffer one after the other, in the order of the ranks: no rank
//! ever holds a dense buffer of another, and all end with the same bits. The memory is `2N + 1` compressed pieces (its
//! own, those gathered, and at most as many on their way); pieces are as long as the transport's packets, or shorter to
//! stay within a limit.

use super::communicator::Communicator;
use super::element::{Element, Operation};
use super::error::RunError;
use super::transport::Transport;

/// Turns elements into fewer bytes, and bytes back into elements.
///
/// All ranks use the same kind with the same settings. A number of elements always becomes the same number of bytes,
/// whatever the elements are: ranks that pass them on must know it.
pub trait Compressor<E> {
    /// How many elements are compressed together; a buffer is cut only between such groups. At least 1.
    fn group(&self) -> usize;

    /// The bytes that so many elements become, which are a whole number of groups or the end of a buffer.
    fn bytes(&self, elements: usize) -> usize;

    /// Compresses elements of a buffer, the first of which stands at `first`, into exactly [`Compressor::bytes`] bytes.
    fn compress(&mut self, first: usize, elements: &[E], bytes: &mut [u8]);

    /// Puts what the bytes stand for in the place of the elements.
    fn decompress(&self, bytes: &[u8], elements: &mut [E]);

    /// Adds what the bytes stand for to the elements.
    fn add(&self, bytes: &[u8], elements: &mut [E]);
}

/// Does not compress; combines by any operation.
#[derive(Clone, Copy, Debug)]
pub struct Uncompressed(pub Operation);

/// Eight bits for each number and a scale for each group, with error feedback: what rounding takes away is added to the
/// same element of the next call's buffer, so that over many calls nothing is lost (Seide et al., Interspeech 2014;
/// Karimireddy et al., ICML 2019).
#[derive(Clone, Debug, Default)]
pub struct Quantised {
    /// What was rounded away, for each element.
    residual: Vec<f32>,
}

/// Elements that share a scale.
const GROUP: usize = 1024;
const SCALE_BYTES: usize = size_of::<f32>();

impl<T: Transport> Communicator<T> {
    /// The buffers of all ranks, compressed, gathered and combined, take the place of each. `memory_limit` bounds the
    /// bytes of compressed data that this rank holds at a time.
    ///
    /// # Errors
    ///
    /// As every call; and [`RunError::Memory`] if a single group does not fit in the limit.
    pub fn all_reduce_gathered<E: Element>(
        &mut self,
        buffer: &mut [E],
        compressor: &mut impl Compressor<E>,
        memory_limit: Option<u64>,
    ) -> Result<(), RunError> {
        self.check_kind("all_reduce_gathered")?;
        let (ranks, group, most) = (self.problem().topology().rank_count(), compressor.group(), self.packet_bytes());
        let memory = |bytes: usize| bytes as u64 * (2 * ranks as u64 + 1);
        let mut length = buffer.len().next_multiple_of(group);
        if let Some(limit) = memory_limit {
            let least = memory(compressor.bytes(group.min(buffer.len())));
            if least > limit {
                return Err(RunError::Memory { ranks, needed: least, limit });
            }
        }
        let too_much = |bytes: usize| bytes > most || memory_limit.is_some_and(|limit| memory(bytes) > limit);
        while length > group && too_much(compressor.bytes(length)) {
            length = (length / 2).next_multiple_of(group);
        }
        let (mut own, mut all) = (Vec::new(), Vec::new());
        for (number, piece) in buffer.chunks_mut(length.max(1)).enumerate() {
            let bytes = compressor.bytes(piece.len());
            own.resize(bytes, 0_u8);
            all.resize(bytes * ranks, 0_u8);
            compressor.compress(number * length, piece, &mut own);
            self.run_blocks(&own, &mut all, bytes, Operation::Sum)?;
            for (order, rank) in self.problem().topology().live_ranks().enumerate() {
                let compressed = &all[rank.index() * bytes..][..bytes];
                match order {
                    0 => compressor.decompress(compressed, piece),
                    _ => compressor.add(compressed, piece),
                }
            }
        }
        Ok(())
    }
}

impl<E: Element> Compressor<E> for Uncompressed {
    fn group(&self) -> usize {
        GROUP
    }

    fn bytes(&self, elements: usize) -> usize {
        elements * size_of::<E>()
    }

    fn compress(&mut self, _: usize, elements: &[E], bytes: &mut [u8]) {
        bytes.copy_from_slice(bytemuck::cast_slice(elements));
    }

    fn decompress(&self, bytes: &[u8], elements: &mut [E]) {
        bytemuck::cast_slice_mut(elements).copy_from_slice(bytes);
    }

    fn add(&self, bytes: &[u8], elements: &mut [E]) {
        for (bytes, element) in bytes.chunks_exact(size_of::<E>()).zip(elements) {
            let mut sum = [bytemuck::pod_read_unaligned::<E>(bytes)];
            E::combine(self.0, &[*element], &mut sum);
            *element = sum[0];
        }
    }
}

impl Compressor<f32> for Quantised {
    fn group(&self) -> usize {
        GROUP
    }

    fn bytes(&self, elements: usize) -> usize {
        elements + elements.div_ceil(GROUP) * SCALE_BYTES
    }

    fn compress(&mut self, first: usize, elements: &[f32], bytes: &mut [u8]) {
        if self.residual.len() < first + elements.len() {
            self.residual.resize(first + elements.len(), 0.0);
        }
        let residual = self.residual[first..][..elements.len()].chunks_mut(GROUP);
        let groups = elements.chunks(GROUP).zip(bytes.chunks_mut(GROUP + SCALE_BYTES)).zip(residual);
        for ((elements, bytes), residual) in groups {
            for (residual, element) in residual.iter_mut().zip(elements) {
                *residual += element;
            }
            let largest = residual.iter().fold(0.0_f32, |largest, wanted| largest.max(wanted.abs()));
            let scale = largest / f32::from(i8::MAX);
            let (head, codes) = bytes.split_at_mut(SCALE_BYTES);
            head.copy_from_slice(&scale.to_le_bytes());
            for (residual, code) in residual.iter_mut().zip(codes) {
                let rounded = if scale > 0.0 { (*residual / scale).round() as i8 } else { 0 };
                *residual -= f32::from(rounded) * scale;
                *code = rounded as u8;
            }
        }
    }

    fn decompress(&self, bytes: &[u8], elements: &mut [f32]) {
        elements.fill(0.0);
        self.add(bytes, elements);
    }

    fn add(&self, bytes: &[u8], elements: &mut [f32]) {
        for (bytes, elements) in bytes.chunks(GROUP + SCALE_BYTES).zip(elements.chunks_mut(GROUP)) {
            let (head, codes) = bytes.split_at(SCALE_BYTES);
            let scale: f32 = bytemuck::pod_read_unaligned::<f32>(head);
            for (code, element) in codes.iter().zip(elements) {
                *element += f32::from(*code as i8) * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_takes_away_comes_back() {
        let numbers: Vec<f32> = (0..2500).map(|at| ((at * 37 % 1000) as f32 - 500.0) / 300.0).collect();
        let mut compressor = Quantised::default();
        let mut bytes = vec![0; Compressor::<f32>::bytes(&compressor, numbers.len())];
        assert_eq!(bytes.len(), 2512);
        let mut total = vec![0.0; numbers.len()];
        for round in 1..=50 {
            compressor.compress(0, &numbers, &mut bytes);
            compressor.add(&bytes, &mut total);
            // One step of the scale, however many rounds.
            let off = |(total, number): (&f32, &f32)| (total - number * round as f32).abs();
            let worst = total.iter().zip(&numbers).map(off).fold(0.0, f32::max);
            assert!(worst < 0.015, "round {round}: {worst}");
        }
    }

    #[test]
    fn zeros_stay_zeros() {
        let mut compressor = Quantised::default();
        let mut bytes = vec![1; 14];
        compressor.compress(0, &[0.0; 10], &mut bytes);
        let mut elements = [1.0; 10];
        compressor.decompress(&bytes, &mut elements);
        assert_eq!(elements, [0.0; 10]);
    }
}
