//! What a rank does in a call: its role, compiled from a schedule or program, and played on elements.

pub mod element;
pub mod ends;
pub mod execute;
pub mod lanes;
pub mod role;
pub mod sixteen;
pub mod vector;
