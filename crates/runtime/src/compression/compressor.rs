//! Compressors: elements to fewer bytes, and back.

use crate::playing::element::{Element, ReduceOp};

/// Turns elements into fewer bytes, and bytes back into elements.
///
/// All ranks use the same kind with the same settings. The number of bytes depends only on the number of elements,
/// never on their values, because ranks that pass them on must know it.
pub trait Compressor<E: Element> {
    /// How many elements are compressed together; a buffer is cut only between such groups. At least 1; 1024 unless
    /// overridden.
    fn group(&self) -> usize {
        GROUP
    }

    /// The compressed size in bytes of `elements` elements, which are whole groups or the end of a buffer. All whole
    /// groups have the same size, and are stored one after the other.
    fn bytes(&self, elements: usize) -> usize;

    /// Compresses elements `first ..` of a buffer into exactly [`Compressor::bytes`] bytes.
    fn compress(&mut self, first: usize, elements: &[E], bytes: &mut [u8]);

    /// Replaces the elements by the decompressed ones; unless overridden, [adds](Compressor::add) them to zeros.
    fn decompress(&self, bytes: &[u8], elements: &mut [E]) {
        elements.fill(E::zeroed());
        self.add(bytes, elements);
    }

    /// Adds the decompressed elements.
    fn add(&self, bytes: &[u8], elements: &mut [E]);
}

/// Does not compress; combines by any operation.
#[derive(Clone, Copy, Debug)]
pub struct Uncompressed(pub ReduceOp);

/// Eight bits for each number and a scale for each group of 1024, with error feedback: the rounding error is added to
/// the same element of the next call's buffer, so that over many calls nothing is lost (Seide et al., Interspeech 2014;
/// Karimireddy et al., ICML 2019).
///
/// A group in which a number is not finite, or too large once its error is added, arrives as NaN, all of it, so that
/// whoever looks for overflow finds it. Its errors stay as they were: the next call is right again.
#[derive(Clone, Debug, Default)]
pub struct Quantized {
    residual: Residual,
}

/// The few numbers of largest magnitude in each group of 1024, exact, with error feedback: the others are added to the
/// same elements of the next call's buffer (Stich, Cordonnier, Jaggi, NeurIPS 2018, section 2). Of equal ones, the
/// first.
///
/// A number sent takes 6 bytes: 2 for its place, 4 for itself. The residual takes as much memory as a buffer.
///
/// Of a group in which numbers are not finite, these alone are sent, the first ones if they are too many, and its
/// residual stays as it was: the next call is right again.
#[derive(Clone, Debug)]
pub struct TopK {
    kept: usize,
    residual: Residual,
    /// The places of a group, by magnitude.
    order: Vec<u16>,
}

/// What was left out so far, for each element.
#[derive(Clone, Debug, Default)]
struct Residual(Vec<f32>);

const GROUP: usize = 1024;
const SCALE_BYTES: usize = size_of::<f32>();
const PLACE_BYTES: usize = size_of::<u16>();
const KEPT_BYTES: usize = PLACE_BYTES + size_of::<f32>();

impl TopK {
    /// Keeps `kept` numbers of each group of 1024, at least 1.
    pub fn new(kept: usize) -> Self {
        Self { kept: kept.clamp(1, GROUP), residual: Residual::default(), order: Vec::new() }
    }

    fn kept(&self, elements: usize) -> usize {
        self.kept.min(elements)
    }
}

impl Residual {
    /// The residuals of these elements of a buffer, a group each time.
    fn groups(&mut self, first: usize, elements: &[f32]) -> impl Iterator<Item = &mut [f32]> {
        if self.0.len() < first + elements.len() {
            self.0.resize(first + elements.len(), 0.0);
        }
        self.0[first..][..elements.len()].chunks_mut(GROUP)
    }
}

/// Adds elements to their residuals, to what is to be sent now. False if some sum is not finite; nothing is added then.
fn add_up(residual: &mut [f32], elements: &[f32]) -> bool {
    let sums = residual.iter().zip(elements).map(|(residual, element)| residual + element);
    let is_finite = sums.fold(true, |all, sum| all & sum.is_finite());
    if is_finite {
        residual.iter_mut().zip(elements).for_each(|(residual, element)| *residual += element);
    }
    is_finite
}

impl<E: Element> Compressor<E> for Uncompressed {
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

impl Compressor<f32> for Quantized {
    fn bytes(&self, elements: usize) -> usize {
        elements + elements.div_ceil(GROUP) * SCALE_BYTES
    }

    fn compress(&mut self, first: usize, elements: &[f32], bytes: &mut [u8]) {
        let groups = self.residual.groups(first, elements).zip(elements.chunks(GROUP));
        for ((residual, elements), bytes) in groups.zip(bytes.chunks_mut(GROUP + SCALE_BYTES)) {
            let (head, codes) = bytes.split_at_mut(SCALE_BYTES);
            if !add_up(residual, elements) {
                head.copy_from_slice(&f32::NAN.to_ne_bytes());
                codes.fill(0);
                continue;
            }
            let largest = residual.iter().fold(0.0_f32, |largest, wanted| largest.max(wanted.abs()));
            // Of the largest number there is, 127 times the scale would be more.
            let scale = (largest / f32::from(i8::MAX)).min(f32::MAX.next_down() / f32::from(i8::MAX));
            head.copy_from_slice(&scale.to_ne_bytes());
            for (residual, code) in residual.iter_mut().zip(codes) {
                let rounded = if scale > 0.0 { (*residual / scale).round() as i8 } else { 0 };
                *residual -= f32::from(rounded) * scale;
                *code = rounded as u8;
            }
        }
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

fn write_kept(bytes: &mut [u8], place: u16, value: f32) {
    bytes[..PLACE_BYTES].copy_from_slice(&place.to_ne_bytes());
    bytes[PLACE_BYTES..].copy_from_slice(&value.to_ne_bytes());
}

impl Compressor<f32> for TopK {
    fn bytes(&self, elements: usize) -> usize {
        (elements / GROUP * self.kept(GROUP) + self.kept(elements % GROUP)) * KEPT_BYTES
    }

    fn compress(&mut self, first: usize, elements: &[f32], bytes: &mut [u8]) {
        let (most, order) = (self.kept, &mut self.order);
        let groups = self.residual.groups(first, elements).zip(elements.chunks(GROUP));
        for ((wanted, elements), bytes) in groups.zip(bytes.chunks_mut(most * KEPT_BYTES)) {
            let kept = most.min(wanted.len());
            order.clear();
            order.extend(0..wanted.len() as u16);
            if !add_up(wanted, elements) {
                let sum = |place: u16| wanted[usize::from(place)] + elements[usize::from(place)];
                order.sort_by_key(|&place| sum(place).is_finite());
                for (&place, bytes) in order.iter().zip(bytes.chunks_exact_mut(KEPT_BYTES)) {
                    let sent = Some(sum(place)).filter(|sum| !sum.is_finite()).unwrap_or(0.0);
                    write_kept(bytes, place, sent);
                }
                continue;
            }
            if kept < wanted.len() {
                let size = |place: &u16| wanted[usize::from(*place)].abs();
                order.select_nth_unstable_by(kept, |one, other| {
                    size(other).total_cmp(&size(one)).then_with(|| one.cmp(other))
                });
            }
            order.truncate(kept);
            order.sort_unstable();
            for (&place, bytes) in order.iter().zip(bytes.chunks_exact_mut(KEPT_BYTES)) {
                let value = std::mem::take(&mut wanted[usize::from(place)]);
                write_kept(bytes, place, value);
            }
        }
    }

    fn add(&self, bytes: &[u8], elements: &mut [f32]) {
        for (bytes, elements) in bytes.chunks(self.kept * KEPT_BYTES).zip(elements.chunks_mut(GROUP)) {
            for bytes in bytes.chunks_exact(KEPT_BYTES) {
                let (place, value) = bytes.split_at(PLACE_BYTES);
                let place = usize::from(bytemuck::pod_read_unaligned::<u16>(place));
                // A place beyond the group can only come from a peer with other settings.
                if let Some(element) = elements.get_mut(place) {
                    *element += bytemuck::pod_read_unaligned::<f32>(value);
                }
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
        let mut compressor = Quantized::default();
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
        let mut compressor = Quantized::default();
        let mut bytes = vec![1; 14];
        compressor.compress(0, &[0.0; 10], &mut bytes);
        let mut elements = [1.0; 10];
        compressor.decompress(&bytes, &mut elements);
        assert_eq!(elements, [0.0; 10]);
    }

    #[test]
    fn what_is_left_out_comes_back() {
        // Over many rounds of constant numbers, each is sent in full.
        let numbers: Vec<f32> = (0..1500).map(|at| ((at * 37 % 100) as f32 - 50.0) / 10.0).collect();
        let mut compressor = TopK::new(100);
        let mut bytes = vec![0; Compressor::<f32>::bytes(&compressor, numbers.len())];
        assert_eq!(bytes.len(), 200 * 6);
        let mut total = vec![0.0; numbers.len()];
        for _ in 0..200 {
            compressor.compress(0, &numbers, &mut bytes);
            compressor.add(&bytes, &mut total);
        }
        for ((total, number), left) in total.iter().zip(&numbers).zip(&compressor.residual.0) {
            assert!((total + left - 200.0 * number).abs() < 0.1, "{total} and {left} for {number}");
            assert!(left.abs() <= 60.0, "{left} is left of {number}");
        }
    }

    #[test]
    fn the_largest_are_kept_as_they_are() {
        let mut compressor = TopK::new(2);
        let mut bytes = vec![0; Compressor::<f32>::bytes(&compressor, 5)];
        compressor.compress(0, &[1.0, -3.0, 0.5, 2.0, -2.0], &mut bytes);
        let mut elements = [9.0; 5];
        compressor.decompress(&bytes, &mut elements);
        assert_eq!(elements, [0.0, -3.0, 0.0, 2.0, 0.0]);
        // What was left out is now the largest.
        compressor.compress(0, &[0.0; 5], &mut bytes);
        compressor.decompress(&bytes, &mut elements);
        assert_eq!(elements, [1.0, 0.0, 0.0, 0.0, -2.0]);
    }

    /// What arrives of these numbers.
    fn arrived(compressor: &mut impl Compressor<f32>, numbers: &[f32]) -> Vec<f32> {
        let mut bytes = vec![0; compressor.bytes(numbers.len())];
        compressor.compress(0, numbers, &mut bytes);
        let mut elements = vec![9.0; numbers.len()];
        compressor.decompress(&bytes, &mut elements);
        elements
    }

    /// Training that finds one scales its loss down, and goes on.
    #[test]
    fn what_is_not_finite_arrives_and_leaves_no_trace() {
        let numbers: Vec<f32> = (0..1500).map(|at| ((at * 37 % 100) as f32 - 50.0) / 10.0).collect();
        for bad in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            for places in [vec![3], vec![1400, 1401], (0..700).collect()] {
                let group = if places[0] < GROUP { 0..GROUP } else { GROUP..1500 };
                let mut spoiled = numbers.clone();
                places.iter().for_each(|&place| spoiled[place] = bad);
                let not_finite = |found: &[f32]| (0..1500).filter(|&at| !found[at].is_finite()).collect::<Vec<usize>>();

                let mut compressor = Quantized::default();
                arrived(&mut compressor, &numbers);
                let before = compressor.residual.0.clone();
                assert_eq!(not_finite(&arrived(&mut compressor, &spoiled)), group.clone().collect::<Vec<_>>(), "{bad}");
                assert_eq!(compressor.residual.0[group.clone()], before[group.clone()], "{bad}");
                let after = arrived(&mut compressor, &numbers);
                let off = |(one, other): (&f32, &f32)| (one - other).abs();
                assert!(after.iter().zip(&numbers).map(off).all(|off| off < 0.1), "{bad}: {after:?}");

                let mut compressor = TopK::new(100);
                arrived(&mut compressor, &numbers);
                let before = compressor.residual.0.clone();
                let found = arrived(&mut compressor, &spoiled);
                assert_eq!(not_finite(&found), places[..places.len().min(100)], "{bad}");
                assert!(found[group.clone()].iter().all(|number| *number == 0.0 || !number.is_finite()), "{bad}");
                assert_eq!(compressor.residual.0[group.clone()], before[group], "{bad}");
                assert_eq!(not_finite(&arrived(&mut compressor, &numbers)), [0; 0], "{bad}");
            }
        }
    }

    #[test]
    fn the_largest_numbers_stay_finite() {
        let mut compressor = Quantized::default();
        let found = arrived(&mut compressor, &[f32::MAX, -f32::MAX, 1.0]);
        assert!((found[0] / f32::MAX - 1.0).abs() < 1e-6 && found[1] == -found[0], "{found:?}");
        assert!(compressor.residual.0.iter().all(|left| left.is_finite()), "{found:?}");
    }
}
