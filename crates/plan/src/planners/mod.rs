//! The planners: a file or a folder each, or one for a family.

pub mod exchange;
pub mod flood;
pub mod matching;
pub mod mended;
pub mod paths;
pub mod published;
pub mod rooted;
pub mod searchers;
pub mod smt;
pub mod template;
pub mod trees;
