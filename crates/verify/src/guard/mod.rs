//! What keeps a hostile file from harm: from filling the memory, and from steering the terminal.

pub mod limits;
pub mod shown;
