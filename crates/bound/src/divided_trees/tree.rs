//! Trees, and the directions in which data crosses them.

/// In place of a cable or a rank: none, at the root and outside the tree.
pub const NONE: u32 = u32::MAX;

/// The direction of a hop along its tree: towards the root, where contributions are added.
pub const UP: usize = 0;
/// Away from the root, where the sum is copied.
pub const DOWN: usize = 1;

/// The directions in which data crosses trees.
pub type Ways = &'static [usize];
/// Up to the root, then down again.
pub const BOTH: Ways = &[UP, DOWN];

/// A tree: the cable towards the root and the rank there, for each of its ranks but the root.
#[derive(Clone)]
pub struct Tree {
    /// The root.
    pub root: u32,
    /// The cable of each rank towards the root.
    pub cable: Vec<u32>,
    /// The rank at its other end.
    pub parent: Vec<u32>,
}

impl Tree {
    /// A root alone, among this many ranks.
    pub fn alone(root: u32, ranks: usize) -> Self {
        Self { root, cable: vec![NONE; ranks], parent: vec![NONE; ranks] }
    }
}
