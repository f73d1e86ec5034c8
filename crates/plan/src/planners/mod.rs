//! The planners: a file or a folder each, or one for a family.

pub mod exchange;
pub mod flood;
pub mod matching;
pub mod mended;
pub mod negotiated;
pub mod published;
pub mod rooted;
#[cfg(any(feature = "smt", test))]
pub mod searchers;
#[cfg(feature = "smt")]
pub mod smt;
pub mod template;
pub mod trees;
