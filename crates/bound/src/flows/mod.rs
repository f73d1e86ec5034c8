//! Bounds by weights of links, searched by linear programs over flows or by raising the prices of crowded links.

mod crowding;
pub mod flow;
pub mod repeated;
pub mod rounding;
pub mod shortest;
pub mod stars;
pub mod weighted;
