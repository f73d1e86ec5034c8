//! The numbers of ranks, links and chunks.

/// The largest number of ranks a topology may have.
pub const MAX_RANKS: u64 = 1 << 20;

/// Declares a type of numbers.
macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into an array with one entry each.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

pub(crate) use id;

id! {
    /// The number of a rank, `0..N`.
    RankId
}
id! {
    /// The number of a directed link, `0..links().len()`, ascending in (from, to, direction).
    LinkId
}
