//! Many failures: surveyed, and planned for beforehand.

mod fallbacks;
mod survey;
