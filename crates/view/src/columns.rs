//! Columns of small integers, packed for a page: variable-length numbers, gzip, base64.
//!
//! ```text
//! columns = column*            column = length value*      each number: 7 bits a byte, the lowest first;
//!                                                          the top bit says that more follow
//! ```
//!
//! The browser unpacks them (`page/js/data/columns.js`).

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Columns in the order in which they are read.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    bytes: Vec<u8>,
}

impl Columns {
    /// Adds a column of numbers.
    pub fn add(&mut self, values: impl IntoIterator<Item = u64>) {
        let (mut count, mut column) = (0, Vec::new());
        for value in values {
            count += 1;
            push(&mut column, value);
        }
        push(&mut self.bytes, count);
        self.bytes.append(&mut column);
    }

    /// Adds a column of signed numbers, the small ones in few bytes: 0, -1, 1, -2 as 0, 1, 2, 3.
    pub fn add_signed(&mut self, values: impl IntoIterator<Item = i64>) {
        self.add(values.into_iter().map(zigzag));
    }

    /// All columns as text: base64 of gzip.
    pub fn to_base64(&self) -> String {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        let packed = packer.write_all(&self.bytes).and_then(|()| packer.finish());
        STANDARD.encode(packed.expect("memory takes every byte"))
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn push(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Reads columns as the description above says.
    fn read(text: &str) -> Vec<Vec<u64>> {
        let packed = STANDARD.decode(text).expect("base64");
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut bytes).expect("gzip");
        let mut rest = bytes.into_iter();
        let mut number = || {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = rest.next()?;
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return Some(value);
                }
            }
        };
        let mut columns = Vec::new();
        while let Some(length) = number() {
            columns.push((0..length).map(|_| number().expect("a value")).collect());
        }
        columns
    }

    #[test]
    fn columns_are_read_back() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut columns = Columns::default();
        let expected: Vec<Vec<u64>> =
            (0..9).map(|bits| (0..99).map(|_| random.u64(..) >> (7 * bits)).collect()).collect();
        columns.add([]);
        for column in &expected {
            columns.add(column.iter().copied());
        }
        columns.add_signed([0, -1, 1, -2, i64::MAX, i64::MIN]);
        let found = read(&columns.to_base64());
        assert!(found[0].is_empty());
        assert_eq!(found[1..10], expected);
        assert_eq!(found[10], [0, 1, 2, 3, u64::MAX - 1, u64::MAX]);
    }
}
