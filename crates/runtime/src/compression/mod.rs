//! Sums of compressed pieces.

pub mod compressed;
pub mod compressor;
